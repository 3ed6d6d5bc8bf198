"""The two ends of a stream of events, for either kind of client."""

import asyncio
import time
from contextlib import AsyncExitStack, ExitStack
from typing import Any, Self, cast

from websockets.asyncio.client import ClientConnection as AsyncConnection
from websockets.asyncio.client import connect as async_connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from rookery.client.hub import Event
from rookery.client.stream import MOST_BYTES, PING_EVERY, Stream

_TROUBLE = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError, EOFError)


class Listening:
    """An iterator that ends only when it is closed, or raises what trying again would not change."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.closed = False
        self._socket: ClientConnection | None = None
        self._open = ExitStack()
        while not stream.up:
            self._received()  # the hub's hello comes before any event

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        while not self.closed:
            event = self._received()
            if event is not None:
                return event
        raise StopIteration

    def close(self) -> None:
        self.closed = True
        self._hang_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _received(self) -> Event | None:
        """The next event, or None if what came was not one, or the connection had to be made anew."""
        try:
            if self._socket is None:
                made = cast("ClientConnection", connect(self._stream.url(), **_options(self._stream)))
                self._socket = self._open.enter_context(made)
            if self.closed:  # while it was connecting
                self._hang_up()
                return None
            return self._stream.event(self._socket.recv())
        except _TROUBLE as exc:
            if self.closed:
                return None
            pause = _pause_after(self._stream, exc)
        self._hang_up()
        time.sleep(pause)
        return None

    def _hang_up(self) -> None:
        self._socket = None
        self._open.close()


class AsyncListening:
    """The same for `async for`. Connected when an `async with` block is entered, or at the first event."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.closed = False
        self._socket: AsyncConnection | None = None
        self._open = AsyncExitStack()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not self.closed:
            event = await self._received()
            if event is not None:
                return event
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed = True
        await self._hang_up()

    async def __aenter__(self) -> Self:
        while not self._stream.up:
            await self._received()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _received(self) -> Event | None:
        try:
            if self._socket is None:
                made = async_connect(self._stream.url(), **_options(self._stream))
                self._socket = await self._open.enter_async_context(made)
            if self.closed:
                await self._hang_up()
                return None
            return self._stream.event(await self._socket.recv())
        except _TROUBLE as exc:
            if self.closed:
                return None
            pause = _pause_after(self._stream, exc)
        await self._hang_up()
        await asyncio.sleep(pause)
        return None

    async def _hang_up(self) -> None:
        self._socket = None
        await self._open.aclose()


def _options(stream: Stream) -> dict[str, Any]:
    return {
        "additional_headers": stream.headers(),
        "compression": None,
        "max_size": MOST_BYTES,
        "proxy": None if stream.session.address.local else True,
        "open_timeout": 10,
        "close_timeout": 1,
        "ping_interval": PING_EVERY,
        "ping_timeout": PING_EVERY,
    }


def _pause_after(stream: Stream, exc: Exception) -> float:
    """How long to wait before connecting again. Raises what is final."""
    match exc:
        case ConnectionClosed():
            return stream.closed(*(exc.rcvd.code, exc.rcvd.reason) if exc.rcvd else (1006, ""))
        case InvalidStatus():
            return stream.refused(exc.response.status_code, bytes(exc.response.body or b""))
        case _:
            return stream.lost(str(exc) or type(exc).__name__)
