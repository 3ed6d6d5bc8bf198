"""One agent turns to another: it asks and waits, hands work over, or lets it know."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rookery.domain import contact as words
from rookery.domain.approvals import Held
from rookery.domain.asks import DEEPEST, Ask
from rookery.domain.contact import Action
from rookery.domain.conversations import direct_conversation
from rookery.domain.errors import (
    AgentUnavailable,
    AskFailed,
    AskTimedOut,
    Conflict,
    IdempotencyConflict,
    InvalidRequest,
    NotPermitted,
    RateLimited,
    TooDeep,
)
from rookery.domain.events import AskOpened, audience
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message, Priority, request_digest
from rookery.domain.principals import THE_HUB, Principal
from rookery.domain.tasks import FOR_EVER, Task
from rookery.domain.traces import NO_CAUSE, Cause
from rookery.ports import Clock, InboxItem, Sent, Store, Transaction
from rookery.services.access import speaker
from rookery.services.answers import end_ask
from rookery.services.closing import record_seen
from rookery.services.holding import Holding, new_approval_id
from rookery.services.messaging import addressee, label
from rookery.services.notices import Notices, known_as
from rookery.services.pacing import Pacer
from rookery.services.permissions import standings
from rookery.services.posting import Letter, Posting
from rookery.services.statuses import at_rest, with_status
from rookery.services.tasks import Order, Tasks, current_task
from rookery.services.tracing import Tracing
from rookery.services.waiting import Gone, Waiting

Status = Literal["answered", "delegated", "notified", "awaiting_approval"]

_SWEPT_AT_ONCE = 200
_LISTED = 1_000
_SLACK = 2_000
"""Milliseconds that a call which waits has to end its ask itself, before the sweep does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRules:
    """`patience` is how many milliseconds an ask waits at most, and by default. A caller that left has `grace` to
    come back."""

    patience: int = 120_000
    grace: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants of whom. `between_models` puts the pair under back-off. `timeout` is an ask's, in
    milliseconds. The same wish under the same key is carried out once, and its answer told again."""

    action: Action
    to: str
    message: str
    context: str | None = None
    priority: Priority = "normal"
    sender: str | None = None
    timeout: int | None = None
    task: str | None = None
    idempotency_key: str | None = None
    between_models: bool = False

    def digest(self, sender: str) -> bytes:
        return request_digest(sender, self.action, self.to, self.message, self.context, self.priority, self.task)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """`text` is what the caller reads. The rest says the same to a program."""

    status: Status
    text: str
    target: str
    message_id: str | None = None
    task: Task | None = None
    answer: Message | None = None
    held: str | None = None


class Contact:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        posting: Posting,
        tasks: Tasks,
        notices: Notices,
        holding: Holding,
        tracing: Tracing,
        pacer: Pacer,
        waiting: Waiting,
        rules: AskRules,
    ) -> None:
        self._store = store
        self._clock = clock
        self._posting = posting
        self._tasks = tasks
        self._notices = notices
        self._holding = holding
        self._tracing = tracing
        self._pacer = pacer
        self._waiting = waiting
        self._rules = rules

    # -- what callers do -----------------------------------------------------------------------------

    async def contact(self, by: Principal, wish: Wish, *, via: str = "rest", gone: Gone | None = None) -> Told:
        """Carry out the wish; an ask returns with its answer.

        Raises AgentNotFound, AgentUnavailable for an ask or a delegation to one who is offline, NotPermitted,
        TooDeep, RateLimited, TraceStopped; an ask also AskTimedOut, AskFailed and, when `gone` is set before the
        answer came, CallerGone. What a rule or a mode leaves to the operator is kept until the approval.
        """
        begun = await self._begun(by, wish, gone)
        if wish.action != "ask" or begun.held is not None or begun.message_id is None:
            return begun
        return await self._answered(by, begun.message_id, via, gone)

    async def asks(self, by: Principal) -> Sequence[Ask]:
        """Those that wait: all for the operator; an agent sees those that it asked or is asked."""

        def look(tx: Transaction) -> Sequence[Ask]:
            if by.is_operator:
                return tx.asks.overdue(FOR_EVER, _LISTED)
            return [*tx.asks.open_by(by.id), *tx.asks.open_to(by.id)]

        return await self._store.read(look)

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

    # -- beginning -----------------------------------------------------------------------------------

    async def _begun(self, by: Principal, wish: Wish, gone: Gone | None) -> Told:
        """An ask waits its turn in the pair's back-off, for its caller waits anyway; others are told to."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._patience(wish) / 1000
        while True:
            try:
                return await self._store.write(lambda tx: self._begin(tx, by, wish))
            except RateLimited as early:
                pause = early.retry_after_ms / 1000
                if wish.action != "ask" or loop.time() + pause > until or (gone is not None and gone.is_set()):
                    raise
                await asyncio.sleep(pause)

    def _begin(self, tx: Transaction, by: Principal, wish: Wish) -> Told:
        sender = speaker(tx, by, wish.sender)
        target = addressee(tx, wish.to)
        name = known_as(tx, target)
        key = wish.idempotency_key
        if key is not None:
            earlier = tx.messages.sent_under(sender, key)
            if earlier is not None:
                if earlier.digest != wish.digest(sender):
                    raise IdempotencyConflict(key)
                return self._again(tx, earlier, wish, target, name)
        if target == sender:
            raise InvalidRequest("You cannot contact yourself; name another agent.", agent=name)
        if wish.action == "delegate" and target == OPERATOR:
            raise InvalidRequest("The operator takes no tasks; ask or notify instead.")
        now = self._clock.now()
        governed = sender != OPERATOR and (by.is_agent or wish.between_models)
        standing = standings(tx, sender)(target) if governed and by.is_agent else "allowed"
        if standing == "blocked":
            raise NotPermitted(name)
        if wish.action != "notify":
            self._require_present(tx, target, name)
        depth = 0
        if wish.action == "ask":
            depth = depth_of(tx, sender) + 1
            if depth > DEEPEST:
                raise TooDeep(DEEPEST)
        if wish.between_models:
            wait = self._pacer.step(tx, sender, target, now)
            if wait:
                raise RateLimited(wait, f"{known_as(tx, sender)!r} to {name!r}")
        told = self._weighed(tx, by, wish, sender, target, depth, governed, standing == "needs_approval", now)
        if key is not None:
            reference = told.message_id or (told.task.id if told.task else "")
            tx.messages.remember(sender, key, Sent(message_id=reference, digest=wish.digest(sender)))
        return told

    def _weighed(
        self,
        tx: Transaction,
        by: Principal,
        wish: Wish,
        sender: str,
        target: str,
        depth: int,
        governed: bool,
        asks: bool,
        now: int,
    ) -> Told:
        cause = self._tracing.cause(tx, sender, None, now) if governed else NO_CAUSE
        noted = self._tracing.attention(tx, sender, now)
        held = Held(
            message_id=self._posting.new_id(now),
            approval="",
            sender=sender,
            to=target,
            content=wish.message,
            pattern=wish.action,
            context=wish.context,
            priority=wish.priority,
            trace=cause.trace,
            hops=cause.hops,
            task=current_task(tx, sender, wish.task or cause.task),
            depth=depth,
            timeout=self._patience(wish),
            origin=direct_conversation(sender, target) if noted is None else noted.conversation,
        )
        trace = self._tracing.exceeded(tx, cause) if governed else None
        if not asks and trace is None:
            return self.carry_out(tx, held, now=now, by=by)
        if asks:
            held = replace(held, approval=new_approval_id(tx))
            self._holding.hold(tx, by, held, "contact_agent", _shown(wish, known_as(tx, target)), now)
        elif trace is not None:
            held = replace(held, approval=trace.question or new_approval_id(tx))
            self._holding.hold_with_trace(tx, by, held, trace, now)
        return _waiting_for_approval(held, with_trace=not asks)

    def carry_out(self, tx: Transaction, held: Held, *, now: int, by: Principal) -> Told:
        """Do what was wished, now that nothing is in the way. Raises AgentUnavailable and AgentNotFound before
        anything is changed."""
        target = addressee(tx, held.to)
        name = known_as(tx, target)
        cause = Cause(trace=held.trace, hops=held.hops, task=held.task)
        if held.pattern == "notify":
            content = words.notification(known_as(tx, held.sender), held.content, held.context)
            message = self._post(tx, held, content, cause, now, by)
            return Told(status="notified", text=words.notified(name), target=target, message_id=message.id)
        self._require_present(tx, target, name)
        if held.pattern == "delegate":
            order = Order(
                requester=held.sender, assignee=target, request=held.content, context=held.context,
                priority=held.priority, parent=held.task, message_id=held.message_id, cause=cause,
                origin=held.origin or direct_conversation(held.sender, target),
            )  # fmt: skip
            task = self._tasks.open(tx, order, now=now, by=by)
            return Told(
                status="delegated", text=words.delegated(name, task.id), target=target,
                message_id=task.message_id, task=task,
            )  # fmt: skip
        self._wake(tx, target, now, by)
        content = words.ask_request(known_as(tx, held.sender), held.content, held.context)
        message = self._post(tx, held, content, cause, now, by)
        ask = Ask(
            message_id=message.id, asker=held.sender, target=target, depth=held.depth, asked_at=now,
            deadline=now + held.timeout,
        )  # fmt: skip
        tx.asks.put(ask)
        tx.journal.record(AskOpened(ask=ask), at=now, by=by, audience=audience(ask.asker, ask.target))
        return Told(status="answered", text="", target=target, message_id=message.id)

    def _post(self, tx: Transaction, held: Held, content: str, cause: Cause, now: int, by: Principal) -> Message:
        letter = Letter(
            sender=held.sender,
            recipient=held.to,
            recipients=(held.to,),
            type="direct",
            content=content,
            metadata=label(known_as(tx, held.sender)),
            pattern=held.pattern,
            priority=held.priority,
            cause=cause,
            message_id=held.message_id,
        )
        return self._posting.post(tx, letter, now=now, by=by)

    def _require_present(self, tx: Transaction, target: str, name: str) -> None:
        agent = tx.agents.get(target)
        if agent is not None and not agent.online:
            raise AgentUnavailable(name)

    def _wake(self, tx: Transaction, target: str, now: int, by: Principal) -> None:
        """A question is urgent enough: somebody waits."""
        agent = tx.agents.get(target)
        if agent is not None and agent.status == "sleeping":
            with_status(tx, agent, at_rest(tx, agent.id), now, by)

    def _again(self, tx: Transaction, earlier: Sent, wish: Wish, target: str, name: str) -> Told:
        """What was told the first time; for an ask, what there is to wait for."""
        held = tx.held.get(earlier.message_id)
        if held is not None:
            approval = tx.approvals.get(held.approval)
            return _waiting_for_approval(held, with_trace=approval is not None and approval.kind == "trace")
        message = tx.messages.get(earlier.message_id)
        task = self._task_under(tx, earlier.message_id, message)
        if wish.action == "delegate" and task is not None:
            text = words.delegated(name, task.id)
            return Told(status="delegated", text=text, target=target, message_id=task.message_id, task=task)
        if message is None:
            raise Conflict("This call was held for the operator, who did not let it through.")
        text = words.notified(name) if wish.action == "notify" else ""
        status: Status = "notified" if wish.action == "notify" else "answered"
        return Told(status=status, text=text, target=target, message_id=message.id)

    def _task_under(self, tx: Transaction, reference: str, message: Message | None) -> Task | None:
        """The task that a key stands for: by its own id, by its request, or by the request that is yet to come."""
        if message is not None:
            return None if message.task is None else tx.tasks.get(message.task)
        named = tx.tasks.get(reference)
        if named is not None:
            return named
        put_off = tx.tasks.due(FOR_EVER, _LISTED)
        return next((task for task in put_off if task.request_id == reference), None)

    # -- waiting for the answer ----------------------------------------------------------------------

    async def _answered(self, by: Principal, message_id: str, via: str, gone: Gone | None) -> Told:
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
        return await self._store.write(lambda tx: self._told(tx, by, ended, via))

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

    def _told(self, tx: Transaction, by: Principal, ask: Ask, via: str) -> Told:
        """The answer, which its asker now has before it; or why there is none."""
        name = known_as(tx, ask.target)
        match ask.state:
            case "answered" if ask.answer_id is not None:
                answer = tx.messages.get(ask.answer_id)
                if answer is None:
                    raise AskFailed(name, "its answer was removed.")
                self._mark_seen(tx, by, answer, ask.asker, via)
                text = words.response(name, answer.content)
                return Told(
                    status="answered", text=text, target=ask.target, message_id=ask.message_id, answer=answer
                )
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

    def _patience(self, wish: Wish) -> int:
        return min(wish.timeout or self._rules.patience, self._rules.patience)


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


def _shown(wish: Wish, name: str) -> list[tuple[str, str]]:
    """What the operator is to judge, in the caller's own words."""
    shown = [("action", wish.action), ("agent", name), ("message", wish.message)]
    if wish.context:
        shown.append(("context", wish.context))
    if wish.action == "delegate":
        shown.append(("priority", wish.priority))
    return shown


def _waiting_for_approval(held: Held, *, with_trace: bool) -> Told:
    return Told(
        status="awaiting_approval", text=words.PAUSED if with_trace else words.WAITING_FOR_APPROVAL,
        target=held.to, message_id=held.message_id, held=held.approval,
    )  # fmt: skip
