"""The examples on the page about the client are programs that run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rookery import Client
from rookery.client.operations import Operations
from tests.support.hub_process import HubProcess

PAGE = (Path(__file__).parents[2] / "docs" / "client.md").read_text(encoding="utf-8")
PROGRAMS = [code for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "import" in code]


@pytest.mark.parametrize("code", PROGRAMS, ids=["first", "async", "failing"])
def test_each_program_on_the_page_runs(code: str, shared_hub: HubProcess) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=shared_hub.environment(),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Hello from Agent 1!" in done.stdout or "agent_not_found" in done.stdout


def test_the_page_names_every_method() -> None:
    named = set(re.findall(r"`(\w+)\(", PAGE)) | set(re.findall(r"[`,] ?`?(\w+)\(", PAGE))
    operations = {name for name in vars(Operations) if not name.startswith("_")}
    assert operations | {"register", "listen", "export"} <= named
    assert all(hasattr(Client, name) for name in operations)
