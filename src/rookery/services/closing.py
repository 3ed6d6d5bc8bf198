"""Finishing: a delivery in an inbox, and with it the question or the task that it carries."""

from dataclasses import dataclass

from rookery.domain.channels import channel_of
from rookery.domain.contact import delegation_failed, delegation_result
from rookery.domain.conversations import direct_conversation
from rookery.domain.deliveries import Outcome
from rookery.domain.events import MessageCompleted, TaskEnded, audience
from rookery.domain.ids import HUB, OPERATOR
from rookery.domain.messages import Message
from rookery.domain.principals import THE_HUB, Principal
from rookery.domain.tasks import Task, TaskOutcome
from rookery.domain.traces import Cause, caused_by
from rookery.ports import InboxItem, Transaction
from rookery.services.answers import awaited_answer, end_ask
from rookery.services.notices import known_as
from rookery.services.posting import Letter, Posting
from rookery.services.seeing import record_seen
from rookery.services.statuses import settle


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    outcome: Outcome = "done"
    result: str | None = None
    error: str | None = None
    note: str | None = None


class Closing:
    def __init__(self, posting: Posting) -> None:
        self._posting = posting

    # -- deliveries ----------------------------------------------------------------------------------

    def close(
        self,
        tx: Transaction,
        item: InboxItem,
        how: Completion,
        *,
        by: Principal,
        owner: str | None,
        now: int,
        via: str = "rest",
    ) -> InboxItem:
        """Finish the delivery. A question that ends as dead has failed, and one with a result is answered by it;
        a task ends with the message that handed it over."""
        closed = complete_delivery(tx, item, how, by=by, owner=owner, now=now, via=via)
        self._end_with(tx, item.message, closed.delivery.recipient, how, by, now)
        return closed

    def follow_up(self, tx: Transaction, message_id: str, recipient: str, *, by: Principal, now: int) -> None:
        """The same for a delivery that was finished already, if it was."""
        delivery, message = tx.deliveries.get(message_id, recipient), tx.messages.get(message_id)
        if message is None or delivery is None or delivery.folder not in ("done", "dead"):
            return
        outcome: Outcome = "done" if delivery.folder == "done" else "dead"
        how = Completion(outcome=outcome, result=delivery.result, error=delivery.error, note=delivery.note)
        self._end_with(tx, message, recipient, how, by, now)

    def _end_with(
        self, tx: Transaction, message: Message, recipient: str, how: Completion, by: Principal, now: int
    ) -> None:
        match message.pattern:
            case "ask":
                self._end_question(tx, message, recipient, how, by, now)
            case "delegate" if message.task is not None:
                task = tx.tasks.get(message.task)
                if task is not None and task.open:
                    outcome: TaskOutcome = "completed" if how.outcome == "done" else "failed"
                    self._end(tx, task, outcome, how.result or how.note, how.error, by, now)
            case _:
                pass

    def _end_question(
        self, tx: Transaction, question: Message, target: str, how: Completion, by: Principal, now: int
    ) -> None:
        ask = awaited_answer(tx, question, target)
        if ask is None:
            return
        if how.outcome == "dead":
            end_ask(tx, ask.failed(now, how.error or how.note or "it gave no reason."), by, now)
        elif how.result:
            self._posting.post(
                tx,
                Letter(
                    sender=target,
                    recipient=ask.asker,
                    recipients=(ask.asker,),
                    type="reply",
                    content=how.result,
                    parent=question,
                    cause=caused_by(question),
                ),
                now=now,
                by=by,
            )

    # -- tasks ---------------------------------------------------------------------------------------

    def end_task(
        self,
        tx: Transaction,
        task: Task,
        outcome: TaskOutcome,
        *,
        by: Principal,
        now: int,
        result: str | None = None,
        error: str | None = None,
        tell: bool = True,
    ) -> Task:
        """The task ends, and the delivery that handed it over. Who requested it is told, unless it was the one to
        cancel it. What was cancelled takes the open parts of it along."""
        ended = self._end(tx, task, outcome, result, error, by, now, tell=tell)
        delivery = None if task.message_id is None else tx.deliveries.get(task.message_id, task.assignee)
        message = None if task.message_id is None else tx.messages.get(task.message_id)
        if delivery is not None and message is not None and delivery.folder in ("new", "cur"):
            how = Completion(outcome="done" if outcome == "completed" else "dead", result=result, error=error)
            closer = THE_HUB if by.id != task.assignee else by
            complete_delivery(
                tx, InboxItem(message, delivery), how, by=closer, owner=delivery.claimed_by or closer.id, now=now
            )
        return ended

    def _end(
        self,
        tx: Transaction,
        task: Task,
        outcome: TaskOutcome,
        result: str | None,
        error: str | None,
        by: Principal,
        now: int,
        *,
        tell: bool = True,
    ) -> Task:
        ended = task.ended(now, by.id, outcome, result=result, error=error)
        tx.tasks.put(ended)
        tx.journal.record(TaskEnded(task=ended), at=now, by=by, audience=audience(task.requester, task.assignee))
        if outcome == "cancelled":
            for part in tx.tasks.children(task.id):
                if part.open:
                    self.end_task(tx, part, "cancelled", by=by, now=now, error=error, tell=False)
            self._tell_assignee(tx, ended, by, now)
        if tell and not (outcome == "cancelled" and by.id == task.requester):
            self._bring_result(tx, ended, by, now)
        settle(tx, task.requester, now, by)
        return ended

    def _bring_result(self, tx: Transaction, task: Task, by: Principal, now: int) -> None:
        """In the transaction that ends the task, so that no crash can come between them."""
        requester = tx.agents.get(task.requester)
        if task.requester != OPERATOR and (requester is None or not requester.living):
            return
        name = known_as(tx, task.assignee)
        own = direct_conversation(task.requester, task.assignee)
        origin = _open_origin(tx, task, own)
        request = None if task.message_id is None else tx.messages.get(task.message_id)
        if task.status == "completed":
            content = delegation_result(name, task.id, task.result or "Done.")
            if origin != own and request is not None and task.result:
                self._say_in_own_conversation(tx, task, request, task.result, by, now)
        else:
            content = delegation_failed(name, task.id, task.error or _how_it_ended(tx, task))
        channel = channel_of(origin)
        self._posting.post(
            tx,
            Letter(
                sender=HUB,
                recipient=task.requester,
                recipients=(task.requester,),
                type="notice",
                content=content,
                pattern="result",
                priority=task.priority,
                cause=Cause(trace=task.traced_to, hops=task.hops + 1, task=task.parent),
                conversation=origin,
                channel=None if channel is None else tx.channels.get(channel),
            ),
            now=now,
            by=THE_HUB,
        )

    def _say_in_own_conversation(
        self, tx: Transaction, task: Task, request: Message, result: str, by: Principal, now: int
    ) -> None:
        """The two of them keep it, too; it lies in no inbox, for it comes where the work was."""
        letter = Letter(
            sender=task.assignee,
            recipient=task.requester,
            recipients=(),
            type="reply",
            content=result,
            parent=request,
            cause=Cause(trace=task.traced_to, hops=task.hops + 1, task=task.id),
        )
        self._posting.post(tx, letter, now=now, by=by)

    def _tell_assignee(self, tx: Transaction, task: Task, by: Principal, now: int) -> None:
        assignee = tx.agents.get(task.assignee)
        if by.id == task.assignee or task.message_id is None or assignee is None or not assignee.living:
            return
        letter = Letter(
            sender=HUB,
            recipient=task.assignee,
            recipients=(task.assignee,),
            type="notice",
            content=f"{task.id} was cancelled by {known_as(tx, by.id)}; stop working on it.",
            cause=Cause(trace=task.traced_to, hops=task.hops, task=task.id),
        )
        self._posting.post(tx, letter, now=now, by=THE_HUB)


def complete_delivery(
    tx: Transaction,
    item: InboxItem,
    how: Completion,
    *,
    by: Principal,
    owner: str | None,
    now: int,
    via: str = "rest",
) -> InboxItem:
    """`owner` is whose claim is being finished; somebody else's claim is in the way. To finish a message is to
    have seen it, unless it is the hub that buries it."""
    finisher = owner or by.id
    before = item.delivery
    finished_unseen = not before.read and by is not THE_HUB
    if finished_unseen:
        before = before.seen(now, via)
    delivery = before.completed(now, finisher, how.outcome, result=how.result, error=how.error, note=how.note)
    tx.deliveries.save(delivery)
    if finished_unseen:
        record_seen(tx, item, now, by, via)
    fact = MessageCompleted(
        message_id=item.message.id, recipient=delivery.recipient, by=finisher, outcome=how.outcome,
        result=how.result, error=how.error, note=how.note, at=now,
    )  # fmt: skip
    tx.journal.record(fact, at=now, by=by, audience=audience(delivery.recipient, item.message.sender))
    return InboxItem(item.message, delivery)


def _open_origin(tx: Transaction, task: Task, own: str) -> str:
    """Where the requester was working, if it can still be told there."""
    name = channel_of(task.origin)
    if name is None:
        return task.origin
    channel = tx.channels.get(name)
    reachable = channel is not None and channel.archived_at is None and task.requester in channel.members
    return task.origin if reachable else own


def _how_it_ended(tx: Transaction, task: Task) -> str:
    if task.status == "cancelled":
        return f"Cancelled by {known_as(tx, task.ended_by or HUB)}."
    return "It gave no reason."
