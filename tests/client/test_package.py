"""What importing costs, and the example that greets newcomers."""

import os
import subprocess
import sys

import rookery
from tests.support.hub_process import HubProcess

EXAMPLE = """
from rookery import Client
hub = Client()
one, two = hub.register(model_name="agent-1"), hub.register(model_name="agent-2")
one.send(two.id, "Hello from Agent 1!")
print(two.inbox())
"""


def ran(code: str, env: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=env,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_the_five_lines_of_the_readme_work(shared_hub: HubProcess) -> None:
    assert "Hello from Agent 1!" in ran(EXAMPLE, shared_hub.environment())


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, rookery; print(sorted(m for m in sys.modules if m.startswith(('rookery.', 'httpx'))))"
    assert ran(code, dict(os.environ)).strip() == "[]"


def test_what_the_package_does_not_have_it_does_not_pretend_to() -> None:
    assert not hasattr(rookery, "Server")
    assert issubclass(rookery.RookeryError, Exception)
