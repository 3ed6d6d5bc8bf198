"""Sockets that do not read cost the hub neither memory nor the patience of those that do."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from tests.scenarios.listener import Listener
from tests.scenarios.memory import MOST, memory_of
from tests.scenarios.sleeper import DROPPED, FELL_BEHIND, Sleeper, asleep
from tests.scenarios.switchboard import PATIENCE, Agent, Switchboard
from tests.support.hub_process import HubProcess

SLEEPERS = 100
MESSAGES = 1_000
SIZE = 16_000
"""Characters in each message."""
AHEAD = 64
"""Messages that the senders may be ahead of the healthy listeners, which so stay healthy on a slow machine."""


async def send_many(board: Switchboard, ann: Agent, bob: Agent, listeners: Sequence["Healthy"]) -> int:
    """Returns the position of the last event there is then."""
    for number in range(0, MESSAGES, 10):
        for listener in listeners:
            await listener.has_heard(number - AHEAD)
        some = range(number, number + 10)
        await asyncio.gather(*(board.send(ann, bob, f"{each} " + "x" * SIZE) for each in some))
    return await board.position()


class Healthy:
    """A listener that reads all the time."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.messages = 0
        self._progress = asyncio.Condition()

    async def listen(self) -> None:
        while True:
            event = await self.listener.hear()
            if event["type"] == "agent_message":
                self.messages += 1
            async with self._progress:
                self._progress.notify_all()

    async def has_heard(self, messages: int) -> None:
        async with asyncio.timeout(PATIENCE), self._progress:
            await self._progress.wait_for(lambda: self.messages >= messages)

    async def has_reached(self, position: int) -> None:
        async with asyncio.timeout(PATIENCE), self._progress:
            await self._progress.wait_for(lambda: (self.listener.position or 0) >= position)


@asynccontextmanager
async def listening(listeners: Sequence[Healthy]) -> AsyncIterator[None]:
    async with AsyncExitStack() as connections, asyncio.TaskGroup() as group:
        for each in listeners:
            await connections.enter_async_context(each.listener.connected())
        tasks = [group.create_task(each.listen()) for each in listeners]
        yield
        for task in tasks:
            task.cancel()


async def test_a_hundred_sockets_that_never_read_neither_grow_the_hub_nor_disturb_the_others(
    board: Switchboard,
) -> None:
    ann, bob = await board.register_many("ann", "bob")
    start = await board.position()
    listeners = [Healthy(Listener(board.hub)) for _ in range(3)]
    async with memory_of(board.hub) as memory, asleep(board.hub, SLEEPERS) as sleepers:
        async with listening(listeners):
            end = await send_many(board, ann, bob, listeners)
            for each in listeners:
                await each.has_reached(end)
        closings = await asyncio.gather(*(sleeper.wake_up() for sleeper in sleepers))

    told = [event["position"] for event in await board.events(after=start)]
    assert told == list(range(start + 1, end + 1))
    assert [each.listener.positions for each in listeners] == [told] * len(listeners)
    assert memory.peak < MOST
    # Those that wake up in time hear why they were closed; the others were dropped.
    assert {code for code, _ in closings} <= {FELL_BEHIND, DROPPED}
    assert all("?after=" in reason for code, reason in closings if code == FELL_BEHIND)
    for sleeper in sleepers[:3]:
        await resumes_without_a_gap(board.hub, sleeper, told)


async def test_a_socket_that_fell_behind_is_told_where_to_resume_and_misses_nothing(board: Switchboard) -> None:
    ann, bob = await board.register_many("ann", "bob")
    start = await board.position()
    async with asleep(board.hub, 1) as (sleeper,):
        async with asyncio.timeout(PATIENCE):
            while "rookery_sockets_fell_behind_total 1\n" not in (await board.request("GET", "/metrics")).text:
                await asyncio.gather(*(board.send(ann, bob, "x" * 100_000) for _ in range(10)))
        code, reason = await sleeper.wake_up()

    assert code == FELL_BEHIND
    assert reason == f"too slow: resume with ?after={sleeper.positions[-1]}"
    told = [event["position"] for event in await board.events(after=start)]
    await resumes_without_a_gap(board.hub, sleeper, told)


async def test_a_hundred_sockets_that_resume_and_never_read_do_not_grow_the_hub(board: Switchboard) -> None:
    ann, bob = await board.register_many("ann", "bob")
    start = await board.position()
    for _ in range(40):
        await asyncio.gather(*(board.send(ann, bob, "x" * 100_000) for _ in range(10)))

    async with memory_of(board.hub) as memory, asleep(board.hub, SLEEPERS, after=start):
        # A listener that reads shows that the hub is done with all that the others let it do.
        listener = Listener(board.hub)
        listener.position = start
        async with listener.connected():
            await listener.hear_through(await board.position())
        assert (await board.get("/v1/status"))["sockets"] >= SLEEPERS
    assert memory.peak < MOST


async def resumes_without_a_gap(hub: HubProcess, sleeper: Sleeper, told: list[int]) -> None:
    """What it heard before it was closed, and what it hears afterwards, is all that was told, each once."""
    listener = Listener(hub)
    hello, *heard = sleeper.positions
    listener.position = sleeper.positions[-1]
    async with listener.connected():
        await listener.hear_through(told[-1])
    assert hello < told[0]
    assert heard + listener.positions == told
