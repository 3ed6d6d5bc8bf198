"""Clients whose connection breaks all the time hear everything, in order, once."""

import asyncio
import random
from collections.abc import Sequence

from tests.scenarios.listener import Listener
from tests.scenarios.memory import MOST, memory_of
from tests.scenarios.switchboard import PATIENCE, Agent, Switchboard
from tests.support.hub_process import HubProcess

CLIENTS = 20
RECONNECTS = 100
"""Of each client."""
AHEAD = 40
"""Events that the stream may be ahead of the slowest client."""


async def test_two_thousand_reconnects_during_a_stream_of_messages_miss_and_double_nothing(
    board: Switchboard,
) -> None:
    ann, bob = await board.register_many("ann", "bob")
    start = await board.position()
    clients = [Client(board.hub, start, random.Random(number)) for number in range(CLIENTS)]
    async with memory_of(board.hub) as memory:
        streaming = asyncio.create_task(stream(board, ann, bob, clients))
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client.reconnect_often())
        await streaming
        end = await board.position()
        for client in clients:
            async with client.listener.connected():
                await client.listener.hear_through(end)

    told = list(range(start + 1, end + 1))
    assert [event["position"] for event in await board.events(after=start)] == told
    assert [client.listener.positions for client in clients] == [told] * CLIENTS
    assert memory.peak < MOST
    await nobody_is_left(board)


class Client:
    def __init__(self, hub: HubProcess, start: int, chance: random.Random) -> None:
        self.listener = Listener(hub)
        self.listener.position = start
        self._chance = chance
        self.done = False
        self.moved = asyncio.Event()

    async def reconnect_often(self) -> None:
        """Hear a little, then go: now properly, now as when a cable is pulled."""
        for _ in range(RECONNECTS):
            async with self.listener.connected():
                async with asyncio.timeout(PATIENCE):
                    for _ in range(self._chance.randint(1, 4)):
                        await self.listener.hear()
                        self.moved.set()
                if self._chance.random() < 0.5:
                    self.listener.break_off()
        self.done = True
        self.moved.set()

    async def has_reached(self, position: int) -> None:
        while not self.done and (self.listener.position or 0) < position:
            self.moved.clear()
            await self.moved.wait()


async def stream(board: Switchboard, ann: Agent, bob: Agent, clients: Sequence[Client]) -> None:
    """Messages without end, until everybody is done, though never far ahead of the slowest."""
    while not all(client.done for client in clients):
        await asyncio.gather(*(board.send(ann, bob, "another message") for _ in range(AHEAD // 4)))
        end = await board.position()
        for client in clients:
            await client.has_reached(end - AHEAD)


async def nobody_is_left(board: Switchboard) -> None:
    """The hub has noticed that they are gone."""
    await board.until("/v1/status", lambda status: status["sockets"] == 0)
