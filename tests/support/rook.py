"""The command `rook` as a user runs it."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOK = str(Path(sys.executable).with_name("rook"))
DEADLINE = 30.0


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Rook:
    """Runs in an environment that finds the hub by itself. A run that shows a traceback is a failed test."""

    env: Mapping[str, str]
    directory: Path

    def __call__(self, *words: str, text: str | bytes | None = None, **env: str) -> Done:
        """The run, which must succeed."""
        done = self.tried(*words, text=text, **env)
        assert done.code == 0, f"rook {' '.join(words)} ended with {done.code}:\n{done.out}{done.err}"
        return done

    def tried(self, *words: str, text: str | bytes | None = None, **env: str) -> Done:
        """The run, however it ends."""
        given = text.encode() if isinstance(text, str) else text
        run = subprocess.run(
            [ROOK, *words],
            env={**self.env, **env},
            cwd=self.directory,
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            timeout=DEADLINE,
            check=False,
        )
        done = Done(run.returncode, run.stdout.decode(), run.stderr.decode())
        assert "Traceback" not in done.err, done.err
        assert "\x1b" not in done.out + done.err, "colours in a pipe"
        return done

    def started(self, *words: str, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [ROOK, *words], env={**self.env, **env}, cwd=self.directory, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
