"""A hub that is killed in the middle of its work, again and again, keeps every promise it made.

`KILL_ROUNDS=500 pytest tests/scenarios/test_kill_nine.py` kills it more often.
"""

import asyncio
import os
import random
from contextlib import suppress
from itertools import count
from threading import Timer

import httpx
import pytest

from tests.scenarios.ledger import BROADCAST, Draft, Ledger
from tests.scenarios.stores import STORES
from tests.scenarios.switchboard import PATIENCE, Agent, Switchboard
from tests.support.fixtures import HubFactory
from tests.support.hub_process import HubProcess

ROUNDS = int(os.environ.get("KILL_ROUNDS", "50"))
SEEDS = 5
CLIENTS = 6
MOST_ACKNOWLEDGED = 120
"""Acknowledgements in one round, at most, before the hub is killed."""
KILLED_AGAIN = 0.2
"""How often it is killed a second time, while it starts."""


@pytest.mark.timeout(60 + 5 * ROUNDS)
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("store", STORES)
async def test_nothing_acknowledged_is_lost_or_doubled_when_the_hub_is_killed_under_load(
    hub_factory: HubFactory, store: str, seed: int
) -> None:
    chance = random.Random(seed)
    hub = hub_factory(store=store)
    async with Switchboard(hub) as board:
        ledger = Ledger(await board.register_many("ann", "bob", "cyd", "dan"))
        for number in range(seed, ROUNDS, SEEDS):
            await kill_under_load(board, ledger, chance, number)
            if chance.random() < KILLED_AGAIN:
                kill_while_it_starts(hub, chance)
            hub.start()
            for key in ledger.unanswered:  # what a client does whose answer was lost
                await ledger.send(board, key)
            await ledger.check(board)
    assert hub.stop() == 0


async def kill_under_load(board: Switchboard, ledger: Ledger, chance: random.Random, number: int) -> None:
    """Returns when the hub is dead. The moment is the nth acknowledgement, and a little."""
    process = board.hub.process
    assert process is not None
    enough = ledger.acknowledgements + chance.randint(1, MOST_ACKNOWLEDGED)
    a_little = chance.uniform(0, 0.005)
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as clients:
        for client in range(CLIENTS):
            name = f"{number}-{client}"
            clients.create_task(send_for_ever(board, ledger, random.Random(name), name))
        clients.create_task(work_for_ever(board, ledger, random.Random(number)))
        await ledger.reached(enough)
        await asyncio.sleep(a_little)
        process.kill()
    board.hub.kill9()


def kill_while_it_starts(hub: HubProcess, chance: random.Random) -> None:
    """Somewhere between the first instruction and the first answer: in the middle of its recovery, say."""
    moment = Timer(chance.uniform(0.1, 0.6), lambda: hub.process and hub.process.kill())
    moment.start()
    with suppress(AssertionError):  # it ended before it was ready
        hub.start()
    moment.join()
    hub.kill9()


async def send_for_ever(board: Switchboard, ledger: Ledger, chance: random.Random, name: str) -> None:
    """New messages, and now and then an earlier one again, answered or not, under its old key."""
    for number in count():
        if ledger.drafts and chance.random() < 0.25:
            key = chance.choice(list(ledger.drafts))
        else:
            key = f"{name}-{number}"
            ledger.drafts[key] = new_draft(ledger.agents, chance, key)
        try:
            await ledger.send(board, key)
        except httpx.TransportError:
            return  # the hub is dead


def new_draft(agents: list[Agent], chance: random.Random, key: str) -> Draft:
    sender, target = chance.sample(agents, 2)
    content = f"{key} " + "x" * chance.choice([10, 100, 1_000, 20_000])
    return Draft(sender, BROADCAST if chance.random() < 0.1 else target, content)


async def work_for_ever(board: Switchboard, ledger: Ledger, chance: random.Random) -> None:
    """Claims and completes direct messages: what was acknowledged of that must hold as well."""
    while True:
        inbox = f"/v1/agents/messages/{chance.choice(ledger.agents).id}"
        try:
            message = (await board.post(f"{inbox}/claim"))["message"]
            if message is None or message["message_type"] == "broadcast":
                continue
            ledger.claimed.add(message["message_id"])
            await board.post(f"{inbox}/{message['message_id']}/complete", {"result": "fine"})
            ledger.done.add(message["message_id"])
        except httpx.TransportError:
            return
