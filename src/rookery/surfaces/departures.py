"""Noticing that a caller hangs up while its call waits."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from starlette.types import Receive


class Departure:
    """Of the peer behind one request. Few calls wait, so nobody listens before the event is asked for."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._listening: asyncio.Task[None] | None = None
        self._gone = asyncio.Event()

    @property
    def gone(self) -> asyncio.Event:
        """Set once the peer has left. The body was read before, so nothing else can come."""
        if self._listening is None:
            self._listening = asyncio.get_running_loop().create_task(self._listen())
        return self._gone

    def over(self) -> None:
        if self._listening is not None:
            self._listening.cancel()

    async def _listen(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone.set()


@contextmanager
def departure(receive: Receive) -> Generator[Departure]:
    leaving = Departure(receive)
    try:
        yield leaving
    finally:
        leaving.over()
