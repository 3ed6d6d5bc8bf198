"""All services over one store, and what happens by itself as time goes by."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from rookery.domain.approvals import ApprovalRules
from rookery.domain.errors import RookeryError
from rookery.domain.events import AgentDeleted, Entry, TokenRevoked
from rookery.domain.ids import MessageIds
from rookery.domain.pacing import PacingRules
from rookery.domain.traces import TraceRules
from rookery.ports import Clock, Store
from rookery.services.access import Access, RateRules
from rookery.services.aftermath import Aftermath
from rookery.services.agents import SIGN_EVERY, Agents
from rookery.services.approvals import Approvals
from rookery.services.asking import Asking, AskRules
from rookery.services.channels import Channels
from rookery.services.closing import Closing
from rookery.services.contact import Contact
from rookery.services.departure import Departure
from rookery.services.expiry import ClaimRules, Expiry
from rookery.services.holding import Holding
from rookery.services.inbox import Inbox
from rookery.services.journal import Journal
from rookery.services.messaging import Messaging
from rookery.services.notices import Notices
from rookery.services.pacing import Pacer
from rookery.services.permissions import Permissions
from rookery.services.posting import Posting
from rookery.services.relay import Relay
from rookery.services.tasks import Tasks
from rookery.services.tracing import Tracing
from rookery.services.waiting import Waiting

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRules:
    """Everything about behaviour that the operator may set; times in milliseconds."""

    guarded: bool = True
    rate: RateRules = field(default_factory=RateRules)
    pacing: PacingRules = field(default_factory=PacingRules)
    claims: ClaimRules = field(default_factory=ClaimRules)
    asks: AskRules = field(default_factory=AskRules)
    approvals: ApprovalRules = field(default_factory=ApprovalRules)
    traces: TraceRules = field(default_factory=TraceRules)
    silent_after: int = 60_000
    sweep_every: int = 1_000
    socket_buffer: int = 1024
    hand_off_wait: int = 100

    @property
    def signs_every(self) -> int:
        """How often those who are there must be noted, so that none of them passes for silent."""
        return min(SIGN_EVERY, self.silent_after // 3, self.claims.silence // 3)


class Hub:
    def __init__(self, store: Store, clock: Clock, rules: HubRules) -> None:
        self.store = store
        self.clock = clock
        self.rules = rules
        posting = Posting(MessageIds(random.SystemRandom().getrandbits))
        notices, closing = Notices(posting), Closing(posting)
        tracing, pacer, holding = Tracing(rules.traces), Pacer(rules.pacing), Holding(rules.approvals)
        self.relay = Relay(store, clock, capacity=rules.socket_buffer, hand_off_wait=rules.hand_off_wait / 1000)
        self.waiting = Waiting(self.relay, grace=rules.asks.grace / 1000)
        self.access = Access(store, clock, guarded=rules.guarded, rate=rules.rate)
        self.agents = Agents(store, clock, self.access, Departure(closing), sign_every=rules.signs_every)
        self.inbox = Inbox(store, clock, closing)
        self.expiry = Expiry(store, clock, notices, closing, rules.claims)
        self.messaging = Messaging(store, clock, posting, self.relay, holding, tracing, pacer)
        self.channels = Channels(store, clock)
        self.permissions = Permissions(store, clock)
        self.tasks = Tasks(store, clock, posting, closing)
        self.asking = Asking(store, clock, notices, pacer, self.waiting)
        self.contact = Contact(
            store, clock, posting=posting, asking=self.asking, tasks=self.tasks, holding=holding, tracing=tracing,
            pacer=pacer, rules=rules.asks,
        )  # fmt: skip
        self.approvals = Approvals(
            store, clock, access=self.access, holding=holding, contact=self.contact, messaging=self.messaging,
            notices=notices, waiting=self.waiting,
        )  # fmt: skip
        self.aftermath = Aftermath(store, clock, closing, self.relay)
        self.journal = Journal(store, self.relay, self.waiting)
        self.started_at = 0
        self._sweeping: asyncio.Task[None] | None = None
        self._last_roll_call = 0

    async def start(self) -> None:
        """Open the store and begin to sweep. Raises what `Store.open` raises."""
        await self.store.open()
        self.started_at = self.clock.now()
        await self.relay.start()
        self.relay.watch(self._token_ended)
        await self.aftermath.catch_up()
        self._sweeping = asyncio.get_running_loop().create_task(self._sweep_for_ever())

    async def stop(self) -> None:
        """Nothing acknowledged is lost: works that wait are finished before the store closes."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)
            self._sweeping = None
        await self.waiting.stop()
        await self.agents.settle()
        await self.aftermath.settle()
        await self.relay.stop()
        await self.store.close()

    async def sweep(self) -> None:
        """What time does. Each step goes on when another fails."""
        for step in (
            self._call_the_roll,
            self.expiry.expire_claims,
            self.expiry.expire_messages,
            self.asking.end_overdue,
            self.approvals.expire,
            self.agents.wake_those_who_slept_enough,
            self.tasks.post_put_off,
            lambda: self.agents.mark_silent(self.rules.silent_after),
        ):
            await _guarded(step)

    async def _call_the_roll(self) -> None:
        now = self.clock.now()
        if now - self._last_roll_call >= self.rules.signs_every:
            self._last_roll_call = now
            await self.agents.still_here(self.relay.listeners())

    async def _sweep_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self.rules.sweep_every / 1000)
            await self.sweep()

    def _token_ended(self, entry: Entry) -> None:
        if isinstance(entry.fact, TokenRevoked | AgentDeleted):
            self.access.forget_tokens()


async def _guarded(step: Callable[[], Awaitable[object]]) -> None:
    try:
        await step()
    except RookeryError as refusal:
        _log.warning("the sweep goes on without a step: %s", refusal.message)
    except Exception:
        # One failing step must not stop the others, nor the sweeps to come.
        _log.exception("a step of the sweep failed")
