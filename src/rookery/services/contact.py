"""One agent turns to another: it asks and waits, hands work over, or lets it know."""

import asyncio
from dataclasses import dataclass, replace
from typing import Literal

from rookery.domain import contact as words
from rookery.domain.approvals import Held
from rookery.domain.asks import DEEPEST, Ask
from rookery.domain.contact import Action
from rookery.domain.conversations import direct_conversation
from rookery.domain.errors import (
    AgentUnavailable,
    Conflict,
    IdempotencyConflict,
    InvalidRequest,
    NotPermitted,
    Overloaded,
    RateLimited,
    TooDeep,
)
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message, Priority, request_digest
from rookery.domain.principals import Principal
from rookery.domain.tasks import FOR_EVER, Task
from rookery.domain.traces import NO_CAUSE, Cause
from rookery.ports import Clock, Sent, Store, Transaction
from rookery.services.access import speaker
from rookery.services.asking import Asking, AskRules, depth_of
from rookery.services.holding import Holding, new_approval_id
from rookery.services.messaging import addressee, label
from rookery.services.notices import known_as
from rookery.services.pacing import Pacer
from rookery.services.permissions import standings
from rookery.services.posting import Letter, Posting
from rookery.services.tasks import Order, Tasks, current_task
from rookery.services.tracing import Tracing
from rookery.services.waiting import Gone

Status = Literal["answered", "delegated", "notified", "awaiting_approval"]

_MOST_ASKS = 100
"""Questions of one agent that may wait at once: each holds a request, and the hub serves so many and no more."""
_PUT_OFF = 1_000
"""Tasks of those who sleep, among which a repeated call looks for its own."""


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
        asking: Asking,
        tasks: Tasks,
        holding: Holding,
        tracing: Tracing,
        pacer: Pacer,
        rules: AskRules,
    ) -> None:
        self._store = store
        self._clock = clock
        self._posting = posting
        self._asking = asking
        self._tasks = tasks
        self._holding = holding
        self._tracing = tracing
        self._pacer = pacer
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
        name, answer = await self._asking.answer(by, begun.message_id, via, gone)
        return replace(begun, text=words.response(name, answer.content), answer=answer)

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
            if governed and len(tx.asks.open_by(sender)) >= _MOST_ASKS:
                raise Overloaded("questions of this agent that wait")
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
        # What goes to the operator is never kept from the operator.
        trace = self._tracing.exceeded(tx, cause) if governed and target != OPERATOR else None
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
        content = words.ask_request(known_as(tx, held.sender), held.content, held.context)
        message = self._post(tx, held, content, cause, now, by)
        ask = Ask(
            message_id=message.id, asker=held.sender, target=target, depth=held.depth, asked_at=now,
            deadline=now + held.timeout,
        )  # fmt: skip
        self._asking.begin(tx, ask, now=now, by=by)
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
        put_off = tx.tasks.due(FOR_EVER, _PUT_OFF)
        return next((task for task in put_off if task.request_id == reference), None)

    def _patience(self, wish: Wish) -> int:
        return min(wish.timeout or self._rules.patience, self._rules.patience)


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
