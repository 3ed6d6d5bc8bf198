"""Stores with many messages in them, as a long-lived hub has them: through the store's port, in large batches.

The rows are those of real sends and reads: messages come into being by `Posting`, and reading one leaves what
`Inbox.mark_read` leaves. Twenty agents of unequal zeal; one message in ten is a reply, one in two hundred a
broadcast, four of five are read and those that are not lie scattered.
"""

import asyncio
import gc
import random
import sys
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import cast

import uvloop

from bench.hub import stop_with_parent
from rookery.bootstrap import make_store
from rookery.clock import SystemClock
from rookery.config import Settings, StoreKind
from rookery.domain.deliveries import Delivery
from rookery.domain.events import MessageRead, MessageSeen
from rookery.domain.ids import BROADCAST, OPERATOR, MessageIds
from rookery.domain.messages import Message, MessageType, Priority
from rookery.domain.principals import Principal
from rookery.ports import Store, Transaction
from rookery.services.access import Access, RateRules
from rookery.services.agents import Agents, Registration
from rookery.services.closing import Closing
from rookery.services.departure import Departure
from rookery.services.posting import Letter, Posting, audience

AGENTS = 20
_BATCH = 2_000
_TEXTS = 5_000
_TALK = (
    "the build is green again after the flaky socket test was pinned please review branch feature inbox and "
    "tell me whether the migration needs a lock I have read your notes on pacing and agree with most of them "
    "deploy waits for approval of the operator tests pass locally 412 passed 3 skipped in 14.2 seconds"
)
_PRIORITIES: tuple[Priority, ...] = ("normal", "normal", "normal", "normal", "normal", "high", "low", "urgent")


class Traffic:
    """What agents say, the same at every run."""

    def __init__(self, agents: Sequence[str]) -> None:
        self._random = random.Random(20_26)
        self._agents = agents
        self._zeal = list(accumulate(1 / rank for rank in range(1, len(agents) + 1)))
        self._texts = [
            " ".join(self._random.choices(_TALK.split(), k=self._random.randrange(8, 80))) for _ in range(_TEXTS)
        ]
        self._last: Message | None = None

    def letter(self) -> Letter:
        chance = self._random.random
        sender, recipient = self._pair()
        parent = self._last if self._last is not None and chance() < 0.1 else None
        if parent is not None:
            sender, recipient = parent.recipient, parent.sender
        everyone = parent is None and chance() < 0.005
        kind: MessageType = "broadcast" if everyone else "direct" if parent is None else "reply"
        return Letter(
            sender=sender,
            recipient=BROADCAST if everyone else recipient,
            recipients=tuple(a for a in self._agents if a != sender) if everyone else (recipient,),
            type=kind,
            content=self._text(),
            metadata='{"type":"inter-agent"}' if chance() < 0.3 else "{}",
            parent=parent,
            priority=self._random.choice(_PRIORITIES),
            for_everyone=everyone,
        )

    def said(self, message: Message) -> None:
        if message.type != "broadcast":
            self._last = message

    def is_read(self) -> bool:
        return self._random.random() < 0.8

    def _pair(self) -> tuple[str, str]:
        sender, recipient = self._random.choices(self._agents, cum_weights=self._zeal, k=2)
        while recipient == sender:
            recipient = self._random.choice(self._agents)
        return sender, recipient

    def _text(self) -> str:
        return self._random.choice(self._texts)


async def fill(store: Store, messages: int) -> None:
    """Put that many messages into an empty store."""
    clock = SystemClock()
    posting = Posting(MessageIds(random.Random(7).getrandbits))
    access = Access(store, clock, guarded=True, rate=RateRules())
    registry = Agents(store, clock, access, Departure(Closing(posting)))
    registrations = [Registration(name=f"bench-{number}") for number in range(1, AGENTS + 1)]
    operator = Principal(OPERATOR, "t-bench")
    agents = [(await registry.register(operator, each)).agent.id for each in registrations]
    traffic = Traffic(agents)

    def batch(tx: Transaction, size: int) -> None:
        for _ in range(size):
            letter, now = traffic.letter(), clock.now()
            message = posting.post(tx, letter, now=now, by=Principal(letter.sender, "t-bench"))
            traffic.said(message)
            if message.type != "broadcast" and traffic.is_read():
                _read(tx, message, now)

    for start in range(0, messages, _BATCH):
        await store.write(partial(batch, size=min(_BATCH, messages - start)))


def _read(tx: Transaction, message: Message, now: int) -> None:
    reader = Principal(message.recipient, "t-bench")
    delivery = Delivery(message_id=message.id, recipient=reader.id, stored_at=message.created_at)
    tx.deliveries.save(delivery.seen(now, "rest"))
    seen = MessageSeen(message_id=message.id, recipient=reader.id, via="rest", at=now)
    tx.journal.record(seen, at=now, by=reader, audience=audience(reader.id, message.sender))
    read = MessageRead(message_id=message.id, recipient=reader.id, by=reader.id, at=now)
    tx.journal.record(read, at=now, by=reader, audience=audience(reader.id))


def main() -> None:
    """`python -m bench.filling <store> <directory> <messages>`"""
    stop_with_parent()
    gc.disable()  # nothing that is made here goes in circles
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))


async def _main(kind: str, directory: Path, messages: int) -> None:
    store = make_store(Settings(store=cast("StoreKind", kind), data=directory))
    await store.open()
    try:
        await fill(store, messages)
    finally:
        await store.close()


if __name__ == "__main__":
    main()
