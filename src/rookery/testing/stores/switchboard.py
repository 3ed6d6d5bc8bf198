"""The real services over a store, with a clock that is turned by hand."""

import random
from collections.abc import Callable
from pathlib import Path

from rookery.domain.approvals import ApprovalRules
from rookery.domain.ids import MessageIds
from rookery.domain.pacing import PacingRules
from rookery.domain.traces import TraceRules
from rookery.ports import Store
from rookery.services.access import Access, RateRules
from rookery.services.agents import Agents
from rookery.services.channels import Channels
from rookery.services.closing import Closing
from rookery.services.departure import Departure
from rookery.services.expiry import ClaimRules, Expiry
from rookery.services.holding import Holding
from rookery.services.inbox import Inbox
from rookery.services.messaging import Messaging
from rookery.services.notices import Notices
from rookery.services.pacing import Pacer
from rookery.services.posting import Posting
from rookery.services.relay import Relay
from rookery.services.tracing import Tracing
from rookery.testing.stores.samples import NOW

CLAIM_RULES = ClaimRules(silence=10_000, most=2)
TRACE_RULES = TraceRules(most_hops=1_000_000, most_messages=1_000_000)
"""Histories of random answers to random messages go on for as long as they like."""


class HandClock:
    """Stands still until it is moved on."""

    def __init__(self) -> None:
        self._now = NOW

    def now(self) -> int:
        return self._now

    def move_on(self, milliseconds: int) -> None:
        self._now += milliseconds


class Switchboard:
    """The services of a hub. `start` opens a store over the directory, also after `stop` or a crash."""

    def __init__(self, make_store: Callable[[Path], Store], directory: Path) -> None:
        self._make_store = make_store
        self._directory = directory
        self.clock = HandClock()
        self.posting = Posting(MessageIds(random.Random(5).getrandbits))

    async def start(self) -> None:
        self.store = store = self._make_store(self._directory)
        await store.open()
        clock, posting, closing = self.clock, self.posting, Closing(self.posting)
        holding, tracing, pacer = Holding(ApprovalRules()), Tracing(TRACE_RULES), Pacer(PacingRules())
        self.relay = Relay(store, clock)
        self.access = Access(store, clock, guarded=True, rate=RateRules())
        self.agents = Agents(store, clock, self.access, Departure(closing))
        self.messaging = Messaging(store, clock, posting, self.relay, holding, tracing, pacer)
        self.channels = Channels(store, clock)
        self.inbox = Inbox(store, clock, closing)
        self.expiry = Expiry(store, clock, Notices(posting), closing, CLAIM_RULES)
        await self.relay.start()

    async def stop(self) -> None:
        await self.relay.stop()
        await self.store.close()
