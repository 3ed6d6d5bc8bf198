"""How much memory a hub takes while something goes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import psutil

from tests.support.hub_process import HubProcess

MOST = 300 << 20
"""Bytes that a hub may take, whatever its clients do."""
_LOOK_EVERY = 0.02


class Memory:
    """`peak` is the most that was seen, in bytes."""

    def __init__(self, hub: HubProcess) -> None:
        self._process = psutil.Process(hub.pid)
        self.peak = 0

    async def watch(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(_LOOK_EVERY)

    def look(self) -> None:
        self.peak = max(self.peak, self._process.memory_info().rss)


@asynccontextmanager
async def memory_of(hub: HubProcess) -> AsyncIterator[Memory]:
    memory = Memory(hub)
    watching = asyncio.create_task(memory.watch())
    try:
        yield memory
        memory.look()
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
