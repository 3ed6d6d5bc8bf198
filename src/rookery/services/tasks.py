"""Work that is handed over: looking at it, finishing it, taking it back."""

from collections.abc import Sequence
from dataclasses import dataclass

from rookery.domain.contact import delegate_request
from rookery.domain.errors import Forbidden, InvalidRequest, TaskNotFound
from rookery.domain.events import TaskOpened, TaskPosted, audience
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Priority
from rookery.domain.principals import THE_HUB, Principal
from rookery.domain.tasks import FOR_EVER, Task, TaskOutcome, task_id
from rookery.domain.traces import Cause
from rookery.ports import Clock, Store, Transaction
from rookery.services.access import agent_named
from rookery.services.closing import Closing
from rookery.services.notices import known_as
from rookery.services.posting import Letter, Posting
from rookery.services.statuses import settle

_POSTED_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Work as its requester wants it done. `parent` is the requester's own task that it is a part of."""

    requester: str
    assignee: str
    request: str
    context: str | None
    priority: Priority
    parent: str | None
    origin: str
    cause: Cause
    message_id: str | None = None


class Tasks:
    def __init__(self, store: Store, clock: Clock, posting: Posting, closing: Closing) -> None:
        self._store = store
        self._clock = clock
        self._posting = posting
        self._closing = closing

    # -- looking -------------------------------------------------------------------------------------

    async def recent(
        self, by: Principal, *, agent: str | None = None, open_only: bool = False, limit: int = 200
    ) -> Sequence[Task]:
        """All for the operator, or one agent's; an agent sees those that it requested or is assigned."""

        def look(tx: Transaction) -> Sequence[Task]:
            party = None if agent is None else OPERATOR if agent == OPERATOR else agent_named(tx, agent).id
            if by.is_agent:
                if party not in (None, by.id):
                    raise Forbidden("An agent sees its own tasks; the operator sees everybody's.")
                party = by.id
            return tx.tasks.recent(party=party, open_only=open_only, limit=limit)

        return await self._store.read(look)

    async def get(self, by: Principal, wanted: str) -> tuple[Task, Sequence[Task]]:
        """The task and its parts."""

        def look(tx: Transaction) -> tuple[Task, Sequence[Task]]:
            task = _visible(tx, by, wanted)
            return task, tx.tasks.children(task.id)

        return await self._store.read(look)

    # -- finishing -----------------------------------------------------------------------------------

    async def complete(
        self,
        by: Principal,
        wanted: str | None,
        outcome: TaskOutcome = "completed",
        *,
        result: str | None = None,
        error: str | None = None,
    ) -> Task:
        """The assignee says how it ended; the requester gets it as a message, once. Without a name it is the
        assignee's one open task. Saying the same twice is fine."""

        def work(tx: Transaction) -> Task:
            task = _visible(tx, by, wanted) if wanted else _only_open(tx, by)
            if not by.is_operator and by.id != task.assignee:
                raise Forbidden(f"{task.id} is {known_as(tx, task.assignee)}'s to finish; you may cancel it.")
            if (task.status, task.result, task.error) == (outcome, result, error):
                return task
            now = self._clock.now()
            return self._closing.end_task(tx, task, outcome, by=by, now=now, result=result, error=error)

        return await self._store.write(work, frees=True)

    async def cancel(self, by: Principal, wanted: str, reason: str | None = None) -> Task:
        """Take it back, with all open parts of it. For whoever requested it, and the operator. Cancelling again
        changes nothing."""

        def work(tx: Transaction) -> Task:
            task = _visible(tx, by, wanted)
            if not by.is_operator and by.id != task.requester:
                raise Forbidden(f"Only who requested {task.id} and the operator may cancel it.")
            if task.status == "cancelled":
                return task
            return self._closing.end_task(tx, task, "cancelled", by=by, now=self._clock.now(), error=reason)

        return await self._store.write(work, frees=True)

    # -- handing over --------------------------------------------------------------------------------

    def open(self, tx: Transaction, order: Order, *, now: int, by: Principal) -> Task:
        """The request is posted at once, unless the assignee sleeps: then when it wakes."""
        assignee = tx.agents.get(order.assignee)
        asleep_until = None
        if assignee is not None and assignee.status == "sleeping":
            asleep_until = assignee.sleeping_until or FOR_EVER
        task = Task(
            id=task_id(tx.tasks.next_number()),
            requester=order.requester,
            assignee=order.assignee,
            request=order.request,
            context=order.context,
            parent=order.parent,
            priority=order.priority,
            origin=order.origin,
            trace=order.cause.trace,
            hops=order.cause.hops,
            not_before=asleep_until,
            request_id=order.message_id,
            created_at=now,
        )
        tx.tasks.put(task)
        reached = audience(task.requester, task.assignee)
        tx.journal.record(TaskOpened(task=task), at=now, by=by, audience=reached)
        if asleep_until is None:
            task = self._post(tx, task, now, by)
        settle(tx, task.requester, now, by)
        return task

    async def post_put_off(self) -> int:
        """Those whose assignee is awake again, for whatever reason, or was to be by now."""

        def waiting(tx: Transaction) -> list[Task]:
            now = self._clock.now()
            return [each for each in tx.tasks.due(FOR_EVER, _POSTED_AT_ONCE) if _may_be_posted(tx, each, now)]

        def work(tx: Transaction) -> int:
            tasks = waiting(tx)
            for task in tasks:
                self._post(tx, task, self._clock.now(), THE_HUB)
            return len(tasks)

        return await self._store.write(work) if await self._store.read(waiting) else 0

    def _post(self, tx: Transaction, task: Task, now: int, by: Principal) -> Task:
        requester = known_as(tx, task.requester)
        letter = Letter(
            sender=task.requester,
            recipient=task.assignee,
            recipients=(task.assignee,),
            type="direct",
            content=delegate_request(requester, task.request, task.context, task.priority, task.id),
            metadata=f'{{"type":"inter-agent","sender":"{requester}"}}',
            pattern="delegate",
            priority=task.priority,
            cause=Cause(trace=task.trace, hops=task.hops, task=task.id),
            message_id=task.request_id,
        )
        posted = task.posted(self._posting.post(tx, letter, now=now, by=by).id)
        tx.tasks.put(posted)
        reached = audience(task.requester, task.assignee)
        tx.journal.record(TaskPosted(task=posted), at=now, by=by, audience=reached)
        return posted


def current_task(tx: Transaction, agent: str, given: str | None) -> str | None:
    """The task that the agent is working on: that of the message it was given last if it is its own, else the one
    it was assigned last."""
    if agent == OPERATOR:
        return None
    if given is not None:
        task = tx.tasks.get(given)
        if task is not None and task.open and task.assignee == agent:
            return task.id
    assigned = tx.tasks.open_assigned_to(agent)
    active = [task for task in assigned if task.status == "active"]
    return active[-1].id if active else None


def _may_be_posted(tx: Transaction, task: Task, now: int) -> bool:
    assignee = tx.agents.get(task.assignee)
    asleep = assignee is not None and assignee.status == "sleeping"
    return not asleep or (task.not_before is not None and task.not_before <= now)


def _visible(tx: Transaction, by: Principal, wanted: str) -> Task:
    number = wanted.isascii() and wanted.isdecimal()
    task = tx.tasks.get(f"task-{wanted.lstrip('0')}" if number else wanted)
    if task is None or not (by.is_operator or by.id in (task.requester, task.assignee)):
        raise TaskNotFound(wanted)
    return task


def _only_open(tx: Transaction, by: Principal) -> Task:
    assigned = tx.tasks.open_assigned_to(by.id)
    if len(assigned) == 1:
        return assigned[0]
    if not assigned:
        raise InvalidRequest("You have no open task.")
    raise InvalidRequest(f"You have several open tasks; say which: {', '.join(task.id for task in assigned)}.")
