"""Agents as real processes that speak MCP, for tests that go through the front door.

with AgentProcess(nursery, hub, "DataBot", habits=[answering("revenue", "Q4 revenue was $2.4M.")]) as bot:
    bot.call("contact_agent", action="ask", agent="OtherBot", message="...").text

A suite takes over the fixtures: `from tests.support.agents import nursery, stage  # noqa: F401`.
"""

import itertools
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psutil
import pytest

from rookery import Client
from tests.support.hub_process import HubProcess

Json = dict[str, Any]
WITHIN = 30.0


@dataclass(frozen=True)
class Told:
    """What a tool gave: its text, and news that came along."""

    text: str
    news: list[str]
    error: bool

    @property
    def json(self) -> Json:
        return json.loads(self.text)


class Nursery:
    """Where agents come from: a process that has the libraries loaded and forks."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "nursery"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.mcp_agent", str(self.path)], stdin=subprocess.PIPE
        )

    def connected(self) -> socket.socket:
        deadline = time.monotonic() + WITHIN
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(self.path))
            except (FileNotFoundError, ConnectionRefusedError):
                connection.close()
                assert self._process.poll() is None, "the nursery has ended"
                assert time.monotonic() < deadline, "the nursery did not open"
                time.sleep(0.02)
            else:
                return connection

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(WITHIN)


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with tempfile.TemporaryDirectory(prefix="rookery-") as directory:  # a socket's path has to be short
        nursery = Nursery(Path(directory))
        yield nursery
        nursery.stop()


class AgentProcess:
    """`said` goes to its registration: mode, manager, project. `begin` and `call` make it use a tool; what it
    hears by itself, and what it does by habit, is in `heard` and `did`."""

    def __init__(
        self,
        nursery: Nursery,
        hub: HubProcess,
        name: str,
        *,
        habits: Sequence[Json] = (),
        transport: str = "http",
        **said: Any,
    ) -> None:
        self.hub = hub
        self.name = name
        self.id = ""
        self.token = ""
        self.heard: list[Json] = []
        self.did: list[Json] = []
        self._nursery = nursery
        self._habits = list(habits)
        self._transport = transport
        self._said = said
        self._numbers = itertools.count(1)
        self._answers: dict[int, Future[Told]] = {}
        self._ready = threading.Event()
        self._changed = threading.Condition()
        self._pid = 0

    def start(self) -> Self:
        with Client(self.hub.url, token=self.hub.token) as operator:
            registered = operator.register(name=self.name, **self._said)
            self.id, self.token = registered.id or "", registered.token or ""
        self._connection = self._nursery.connected()
        url = {"ROOKERY_URL": self.hub.url, "ROOKERY_TOKEN": self.token}
        self._write(
            {
                "url": self.hub.url, "token": self.token, "habits": self._habits, "transport": self._transport,
                "env": self.hub.environment() | url,
            }
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, name=f"reader-of-{self.name}")
        self._reader.start()
        assert self._ready.wait(WITHIN), f"{self.name} did not start"
        return self

    def stop(self) -> None:
        """Returns when the process is gone."""
        with suppress(OSError):  # it may have ended already
            self._connection.shutdown(socket.SHUT_WR)
        self._reader.join(WITHIN)
        self._connection.close()

    def kill(self) -> None:
        psutil.Process(self._pid).kill()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def begin(self, tool: str, **arguments: Any) -> "Future[Told]":
        """Use a tool and go on."""
        number = next(self._numbers)
        future: Future[Told] = Future()
        self._answers[number] = future
        self._write({"number": number, "tool": tool, "arguments": arguments})
        return future

    def call(self, tool: str, within: float = WITHIN, **arguments: Any) -> Told:
        return self.begin(tool, **arguments).result(within)

    def contact(self, action: str, agent: str, message: str, **more: Any) -> Told:
        return self.call("contact_agent", action=action, agent=agent, message=message, **more)

    def hears(self, words: str, *, times: int = 1, within: float = WITHIN) -> list[Json]:
        """The messages that hold these words, once there are so many."""

        def found() -> list[Json]:
            return [message for message in self.heard if words in message["text"]]

        self._until(lambda: len(found()) >= times, within, lambda: f"{self.name} heard {self.heard}")
        return found()

    def has_done(self, tool: str, *, times: int = 1, within: float = WITHIN) -> list[Json]:
        def found() -> list[Json]:
            return [deed for deed in self.did if deed["did"] == tool]

        self._until(lambda: len(found()) >= times, within, lambda: f"{self.name} did {self.did}")
        return found()

    def _until(self, holds: Callable[[], bool], within: float, told: Callable[[], str]) -> None:
        deadline = time.monotonic() + within
        with self._changed:
            while not holds():
                left = deadline - time.monotonic()
                assert left > 0, told()
                self._changed.wait(left)

    def _write(self, line: Json) -> None:
        self._connection.sendall(json.dumps(line).encode() + b"\n")

    def _read(self) -> None:
        for text in self._connection.makefile("r", encoding="utf-8"):
            line = json.loads(text)
            if "ready" in line:
                self._pid = line["pid"]
                self._ready.set()
            elif "answer_to" in line:
                self._answers[line["answer_to"]].set_result(Told(line["text"], line["news"], line["error"]))
            else:
                with self._changed:
                    (self.heard if "heard" in line else self.did).append(line.get("heard", line))
                    self._changed.notify_all()


class Stage:
    """Where agents come on, each until the end of the test."""

    def __init__(self, nursery: Nursery, hub: HubProcess, agents: ExitStack) -> None:
        self._nursery = nursery
        self._hub = hub
        self._agents = agents

    def __call__(self, name: str, *habits: Json, transport: str = "http", **said: Any) -> AgentProcess:
        agent = AgentProcess(self._nursery, self._hub, name, habits=habits, transport=transport, **said)
        return self._agents.enter_context(agent)

    def of(self, hub: HubProcess) -> "Stage":
        """The same for another hub."""
        return Stage(self._nursery, hub, self._agents)


# -- habits --------------------------------------------------------------------------------------------


def answering(says: str, answer: str, *before: Json) -> Json:
    """Answer a question that holds these words."""
    reply = {"tool": "inbox", "arguments": {"action": "send", "reply_to": "$id", "content": answer}}
    return {"on": "ask", "says": says, "do": [*before, reply]}


def failing(says: str, error: str) -> Json:
    """Give up a question that holds these words."""
    arguments = {"action": "complete", "message_id": "$id", "status": "dead", "error": error}
    return {"on": "ask", "says": says, "do": [{"tool": "inbox", "arguments": arguments}]}


def completing(says: str, result: str, *before: Json) -> Json:
    """Finish work that holds these words."""
    done = {"tool": "complete_task", "arguments": {"task_id": "$task", "result": result}}
    return {"on": "delegate", "says": says, "do": [*before, done]}


def giving_up(says: str, error: str) -> Json:
    failed = {"tool": "complete_task", "arguments": {"task_id": "$task", "status": "failed", "error": error}}
    return {"on": "delegate", "says": says, "do": [failed]}


def asking(agent: str, message: str, **more: Any) -> Json:
    return {"tool": "contact_agent", "arguments": {"action": "ask", "agent": agent, "message": message, **more}}
