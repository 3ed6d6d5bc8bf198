"""Calls about tasks: work that was handed over. To hand it over is to `delegate`."""

from rookery.client.call import call_of
from rookery.client.exchange import Session, Steps, exchange
from rookery.wire import contact as answer
from rookery.wire import requests as ask
from rookery.wire.requests import TaskEnd


def tasks(
    session: Session, agent: str | None = None, *, open_only: bool = False, limit: int = 200
) -> Steps[answer.TasksResponse]:
    """The newest tasks, in order of creation; `parent` makes a tree of them. An agent's own; the operator sees
    all, or those that `agent` requested or is to do."""
    query = {"agent": agent, "open_only": open_only, "limit": limit}
    return (yield from exchange(session, call_of("list_tasks", answer.TasksResponse, query=query)))


def task(session: Session, task: str) -> Steps[answer.TaskTreeResponse]:
    """A task and its parts."""
    call = call_of("get_task", answer.TaskTreeResponse, places={"task": task})
    return (yield from exchange(session, call))


def complete_task(
    session: Session,
    task: str,
    status: TaskEnd = "completed",
    *,
    result: str | None = None,
    error: str | None = None,
) -> Steps[answer.TaskResponse]:
    """Finish a task as completed or failed. Its requester gets the result, once; saying the same twice is fine."""
    how = ask.CompleteTaskRequest(status=status, result=result, error=error)
    call = call_of("complete_task", answer.TaskResponse, places={"task": task}, body=how, repeatable=True)
    return (yield from exchange(session, call))


def cancel_task(session: Session, task: str, *, reason: str | None = None) -> Steps[answer.TaskResponse]:
    """Take a task back, with its open parts. Cancelling again changes nothing."""
    why = ask.CancelTaskRequest(reason=reason)
    call = call_of("cancel_task", answer.TaskResponse, places={"task": task}, body=why, repeatable=True)
    return (yield from exchange(session, call))
