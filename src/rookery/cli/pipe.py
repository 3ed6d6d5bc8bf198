"""MCP between standard input and output and the hub: each line is one request, each answer one line."""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO
from uuid import uuid4

import httpx
import msgspec

from rookery.client.address import Directions
from rookery.client.transport import http_options
from rookery.wire.errors import RookeryError

_LONGEST_LINE = 64 << 20
_CHUNK = 1 << 16
_HUB_AWAY = 15.0
"""Seconds for a hub that restarts; then the model is told."""
_PAUSE = 0.5
_LONGEST_CALL = 86_400.0
"""The hub ends what takes too long; a permission that the operator is asked for may take its time."""
_SIGN_EVERY = 20.0
_PING = b'{"jsonrpc":"2.0","id":"sign-of-life","method":"ping"}'

_AGAIN = b'"rookery/again":true'
"""The hub stops and says so. In what others wrote, the quotation marks would be escaped."""
_KEYED = frozenset({"send_to_agent", "broadcast", "send_channel_message", "contact_agent"})

Json = dict[str, Any]


class Pipe:
    """`token` gives the token to use; called with True, one for an agent that was just made anew."""

    def __init__(
        self,
        directions: Directions,
        token: Callable[[bool], str | None],
        out: BinaryIO,
        *,
        sign_every: float = _SIGN_EVERY,
    ) -> None:
        self._sign_every = sign_every
        self._directions = directions
        self._token = token
        self._out = out
        self._renewing = asyncio.Lock()
        address = directions.follow()
        self._known = address.known
        self._http = httpx.AsyncClient(**http_options(address, _LONGEST_CALL))
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, lines: asyncio.StreamReader) -> None:
        """Until standard input ends; what is under way is finished first."""
        living = asyncio.create_task(self._give_signs_of_life())
        try:
            while line := await lines.readline():
                if line.strip():
                    task = asyncio.create_task(self._answer(line))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
            await asyncio.gather(*self._tasks)
        finally:
            for task in (living, *self._tasks):
                task.cancel()
            await self._http.aclose()

    async def _give_signs_of_life(self) -> None:
        """The agent is there as long as its program is, also while it thinks and calls no tool."""
        while True:
            await asyncio.sleep(self._sign_every)
            token = self._token(False)
            if token is not None:
                with suppress(httpx.HTTPError, RookeryError):  # a hub that is away will see it when it is back
                    await self._post(_PING, token)

    async def _answer(self, line: bytes) -> None:
        reply = await self._asked(line)
        if reply:
            self._out.write(reply.strip() + b"\n")
            self._out.flush()

    async def _asked(self, line: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        until = loop.time() + _HUB_AWAY
        token = self._token(False)
        renewed = False
        key = _key_for(line)
        while True:
            try:
                response = await self._post(line, token, key)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                # It was not heard, so it may be said again. Anything else may have happened, and is told.
                if loop.time() > until:
                    return _failure(line, "The hub does not answer; the operator can start it with `rook up`.")
                await asyncio.sleep(_PAUSE)
                continue
            except httpx.HTTPError as exc:
                if key is None:
                    return _failure(line, f"The hub went away in the middle: {str(exc) or type(exc).__name__}.")
                until = loop.time() + _HUB_AWAY  # under its key it happens once, however often it is said
                await asyncio.sleep(_PAUSE)
                continue
            except RookeryError as exc:
                return _failure(line, exc.message)
            if response.status_code == 401 and not renewed:
                renewed = True
                try:
                    token = await self._new_token(token)
                except RookeryError as exc:
                    return _failure(line, exc.message)
                continue
            if key is not None and _AGAIN in response.content:
                until = loop.time() + _HUB_AWAY
                await asyncio.sleep(_PAUSE)
                continue
            if response.status_code == 202:
                return b""
            if response.headers.get("content-type", "").startswith("application/json"):
                return _checked(line, response)
            return _failure(line, f"The hub answered with status {response.status_code}.")

    async def _post(self, line: bytes, token: str | None, key: str | None = None) -> httpx.Response:
        address = self._directions.follow()
        if self._known and not address.known:
            # A hub that is down leaves no trace. Whoever listens at the usual address shall not get the token.
            raise httpx.ConnectError("no hub is running")
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if key is not None:
            headers["Idempotency-Key"] = key
        return await self._http.post(f"{address.url}/mcp", content=line, headers=headers)

    async def _new_token(self, refused: str | None) -> str | None:
        """Many requests may be refused at once; one of them asks for the new token."""
        async with self._renewing:
            current = self._token(False)
            if current != refused:
                return current
            return await asyncio.to_thread(self._token, True)


def _key_for(line: bytes) -> str | None:
    """A key for what may be said again without happening twice: what is said to others, and contact."""
    with suppress(msgspec.DecodeError):
        if msgspec.json.decode(line, type=_Call).params.name in _KEYED:
            return uuid4().hex
    return None


class _Params(msgspec.Struct):
    name: str


class _Call(msgspec.Struct):
    params: _Params


def _checked(line: bytes, response: httpx.Response) -> bytes:
    """An answer of the protocol as it is; a refusal of the hub's own in the words of the protocol."""
    try:
        refused = msgspec.json.decode(response.content, type=_Refused)
    except msgspec.DecodeError:
        return response.content
    return _failure(line, refused.error.message)


class _Reason(msgspec.Struct):
    message: str


class _Refused(msgspec.Struct):
    """The shape of the hub's own refusals; the protocol's have no `ok`."""

    ok: bool
    error: _Reason


def _failure(line: bytes, why: str) -> bytes:
    """Told to the model where it called a tool, to its program otherwise; a notification gets no answer."""
    try:
        asked: Json = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError:
        return _encoded({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": why}})
    if "id" not in asked:
        return b""
    answer: Json = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked.get("method") == "tools/call":
        return _encoded(answer | {"result": {"content": [{"type": "text", "text": why}], "isError": True}})
    return _encoded(answer | {"error": {"code": -32000, "message": why}})


def _encoded(value: Json) -> bytes:
    return msgspec.json.encode(value)


async def standard_input() -> asyncio.StreamReader:
    """Read by a thread, because a loop waits for pipes alone, and not for a file or for /dev/null."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)

    def pump() -> None:
        with suppress(RuntimeError):  # the loop has ended before the input did
            while chunk := os.read(0, _CHUNK):
                loop.call_soon_threadsafe(reader.feed_data, chunk)
            loop.call_soon_threadsafe(reader.feed_eof)

    threading.Thread(target=pump, name="standard-input", daemon=True).start()
    return reader
