"""A real `rook up` in a process of its own, for tests that go through the front door.

with HubProcess(tmp_path / "data") as hub:
    httpx.get(f"{hub.url}/v1/status", headers=hub.headers)
"""

import atexit
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import httpx

from rookery.wire.discovery import operator_token, running_hub

READY_WITHIN = 20.0
STOPPED_WITHIN = 15.0
_LOOK_EVERY = 0.02


class HubProcess:
    """Starts on a free port; `restart` keeps the port, so that clients find their hub again.

    `env` is added to an environment without any ROOKERY_* variable of the caller's. `args` go to `rook up`
    as they are. What the hub prints goes to `log`.
    """

    def __init__(
        self,
        data: Path,
        *,
        store: str = "sqlite",
        auth: str = "token",
        port: int = 0,
        env: Mapping[str, str] | None = None,
        args: Sequence[str] = (),
    ) -> None:
        self.data = data
        self.store = store
        self.auth = auth
        self.port = port
        self.env = dict(env or {})
        self.args = list(args)
        self.log = data.parent / f"{data.name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.url = ""

    # -- what tests ask for --------------------------------------------------------------------------

    @property
    def token(self) -> str | None:
        """The operator's; None while there is none on disk."""
        return operator_token(self.data)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.auth == "token" else {}

    @property
    def pid(self) -> int:
        assert self.process is not None, "the hub was not started"
        return self.process.pid

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def output(self) -> str:
        """All that the hub has printed so far, over all its starts."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def environment(self) -> dict[str, str]:
        """For programs that shall find this hub by themselves, and for the hub."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ROOKERY_")}
        return inherited | {"ROOKERY_DATA": str(self.data), "PYTHONUNBUFFERED": "1"} | self.env

    # -- its life ------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Returns once the hub answers; raises, with what it printed, if it does not within the deadline."""
        assert not self.running, "the hub runs already"
        self.data.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "rookery.cli", "up", "--port", str(self.port)]
        command += ["--data", str(self.data), "--store", self.store, "--auth", self.auth, *self.args]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment()
            )
        atexit.register(self._reap)
        try:
            self._wait_until_ready()
        except BaseException:
            self._reap()
            raise
        return self

    def stop(self, within: float = STOPPED_WITHIN) -> int:
        """Ask the hub to stop, as an operator would, and return its exit code. Stopping twice is fine."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(within)
            except subprocess.TimeoutExpired:
                self._reap()
                raise AssertionError(f"the hub did not stop within {within} s:\n{self.output()}") from None
        self._reap()
        return self.process.returncode

    def kill9(self) -> None:
        """Crash the hub: no goodbye, nothing flushed, `hub.json` left behind."""
        if self.process is not None:
            self.process.kill()
        self._reap()

    def restart(self, *, crash: bool = False) -> Self:
        if crash:
            self.kill9()
        else:
            self.stop()
        return self.start()

    def __enter__(self) -> Self:
        return self if self.running else self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- underneath ----------------------------------------------------------------------------------

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline:
            assert self.process is not None
            if self.process.poll() is not None:
                raise AssertionError(f"the hub ended with {self.process.returncode}:\n{self.output()}")
            hub = running_hub(self.data)
            if hub is not None and hub.pid == self.process.pid and _answers(hub.url):
                self.url = hub.url
                self.port = urlsplit(hub.url).port or self.port
                return
            time.sleep(_LOOK_EVERY)
        raise AssertionError(f"the hub was not ready within {READY_WITHIN} s:\n{self.output()}")

    def _reap(self) -> None:
        atexit.unregister(self._reap)
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()


def _answers(url: str) -> bool:
    try:
        answer = httpx.get(f"{url}/healthz", timeout=2.0, trust_env=False)
        # On a full disk the hub is up as well: it can be read, and cleaned up.
        return answer.status_code in (httpx.codes.OK, httpx.codes.INSUFFICIENT_STORAGE)
    except httpx.TransportError:
        return False
