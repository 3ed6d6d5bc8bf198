"""The processes of a benchmark. None outlives it: each ends when its standard input does."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import msgspec
import psutil

from bench.calls import request
from rookery.wire.discovery import operator_token
from rookery.wire.routes import BY_NAME

_STOPPED_WITHIN = 30.0
_SETTLED_WITHIN = 60.0
_LOOK = 0.1
_IDLE = 15.0
"""Percent of one CPU: less than a chore takes, more than a clock that ticks."""


_running: "set[Child]" = set()

CONTENT = (
    "The migration is ready for review: it adds the index on (agent, state, seq), keeps the old column until "
    "the next release, and was tried on a copy of yesterday's data. Tests pass; tell me if I may merge."
)


class Broken(Exception):
    """A part of the benchmark failed, so that its figures mean nothing."""


class Child:
    """A module of this package, run in a session of its own so that Ctrl-C reaches only the benchmark."""

    def __init__(self, module: str, *args: str, log: Path) -> None:
        self._log = log
        self._module = module
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ROOKERY_")}
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=errors, env=environment, start_new_session=True,
            )  # fmt: skip
        _running.add(self)

    def line(self) -> bytes:
        """What it says next. Raises, with what it wrote to its log, when it says nothing more."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Broken(f"{self._module} ended early:\n{self._log.read_text(errors='replace')[-4000:]}")
        return line

    def tell(self, what: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(what + b"\n")
        self._process.stdin.flush()

    def rss(self) -> int:
        return psutil.Process(self._process.pid).memory_info().rss

    def settle(self) -> None:
        """Wait until it has nothing left to do: after a load, a hub indexes and checkpoints."""
        process = psutil.Process(self._process.pid)
        deadline = time.monotonic() + _SETTLED_WITHIN
        while process.cpu_percent(_LOOK) > _IDLE and time.monotonic() < deadline:
            pass

    def ended(self, within: float) -> bool:
        """Whether it has done its work. Raises when it failed."""
        try:
            code = self._process.wait(within)
        except subprocess.TimeoutExpired:
            return False
        self.kill()
        if code != 0:
            raise Broken(f"{self._module} failed:\n{self._log.read_text(errors='replace')[-4000:]}")
        return True

    def kill(self) -> None:
        _running.discard(self)
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()

    def stop(self) -> None:
        """Ask it to end, and see to it that it does."""
        with suppress(BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(_STOPPED_WITHIN)
        finally:
            self.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        if failure is None:
            self.stop()
        else:
            self.kill()


class Driver(Child):
    """The load generator; see `bench.driver` for its jobs."""

    def __init__(self, place: Path) -> None:
        super().__init__("bench.driver", log=place / "driver.log")

    def do(self, job: str, **what: object) -> dict[str, Any]:
        self.tell(msgspec.json.encode({"job": job, **what}))
        result = msgspec.json.decode(self.line())
        if "error" in result:
            raise Broken(f"{job}: {result['error']}")
        return result

    def load(
        self,
        port: int,
        voices: Sequence[Sequence[bytes]],
        *,
        connections: int,
        seconds: float,
        acknowledged: Path | None = None,
    ) -> dict[str, Any]:
        return self.do(
            "load", port=port, voices=_texts(voices), connections=connections, seconds=seconds,
            acknowledged=None if acknowledged is None else str(acknowledged),
        )  # fmt: skip

    def call(self, port: int, requests: Sequence[bytes]) -> list[Any]:
        answers = self.do("call", port=port, requests=[ask.decode() for ask in requests])["answers"]
        return [msgspec.json.decode(answer) for answer in answers]


class Bare(Child):
    """The stack without a hub in it; `bench.bare_mcp` has the MCP SDK on it."""

    def __init__(self, place: Path, module: str = "bench.bare") -> None:
        super().__init__(module, log=place / f"{module}.log")
        self.port = int(self.line())


class HubChild(Child):
    """A hub on its own data, without limits on how fast its callers may go."""

    def __init__(self, data: Path, **settings: object) -> None:
        self.data = data
        given = {
            "data": str(data), "port": 0, "rate_per_second": 10_000_000.0, "rate_burst": 10_000_000,
            "max_sockets": 100_000, "log_level": "warning", **settings,
        }  # fmt: skip
        log = data.with_name(f"{data.name}.log")
        super().__init__("bench.hub", msgspec.json.encode(given).decode(), log=log)
        self.port = int(self.line())

    @property
    def token(self) -> str:
        token = operator_token(self.data)
        assert token is not None
        return token

    def status(self, driver: Driver) -> dict[str, Any]:
        return driver.call(self.port, [request("GET", "/v1/status", self.port, self.token)])[0]

    def counters(self, driver: Driver) -> dict[str, float]:
        ask = request("GET", "/metrics", self.port, self.token).decode()
        text: str = driver.do("call", port=self.port, requests=[ask])["answers"][0]
        samples = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in samples}

    def register(self, driver: Driver, count: int) -> list[tuple[str, str]]:
        """New agents: the id and the token of each."""
        path = BY_NAME["register_agent"].path
        bodies = [msgspec.json.encode({"name": f"caller-{number}"}) for number in range(count)]
        asks = [request("POST", path, self.port, self.token, body) for body in bodies]
        answers = driver.call(self.port, asks)
        return [(answer["agent_id"], answer["token"]) for answer in answers]


def end_all() -> None:
    """Whatever went wrong: nothing is left running."""
    for child in list(_running):
        child.kill()


def sends(port: int, token: str, to: Sequence[str]) -> list[bytes]:
    """A send to each of them."""
    bodies = [msgspec.json.encode({"to_agent_id": each, "content": CONTENT}) for each in to]
    return [request("POST", BY_NAME["send_message"].path, port, token, body) for body in bodies]


def _texts(voices: Sequence[Sequence[bytes]]) -> list[list[str]]:
    return [[ask.decode() for ask in voice] for voice in voices]
