"""Tasks through both kinds of client."""

from typing import Any

import pytest

from rookery.domain.errors import Forbidden, TaskEndedAlready, TaskNotFound
from tests.client.both import done, pair


async def test_a_result_comes_to_whoever_handed_the_work_over(operator: Any) -> None:
    one, two = await pair(operator)
    task = (await done(one.delegate(two.id, "count them"))).task.task_id
    ended = (await done(two.complete_task(task, result="42"))).task
    assert (ended.status, ended.result, ended.ended_by) == ("completed", "42", two.id)
    assert (await done(two.complete_task(task, result="42"))).task == ended
    told = [message.content for message in (await done(one.inbox())).messages]
    assert [text for text in told if text.startswith("[Delegation Result")] == [
        f"[Delegation Result from {two.name} | {task}]\n42"
    ]


async def test_a_failure_is_told_as_one(operator: Any) -> None:
    one, two = await pair(operator)
    task = (await done(one.delegate(two.id, "count them"))).task.task_id
    assert (await done(two.complete_task(task, "failed", error="too many"))).task.error == "too many"
    assert any("Delegation Failed" in message.content for message in (await done(one.inbox())).messages)


async def test_a_task_is_shown_with_its_parts_to_its_parties_alone(operator: Any) -> None:
    one, two = await pair(operator)
    whole = (await done(operator.delegate(one.id, "the whole"))).task.task_id
    await done(one.claim())
    part = (await done(one.delegate(two.id, "a part"))).task
    found = await done(one.task(whole.removeprefix("task-")))
    assert (found.task.task_id, [child.task_id for child in found.children]) == (whole, [part.task_id])
    with pytest.raises(TaskNotFound):
        await done(two.task(whole))
    assert [task.task_id for task in (await done(two.tasks())).tasks] == [part.task_id]
    assert [task.task_id for task in (await done(operator.tasks(two.id))).tasks] == [part.task_id]
    assert (await done(operator.tasks(one.name, limit=1))).count == 1


async def test_a_task_is_taken_back_with_its_open_parts(operator: Any) -> None:
    one, two = await pair(operator)
    whole = (await done(operator.delegate(one.id, "the whole"))).task.task_id
    await done(one.claim())
    await done(one.delegate(two.id, "a part"))
    with pytest.raises(Forbidden):
        await done(two.cancel_task((await done(two.tasks())).tasks[0].task_id))
    cancelled = (await done(operator.cancel_task(whole, reason="no longer needed"))).task
    assert (cancelled.status, cancelled.error) == ("cancelled", "no longer needed")
    assert (await done(operator.cancel_task(whole))).task == cancelled
    assert (await done(one.tasks(open_only=True))).tasks == []
    with pytest.raises(TaskEndedAlready):
        await done(one.complete_task(whole, result="done anyway"))
