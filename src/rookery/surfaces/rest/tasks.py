"""Handlers for tasks."""

from rookery.surfaces.rest.call import Call
from rookery.wire import contact as answer
from rookery.wire import requests as ask
from rookery.wire.views import task_view


async def list_tasks(call: Call) -> answer.TasksResponse:
    query: ask.TasksQuery = call.query
    tasks = await call.hub.tasks.recent(
        call.principal, agent=query.agent, open_only=query.open_only, limit=query.limit
    )
    return answer.TasksResponse(tasks=[task_view(task) for task in tasks], count=len(tasks))


async def get_task(call: Call) -> answer.TaskTreeResponse:
    task, children = await call.hub.tasks.get(call.principal, call.path["task"])
    return answer.TaskTreeResponse(task=task_view(task), children=[task_view(child) for child in children])


async def complete_task(call: Call) -> answer.TaskResponse:
    body: ask.CompleteTaskRequest = call.body
    task = await call.hub.tasks.complete(
        call.principal, call.path["task"], body.status, result=body.result, error=body.error
    )
    return answer.TaskResponse(task=task_view(task))


async def cancel_task(call: Call) -> answer.TaskResponse:
    body: ask.CancelTaskRequest = call.body
    task = await call.hub.tasks.cancel(call.principal, call.path["task"], body.reason)
    return answer.TaskResponse(task=task_view(task))
