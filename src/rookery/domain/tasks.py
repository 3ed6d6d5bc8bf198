"""Tasks: work that was handed over."""

from dataclasses import dataclass, replace
from typing import Literal

from rookery.domain.errors import TaskEndedAlready
from rookery.domain.messages import Priority

TaskStatus = Literal["pending", "active", "completed", "failed", "cancelled"]
TaskOutcome = Literal["completed", "failed", "cancelled"]

OPEN: tuple[TaskStatus, ...] = ("pending", "active")
_LONGEST_TITLE = 80

FOR_EVER = 2**62
"""The moment at which one wakes who sleeps until it is woken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """`parent` is the requester's own task that this is a part of. `origin` is the conversation in which the
    requester was working: the result goes there. `request_id` is the id that the request will have, `message_id`
    the same once it was posted; a task whose assignee sleeps is not posted `not_before` that moment. `trace` and
    `hops` are those of the request.
    """

    id: str
    requester: str
    assignee: str
    request: str
    context: str | None = None
    parent: str | None = None
    priority: Priority = "normal"
    status: TaskStatus = "pending"
    origin: str
    trace: str | None = None
    hops: int = 0
    request_id: str | None = None
    message_id: str | None = None
    not_before: int | None = None
    created_at: int
    started_at: int | None = None
    ended_at: int | None = None
    ended_by: str | None = None
    result: str | None = None
    error: str | None = None

    @property
    def open(self) -> bool:
        return self.status in OPEN

    @property
    def title(self) -> str:
        """The request's first line, as much of it as fits a list."""
        line = self.request.strip().partition("\n")[0].strip()
        return line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1]}…"

    @property
    def traced_to(self) -> str | None:
        """The message that set it off; the request itself if that was the first."""
        return self.trace or self.message_id

    def posted(self, message_id: str) -> "Task":
        return replace(self, message_id=message_id, not_before=None)

    def started(self, at: int) -> "Task":
        return self if self.status != "pending" else replace(self, status="active", started_at=at)

    def ended(
        self, at: int, by: str, outcome: TaskOutcome, *, result: str | None = None, error: str | None = None
    ) -> "Task":
        """It ends once."""
        if not self.open:
            raise TaskEndedAlready(self.id, self.status)
        return replace(self, status=outcome, ended_at=at, ended_by=by, result=result, error=error)


def task_id(number: int) -> str:
    return f"task-{number}"
