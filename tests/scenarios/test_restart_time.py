"""How long the people and programs of a busy hub are without it when it restarts."""

import time
from pathlib import Path

from rookery.bootstrap import make_store
from rookery.clock import SystemClock
from rookery.config import Settings
from rookery.domain.ids import MessageIds
from rookery.domain.principals import THE_HUB
from rookery.ports import Transaction
from rookery.services.posting import Letter, Posting
from tests.scenarios.switchboard import Agent, Switchboard
from tests.support.hub_process import HubProcess

MESSAGES = 100_000
AT_ONCE = 1_000
LONGEST = 2.0
ATTEMPTS = 3
"""The promise is the hub's, not that of a machine which is busy with other tests: the best attempt counts."""


async def test_a_hub_that_holds_a_hundred_thousand_messages_is_back_within_two_seconds(
    hub: HubProcess, board: Switchboard
) -> None:
    ann, bob = await board.register_many("ann", "bob")
    hub.stop()
    await fill(hub.data, ann, bob)
    hub.start()

    after_a_stop = [await time_of_restart(board, ann, bob, crash=False) for _ in range(ATTEMPTS)]
    after_a_crash = [await time_of_restart(board, ann, bob, crash=True) for _ in range(ATTEMPTS)]

    stored = MESSAGES + 2 * ATTEMPTS
    assert (await board.get("/v1/status"))["messages"] == stored
    assert (await board.get(f"/v1/agents/messages/{bob.id}/unread"))["unread_count"] == stored
    assert min(after_a_stop) < LONGEST, after_a_stop
    assert min(after_a_crash) < LONGEST, after_a_crash


async def time_of_restart(board: Switchboard, ann: Agent, bob: Agent, *, crash: bool) -> float:
    """From the start of the process until it answers that it takes messages."""
    await board.send(ann, bob, "one more, so that the last shutdown has something to tidy up")
    if crash:
        board.hub.kill9()
    else:
        assert board.hub.stop() == 0
    began = time.monotonic()
    board.hub.start()
    return time.monotonic() - began


async def fill(data: Path, sender: Agent, recipient: Agent) -> None:
    """Through the store itself: over REST it would take a minute."""
    clock = SystemClock()
    posting = Posting(MessageIds(lambda bits: 0))
    filled = make_store(Settings(data=data))

    def post_some(tx: Transaction) -> None:
        for number in range(AT_ONCE):
            letter = Letter(
                sender=sender.id,
                recipient=recipient.id,
                recipients=(recipient.id,),
                type="direct",
                content=f"message {number} of many, with a few words that can be searched",
            )
            posting.post(tx, letter, now=clock.now(), by=THE_HUB)

    await filled.open()
    try:
        for _ in range(MESSAGES // AT_ONCE):
            await filled.write(post_some)
    finally:
        await filled.close()
