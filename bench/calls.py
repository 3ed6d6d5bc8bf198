"""HTTP as the load generator speaks it: request bytes made beforehand, answers checked and not decoded."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle
from time import perf_counter
from typing import cast

import msgspec

_ID = b'"message_id":"'
_LENGTH = b"content-length: "


class Refused(Exception):
    """The server answered something else than 200."""


def request(method: str, path: str, port: int, token: str = "", body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


def tool_call(port: int, token: str, tool: str, arguments: Mapping[str, object]) -> bytes:
    """A call of a tool over MCP."""
    called = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    head, _, body = request("POST", "/mcp", port, token, msgspec.json.encode(called)).partition(b"\r\n\r\n")
    return head + b"\r\nAccept: application/json, text/event-stream\r\n\r\n" + body


class Caller(asyncio.Protocol):
    """One keep-alive connection with one request under way at a time."""

    def __init__(self, on_answer: Callable[["Caller", bytes, float], None]) -> None:
        self._on_answer = on_answer
        self._rest = b""
        self._asked = 0.0
        self._transport: asyncio.Transport | None = None
        self.lost: Callable[[str], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def ask(self, what: bytes) -> None:
        assert self._transport is not None
        self._asked = perf_counter()
        self._transport.write(what)

    def data_received(self, data: bytes) -> None:
        if self._rest:
            data = self._rest + data
        end = data.find(b"\r\n\r\n")
        if end >= 0:
            start = data.find(_LENGTH, 0, end) + len(_LENGTH)
            if len(data) >= end + 4 + int(data[start : data.find(b"\r", start)]):
                self._rest = b""
                self._on_answer(self, data, perf_counter() - self._asked)
                return
        self._rest = data

    def connection_lost(self, exc: Exception | None) -> None:
        if self.lost is not None:
            self.lost(f"the connection was lost: {exc}")

    def close(self) -> None:
        self.lost = None
        if self._transport is not None:
            self._transport.close()


def is_ok(answer: bytes) -> bool:
    return answer[9:12] == b"200"


def message_id(answer: bytes) -> str:
    start = answer.rindex(_ID) + len(_ID)
    return answer[start : answer.index(b'"', start)].decode()


class Load:
    """Each connection asks again as soon as it is answered, until the time is over."""

    def __init__(self, seconds: float, *, keep_ids: bool) -> None:
        self._seconds = seconds
        self._keep_ids = keep_ids
        self._until = 0.0
        self._asks: dict[Caller, Iterator[bytes]] = {}
        self._under_way = 0
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waits: list[float] = []
        self.ids: list[str] = []
        self.seconds = 0.0

    async def run(self, port: int, voices: Sequence[Sequence[bytes]], connections: int) -> None:
        """`voices` are request lists; the connections share them out and go round in theirs."""
        loop = asyncio.get_running_loop()
        for number in range(connections):
            _, caller = await loop.create_connection(lambda: Caller(self._answered), "127.0.0.1", port)
            caller.lost = self._fail
            asks = voices[number % len(voices)]
            start = number * len(asks) // connections
            self._asks[caller] = cycle([*asks[start:], *asks[:start]])
        began = perf_counter()
        self._until = began + self._seconds
        self._under_way = connections
        try:
            for caller, asks in self._asks.items():
                caller.ask(next(asks))
            await self._over
        finally:
            self.seconds = perf_counter() - began
            for caller in self._asks:
                caller.close()

    def _answered(self, caller: Caller, answer: bytes, wait: float) -> None:
        self.waits.append(wait)
        if not is_ok(answer):
            self._fail(answer[:600].decode(errors="replace"))
            return
        if self._keep_ids:
            self.ids.append(message_id(answer))
        if perf_counter() < self._until:
            caller.ask(next(self._asks[caller]))
            return
        self._under_way -= 1
        if self._under_way == 0 and not self._over.done():
            self._over.set_result(None)

    def _fail(self, why: str) -> None:
        if not self._over.done():
            self._over.set_exception(Refused(why))


class Client:
    """One request after the other, answers awaited."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._caller: Caller | None = None
        self._waiting: asyncio.Future[bytes] | None = None

    async def ask(self, what: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        if self._caller is None:
            _, self._caller = await loop.create_connection(lambda: Caller(self._answered), "127.0.0.1", self._port)
        self._waiting = loop.create_future()
        self._caller.ask(what)
        answer = await self._waiting
        if not is_ok(answer):
            raise Refused(answer[:600].decode(errors="replace"))
        return answer

    def _answered(self, caller: Caller, answer: bytes, wait: float) -> None:  # noqa: ARG002
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(answer)

    def close(self) -> None:
        if self._caller is not None:
            self._caller.close()
