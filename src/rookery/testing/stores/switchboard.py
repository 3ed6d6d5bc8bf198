"""The real services over a store, with a clock that is turned by hand."""

import random
from collections.abc import Callable
from pathlib import Path

from rookery.domain.ids import MessageIds
from rookery.domain.pacing import PacingRules
from rookery.ports import Store
from rookery.services.access import Access, RateRules
from rookery.services.agents import Agents
from rookery.services.channels import Channels
from rookery.services.expiry import ClaimRules, Expiry
from rookery.services.inbox import Inbox
from rookery.services.messaging import Messaging
from rookery.services.notices import Notices
from rookery.services.posting import Posting
from rookery.services.relay import Relay
from rookery.testing.stores.samples import NOW

CLAIM_RULES = ClaimRules(silence=10_000, most=2)


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
        clock, posting = self.clock, self.posting
        self.relay = Relay(store, clock)
        self.access = Access(store, clock, guarded=True, rate=RateRules())
        self.agents = Agents(store, clock, self.access)
        self.messaging = Messaging(store, clock, posting, self.relay, PacingRules())
        self.channels = Channels(store, clock)
        self.inbox = Inbox(store, clock)
        self.expiry = Expiry(store, clock, Notices(posting), CLAIM_RULES)
        await self.relay.start()

    async def stop(self) -> None:
        await self.relay.stop()
        await self.store.close()
