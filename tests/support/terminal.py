"""A real terminal to look at: tmux on a private socket."""

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import pytest

DEADLINE = 15.0
_LOOK_EVERY = 0.05


def require_tmux() -> None:
    """Outside CI a visible skip; in CI it is installed, or the test fails."""
    if shutil.which("tmux"):
        return
    if os.environ.get("CI") != "true":
        pytest.skip("tmux is not installed; `apt-get install tmux` lets this test run")
    subprocess.run(["apt-get", "install", "-y", "-qq", "tmux"], check=True, capture_output=True, timeout=110)


class Terminal:
    """One pane with a shell in it. `socket` is a path of its own, so that no other tmux is touched."""

    def __init__(self, socket: Path, *, env: Mapping[str, str], width: int = 100, height: int = 40) -> None:
        require_tmux()
        self._socket = socket
        self._env = dict(env) | {"PS1": "$ ", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        self._size = ["-x", str(width), "-y", str(height)]

    def __enter__(self) -> Self:
        shell = ["env", "-i", *(f"{name}={value}" for name, value in self._env.items()), "sh"]
        self._tmux("-f", os.devnull, "new-session", "-d", *self._size, shlex.join(shell))
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server")

    def type(self, line: str) -> None:
        self._tmux("send-keys", "-l", line)
        self._tmux("send-keys", "Enter")

    def start(self, line: str) -> None:
        """Run a command on a clean screen, with what `ended` waits for behind it."""
        self._tmux("send-keys", "-R")  # what the last command left is gone at once, not only when this one runs
        # Quoted in the middle, so that the line as it was typed does not look like the answer to it.
        self.type(f"clear; {line}; echo 'ended' with $?.")

    def ended(self, code: int) -> str:
        """The screen once the command that was started has ended with that exit code."""
        return self.wait_for(f"ended with {code}.")

    def press(self, key: str) -> None:
        """A key by its tmux name, such as `C-c`."""
        self._tmux("send-keys", key)

    def screen(self, *, colours: bool = False) -> str:
        return self._tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def wait_for(self, text: str, *, colours: bool = False) -> str:
        """The screen once it shows the text; fails with what it shows instead."""
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            screen = self.screen(colours=colours)
            if text in screen:
                return screen
            time.sleep(_LOOK_EVERY)
        raise AssertionError(f"{text!r} did not appear; the screen shows:\n{self.screen()}")

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self._socket), *words], capture_output=True, text=True, timeout=10, check=True
        )
        return done.stdout
