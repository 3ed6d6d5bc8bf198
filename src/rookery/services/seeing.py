"""It is proved that a message is before its recipient: the facts of it, and what begins with it."""

from rookery.domain.events import MessageRead, MessageSeen, TaskStarted, audience
from rookery.domain.principals import Principal
from rookery.ports import InboxItem, Transaction


def record_seen(tx: Transaction, item: InboxItem, now: int, by: Principal, via: str) -> None:
    """The facts of it; work that was handed over has begun when its assignee has it before it."""
    message, recipient = item.message, item.delivery.recipient
    seen = MessageSeen(message_id=message.id, recipient=recipient, via=via, at=now)
    tx.journal.record(seen, at=now, by=by, audience=audience(recipient, message.sender))
    read = MessageRead(message_id=message.id, recipient=recipient, by=by.id, at=now)
    tx.journal.record(read, at=now, by=by, audience=audience(recipient))
    if message.pattern == "delegate" and message.task is not None:
        _start_task(tx, message.task, recipient, by, now)


def _start_task(tx: Transaction, task_id: str, assignee: str, by: Principal, now: int) -> None:
    task = tx.tasks.get(task_id)
    if task is not None and task.assignee == assignee and task.status == "pending":
        started = task.started(now)
        tx.tasks.put(started)
        tx.journal.record(
            TaskStarted(task=started), at=now, by=by, audience=audience(task.requester, task.assignee)
        )
