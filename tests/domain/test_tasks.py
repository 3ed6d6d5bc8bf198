"""Work that was handed over: each move of a task, and each that is refused."""

from dataclasses import replace

import pytest

from rookery.domain.errors import TaskEndedAlready
from rookery.domain.tasks import OPEN, Task, TaskOutcome, task_id

PENDING = Task(id="task-7", requester="fox", assignee="owl", request="build it", origin="dm:fox:owl", created_at=1)
OUTCOMES: list[TaskOutcome] = ["completed", "failed", "cancelled"]


def test_a_task_is_named_by_its_number() -> None:
    assert [task_id(number) for number in (1, 101)] == ["task-1", "task-101"]


def test_a_new_task_is_pending_and_open() -> None:
    assert (PENDING.status, PENDING.open, PENDING.message_id, PENDING.priority) == (
        "pending",
        True,
        None,
        "normal",
    )


def test_what_is_posted_is_not_put_off_any_more() -> None:
    put_off = replace(PENDING, not_before=500)
    assert put_off.posted("m1") == replace(PENDING, message_id="m1")


def test_it_is_active_from_when_its_assignee_has_it() -> None:
    started = PENDING.started(5)
    assert started == replace(PENDING, status="active", started_at=5)
    assert started.open


def test_it_starts_once() -> None:
    started = PENDING.started(5)
    assert started.started(9) is started


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_what_has_ended_does_not_start(outcome: TaskOutcome) -> None:
    ended = PENDING.ended(5, "owl", outcome)
    assert ended.started(9) is ended


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("before", [PENDING, PENDING.posted("m1"), PENDING.posted("m1").started(3)])
def test_an_open_task_ends_with_who_ended_it_and_what_came_of_it(before: Task, outcome: TaskOutcome) -> None:
    ended = before.ended(9, "owl", outcome, result="r", error="e")
    assert ended == replace(before, status=outcome, ended_at=9, ended_by="owl", result="r", error="e")
    assert not ended.open


@pytest.mark.parametrize("first", OUTCOMES)
@pytest.mark.parametrize("second", OUTCOMES)
def test_it_ends_once(first: TaskOutcome, second: TaskOutcome) -> None:
    ended = PENDING.ended(5, "owl", first)
    with pytest.raises(TaskEndedAlready) as refused:
        ended.ended(9, "fox", second, result="other")
    assert refused.value.data == {"task": "task-7", "status": first}


def test_pending_and_active_are_open_and_nothing_else() -> None:
    assert OPEN == ("pending", "active")


@pytest.mark.parametrize(
    ("request_", "title"),
    [
        ("build it", "build it"),
        ("build it\nwith care", "build it"),
        ("\n\n  build it  \nwith care", "build it"),
        ("", ""),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 79 + "…"),
        ("x" * 90 + "\nmore", "x" * 79 + "…"),
    ],
)
def test_its_title_is_the_first_line_as_far_as_it_fits(request_: str, title: str) -> None:
    assert replace(PENDING, request=request_).title == title
