"""Asking: a question is open until its answer comes, its time is over, or nobody waits for it any more."""

from collections.abc import Sequence
from dataclasses import dataclass

from rookery.domain.asks import Ask
from rookery.domain.errors import AskFailed, AskTimedOut
from rookery.domain.events import AskOpened, audience
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message
from rookery.domain.principals import THE_HUB, Principal
from rookery.domain.tasks import FOR_EVER
from rookery.domain.traces import NO_CAUSE, Cause
from rookery.ports import Clock, InboxItem, Store, Transaction
from rookery.services.answers import end_ask
from rookery.services.notices import Notices, known_as
from rookery.services.pacing import Pacer
from rookery.services.seeing import record_seen
from rookery.services.statuses import at_rest, with_status
from rookery.services.waiting import Gone, Waiting

_LISTED = 1_000
_SWEPT_AT_ONCE = 200
_SLACK = 2_000
"""Milliseconds that a call which waits has to end its ask itself, before the sweep does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRules:
    """`patience` is how many milliseconds an ask waits at most, and by default. A caller that left has `grace` to
    come back."""

    patience: int = 120_000
    grace: int = 10_000


class Asking:
    def __init__(self, store: Store, clock: Clock, notices: Notices, pacer: Pacer, waiting: Waiting) -> None:
        self._store = store
        self._clock = clock
        self._notices = notices
        self._pacer = pacer
        self._waiting = waiting

    async def open(self, by: Principal) -> Sequence[Ask]:
        """Those that wait: all for the operator; an agent sees those that it asked or is asked."""

        def look(tx: Transaction) -> Sequence[Ask]:
            if by.is_operator:
                return tx.asks.overdue(FOR_EVER, _LISTED)
            return [*tx.asks.open_by(by.id), *tx.asks.open_to(by.id)]

        return await self._store.read(look)

    def begin(self, tx: Transaction, ask: Ask, *, now: int, by: Principal) -> None:
        """The question was posted just before. It is urgent enough to wake one who sleeps: somebody waits."""
        target = tx.agents.get(ask.target)
        if target is not None and target.status == "sleeping":
            with_status(tx, target, at_rest(tx, target.id), now, by)
        tx.asks.put(ask)
        tx.journal.record(AskOpened(ask=ask), at=now, by=by, audience=audience(ask.asker, ask.target))

    async def answer(self, by: Principal, message_id: str, via: str, gone: Gone | None) -> tuple[str, Message]:
        """Wait for the answer, which its asker then has before it, and the name of whoever gave it. Raises
        AskTimedOut, AskFailed, CallerGone and HubStopping."""

        async def look() -> Ask | None:
            ask = await self._store.read(lambda tx: tx.asks.get(message_id))
            return None if ask is not None and ask.open else ask or _lost(message_id)

        asked = await self._store.read(lambda tx: tx.asks.get(message_id)) or _lost(message_id)
        left = max(0, asked.deadline - self._clock.now()) / 1000
        ended = await self._waiting.until(
            message_id, look, timeout=left, gone=gone, when_left=lambda: self._abandon(message_id)
        )
        if ended is None:
            ended = await self._store.write(lambda tx: self._time_out(tx, message_id))
        return await self._store.write(lambda tx: self._answer_to(tx, by, ended, via))

    async def end_overdue(self) -> int:
        """Asks that nobody waits for in a call: after a restart, or after an approval. Who asked is told."""

        def late(tx: Transaction) -> list[Ask]:
            overdue = tx.asks.overdue(self._clock.now() - _SLACK, _SWEPT_AT_ONCE)
            return [ask for ask in overdue if not self._waiting.is_awaited(ask.message_id)]

        def work(tx: Transaction) -> int:
            now = self._clock.now()
            asks = late(tx)
            for ask in asks:
                end_ask(tx, ask.timed_out(now), THE_HUB, now)
                told = AskTimedOut(known_as(tx, ask.target), ask.patience).message
                self._notices.tell(tx, ask.asker, now, f"Error: {told}", _cause_of(tx, ask))
            return len(asks)

        return await self._store.write(work) if await self._store.read(late) else 0

    def _time_out(self, tx: Transaction, message_id: str) -> Ask:
        """Unless the answer came in the last moment."""
        ask = tx.asks.get(message_id) or _lost(message_id)
        if not ask.open:
            return ask
        now = self._clock.now()
        self._pacer.step_back(tx, ask.asker, ask.target, ask.asked_at)
        return end_ask(tx, ask.timed_out(now), THE_HUB, now)

    async def _abandon(self, message_id: str) -> None:
        """Whoever asked is gone; an answer that still comes lies in the inbox."""

        def work(tx: Transaction) -> None:
            ask = tx.asks.get(message_id)
            if ask is not None and ask.open:
                now = self._clock.now()
                end_ask(tx, ask.abandoned(now), THE_HUB, now)

        await self._store.write(work)

    def _answer_to(self, tx: Transaction, by: Principal, ask: Ask, via: str) -> tuple[str, Message]:
        name = known_as(tx, ask.target)
        match ask.state:
            case "answered" if ask.answer_id is not None:
                answer = tx.messages.get(ask.answer_id)
                if answer is None:
                    raise AskFailed(name, "its answer was removed.")
                self._mark_seen(tx, by, answer, ask.asker, via)
                return name, answer
            case "timed_out":
                raise AskTimedOut(name, ask.patience)
            case "abandoned":
                raise AskFailed(name, "the question was given up; ask again.")
            case _:
                raise AskFailed(name, ask.error or "the question was removed.")

    def _mark_seen(self, tx: Transaction, by: Principal, answer: Message, asker: str, via: str) -> None:
        """It is the result of a call, in the midst of what the asker is at: no cause of what follows."""
        delivery = tx.deliveries.get(answer.id, asker)
        if delivery is not None and not delivery.read:
            now = self._clock.now()
            tx.deliveries.save(delivery.seen(now, via))
            record_seen(tx, InboxItem(answer, delivery), now, by, via)


def depth_of(tx: Transaction, party: str) -> int:
    """How many questions deep a party is: the deepest of those that wait for its answer."""
    return 0 if party == OPERATOR else max((ask.depth for ask in tx.asks.open_to(party)), default=0)


def _cause_of(tx: Transaction, ask: Ask) -> Cause:
    question = tx.messages.get(ask.message_id)
    if question is None:
        return NO_CAUSE
    return Cause(trace=question.traced_to, hops=question.hops, task=question.task)


def _lost(message_id: str) -> Ask:
    """In place of an ask that was pruned away while somebody waited."""
    return Ask(message_id=message_id, asker="", target="", depth=0, asked_at=0, deadline=0, state="failed")
