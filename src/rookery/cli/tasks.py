"""Commands about tasks: what was handed over, by whom to whom, and what became of it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rookery.cli.agents import confirm
from rookery.cli.commands import OptionalAgent, command
from rookery.cli.desk import Desk, Names
from rookery.cli.display import Cell, say, say_pieces, show_facts, show_words
from rookery.cli.text import one_line
from rookery.cli.times import clock

if TYPE_CHECKING:
    from rookery.wire.contact import TaskTreeResponse, TaskView

commands = typer.Typer()
_task = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  rook delegate builder "make the tests pass"
  rook task show task-7
  rook task complete task-7 --result "all 42 pass\"""",
)
commands.add_typer(_task, name="task")

_COLOURS = {"pending": "yellow", "active": "cyan", "completed": "green", "failed": "red", "cancelled": "dim"}
_MARKS = {"completed": " ✓", "failed": " ✗"}

TaskId = Annotated[str, typer.Argument(metavar="TASK", help="Its id, such as task-7, or its number.")]
Branch = tuple[str, "TaskView"]


@_task.callback()
def task() -> None:
    """Look at a task, finish it, take it back."""


@command(
    commands,
    speaks=True,
    examples="""
    rook tasks
    rook tasks builder --all
    rook tasks --json | jq -r '.tasks[] | select(.status == "failed") | .task_id'
    """,
)
def tasks(
    desk: Desk,
    agent: OptionalAgent = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also where nothing is open any more.", show_default=False)
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most this many, the newest.")] = 200,
) -> None:
    """Show the open tasks and their parts, as a tree."""
    answer = desk.hub.tasks(agent or desk.speaker, limit=limit)
    if not everything:
        answer.tasks = _where_something_is_open(answer.tasks)
        answer.count = len(answer.tasks)
    desk.answer(answer, lambda: _show_tasks(answer.tasks, desk.names(), everything))


@command(
    _task,
    examples="""
    rook task show task-7
    rook task show 7 --json
    """,
)
def show(desk: Desk, task: TaskId) -> None:
    """Show a task with its request, its parts and its result."""
    answer = desk.hub.task(task)
    desk.answer(answer, lambda: _show_task(answer, desk.names()))


@command(
    _task,
    examples="""
    rook task complete task-7 --result "all 42 tests pass"
    rook task complete task-7 --status failed --error "there is no such branch"
    """,
)
def complete(
    desk: Desk,
    task: TaskId,
    status: Annotated[Literal["completed", "failed"], typer.Option(help="How it ended.")] = "completed",
    result: Annotated[str | None, typer.Option(metavar="TEXT", help="What came out.", show_default=False)] = None,
    error: Annotated[str | None, typer.Option(metavar="TEXT", help="What went wrong.", show_default=False)] = None,
) -> None:
    """Finish a task; whoever requested it gets the result."""
    answer = desk.hub.complete_task(task, status, result=result, error=error)
    desk.answer(answer, lambda: say(f"{answer.task.task_id} is {answer.task.status}."))


@command(
    _task,
    examples="""
    rook task cancel task-7
    rook task cancel task-7 --reason "no longer needed" --yes
    """,
)
def cancel(
    desk: Desk,
    task: TaskId,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why.", show_default=False)] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.", show_default=False)] = False,
) -> None:
    """Take a task back, with its open parts."""
    known = desk.hub.task(task).task
    confirm(yes, f"Cancel {known.task_id}, {quoted(known.title)}?")
    answer = desk.hub.cancel_task(known.task_id, reason=reason)
    desk.answer(answer, lambda: say(f"{answer.task.task_id} is {answer.task.status}."))


def quoted(title: str) -> str:
    """In quotes that none of its own words can close."""
    escaped = one_line(title).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def mark(status: str) -> str:
    return status.upper() + _MARKS.get(status, "")


def colour(status: str) -> str:
    return _COLOURS.get(status, "")


def _where_something_is_open(tasks: "Sequence[TaskView]") -> "list[TaskView]":
    """Whole trees, or nothing of them: what is done belongs to what is still to do."""
    parents = {task.task_id: task.parent for task in tasks}

    def root(task_id: str) -> str:
        above = parents[task_id]
        while above is not None and above in parents:
            task_id, above = above, parents[above]
        return task_id

    alive = {root(task.task_id) for task in tasks if task.ended_at is None}
    return [task for task in tasks if root(task.task_id) in alive]


def _branches(tasks: "Sequence[TaskView]") -> Iterator[Branch]:
    """Each task below the one that it is a part of, with the lines that lead to it. A part whose whole is not
    here stands by itself."""
    known = {task.task_id for task in tasks}
    parts: defaultdict[str | None, list[TaskView]] = defaultdict(list)
    for task in tasks:
        parts[task.parent if task.parent in known else None].append(task)
    waiting = [("", "", task) for task in reversed(parts[None])]
    while waiting:
        lead, below, task = waiting.pop()
        yield lead, task
        below = below or "  "
        for number, part in enumerate(reversed(parts[task.task_id])):
            last = number == 0
            waiting.append((below + ("└── " if last else "├── "), below + ("    " if last else "│   "), part))


def _show_tasks(tasks: "Sequence[TaskView]", names: Names, everything: bool) -> None:
    if not tasks:
        say("There is no task." if everything else "No task is open; --all shows those that ended.")
    for lead, task in _branches(tasks):
        _show_line(lead, task, names)


def _show_line(lead: str, task: "TaskView", names: Names) -> None:
    head = f"{lead}{task.task_id}: {quoted(task.title)} ({names.of(task.assignee)}) — "
    say_pieces(Cell(head), Cell(mark(task.status), colour(task.status)))


def _show_task(answer: "TaskTreeResponse", names: Names) -> None:
    task = answer.task
    facts = [
        ("task", task.task_id),
        ("status", mark(task.status)),
        ("for", names.of(task.requester)),
        ("assigned to", names.of(task.assignee)),
        ("priority", task.priority),
        ("part of", task.parent or "-"),
        ("created", clock(task.created_at)),
    ]
    if task.message_id is None and task.not_before is not None:
        facts.append(("put off until", clock(task.not_before)))
    if task.started_at is not None:
        facts.append(("started", clock(task.started_at)))
    if task.ended_at is not None:
        facts.append(("ended", f"{clock(task.ended_at)} by {names.of(task.ended_by or '?')}"))
    show_facts(facts)
    said = (("request", task.request), ("context", task.context), ("result", task.result), ("error", task.error))
    for what, words in said:
        if words:
            say(f"{what}:", "bold")
            show_words(words)
    if answer.children:
        say("parts:", "bold")
        for lead, part in _branches(answer.children):
            _show_line(f"  {lead}", part, names)
