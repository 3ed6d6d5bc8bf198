"""Those who listen while the hub restarts, and those who send."""

import asyncio
import signal
from itertools import count

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from tests.scenarios.ledger import Draft, Ledger
from tests.scenarios.listener import Listener
from tests.scenarios.sleeper import asleep
from tests.scenarios.switchboard import PATIENCE, Refused, Switchboard

RESTARTING = 1012
QUICKLY = 10.0
"""Seconds in which a hub must have stopped, whatever its clients do."""


@pytest.mark.parametrize("crash", [False, True], ids=["stopped", "killed"])
async def test_a_listener_that_resumes_after_a_restart_hears_exactly_what_it_missed(
    board: Switchboard, crash: bool
) -> None:
    ann, bob = await board.register_many("ann", "bob")
    for listener in (Listener(board.hub), Listener(board.hub, token=bob.token)):
        start = await board.position()
        async with listener.connected():
            await board.send(ann, bob, "heard")
            await listener.hear_until(lambda event: event["type"] == "inbox_message_sent")
            await board.send(ann, bob, "sent, and not heard before the end")
            board.hub.restart(crash=crash)
        await board.send(ann, bob, "sent before anybody listens again")
        async with listener.connected():
            await board.send(ann, bob, "heard again")
            await listener.hear_until(lambda event: event.get("content") == "heard again")

        token = bob.token if listener.token == bob.token else None
        told = await board.events(after=start, token=token)
        assert listener.events == [event for event in told if event["position"] <= listener.position]
        said = [event["content"] for event in listener.events if event["type"] == "agent_message"]
        assert said == [
            "heard", "sent, and not heard before the end", "sent before anybody listens again", "heard again",
        ]  # fmt: skip


async def test_a_listener_is_told_that_the_hub_goes_down(board: Switchboard) -> None:
    listener = Listener(board.hub)
    async with listener.connected():
        assert board.hub.process is not None
        board.hub.process.send_signal(signal.SIGTERM)
        with pytest.raises(ConnectionClosed) as closed:
            await listener.hear_until(lambda _: False)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == RESTARTING
    assert board.hub.stop() == 0


async def test_a_hub_that_is_stopped_under_load_keeps_what_it_acknowledged_and_leaves_cleanly(
    board: Switchboard,
) -> None:
    ledger = Ledger(await board.register_many("ann", "bob", "cyd"))
    process = board.hub.process
    assert process is not None
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as clients:
        for client in range(8):
            clients.create_task(send_until_it_stops(board, ledger, client))
        await ledger.reached(200)
        process.send_signal(signal.SIGTERM)

    assert board.hub.stop(within=QUICKLY) == 0
    assert not (board.hub.data / "hub.json").exists()
    assert "Traceback" not in board.hub.output()
    board.hub.start()
    for key in ledger.unanswered:
        await ledger.send(board, key)
    await ledger.check(board)


async def test_a_hub_stops_even_when_sockets_never_read(board: Switchboard) -> None:
    ann, bob = await board.register_many("ann", "bob")
    async with asleep(board.hub, 5):
        for _ in range(10):
            await asyncio.gather(*(board.send(ann, bob, "x" * 100_000) for _ in range(10)))
        assert board.hub.stop(within=QUICKLY) == 0
    assert not (board.hub.data / "hub.json").exists()


async def send_until_it_stops(board: Switchboard, ledger: Ledger, client: int) -> None:
    for number in count():
        key = f"{client}-{number}"
        sender, target = ledger.agents[number % 3], ledger.agents[(number + 1) % 3]
        ledger.drafts[key] = Draft(sender, target, f"{key} " + "x" * 2_000)
        try:
            await ledger.send(board, key)
        except (httpx.TransportError, Refused):
            return
