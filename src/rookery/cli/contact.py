"""Commands that turn to an agent: ask it and wait, hand work over, let it know."""

import sys
import time
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from rookery.cli.commands import Agent, command
from rookery.cli.desk import Desk
from rookery.cli.display import say, show_words
from rookery.cli.messages import Content, Urgency, content_of
from rookery.cli.progress import Progress
from rookery.cli.text import one_line, visible
from rookery.cli.times import clock, seconds

if TYPE_CHECKING:
    from rookery.wire.contact import ContactResponse

commands = typer.Typer()

_LOOK_AGAIN = 1.0
"""Seconds between two looks at whether the operator has let a question through."""

Context = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="What it should know besides.", show_default=False),
]


@command(
    commands,
    speaks=True,
    examples="""
    rook ask builder "how many tests fail?"
    rook ask builder "is it safe to merge?" --context "release is today" --timeout 90s
    git diff | rook ask reviewer > review.txt
    """,
)
def ask(
    desk: Desk,
    agent: Agent,
    text: Content = None,
    context: Context = None,
    timeout: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Wait no longer than this.", show_default="120s"),
    ] = None,
) -> None:
    """Ask an agent and wait for its answer.

    A restart of the hub is waited out; Ctrl-C leaves, and the question is given up.
    """
    from rookery.client.contact import LONGEST_ASK

    words = content_of(text, "ask")
    patience = LONGEST_ASK if timeout is None else seconds(timeout, "--timeout")
    key = uuid4().hex
    with Progress() as progress:
        while True:
            progress.tell(f"Waiting for {one_line(agent)} ...")
            answer = desk.hub.ask(agent, words, context=context, timeout=patience, key=key, sender=desk.speaker)
            if answer.status != "awaiting_approval":
                break
            progress.tell(f"Waiting for the operator to approve {answer.approval} ...")
            time.sleep(_LOOK_AGAIN)
    desk.answer(answer, lambda: _show_answer(desk, answer))


@command(
    commands,
    speaks=True,
    examples="""
    rook delegate builder "make the tests pass" --priority high
    rook delegate tester "test it" --as builder --context "the branch is fix-42"
    rook delegate writer < brief.md
    """,
)
def delegate(
    desk: Desk,
    agent: Agent,
    text: Content = None,
    context: Context = None,
    priority: Urgency = None,
    task: Annotated[
        str | None,
        typer.Option(metavar="TASK", help="The task that it is a part of.", show_default="the one at hand"),
    ] = None,
) -> None:
    """Hand work over to an agent; the result comes by itself."""
    words = content_of(text, "delegate")
    answer = desk.hub.delegate(
        agent, words, context=context, priority=priority or "normal", task=task, sender=desk.speaker
    )
    desk.answer(answer, lambda: _show_delegated(answer, agent))


@command(
    commands,
    speaks=True,
    examples="""
    rook notify builder "the release is put off until Monday"
    rook notify builder "main is frozen" --context "because of the audit" --as leader
    """,
)
def notify(desk: Desk, agent: Agent, text: Content = None, context: Context = None) -> None:
    """Let an agent know; nobody is set to work by it."""
    words = content_of(text, "notify")
    answer = desk.hub.notify(agent, words, context=context, sender=desk.speaker)
    desk.answer(answer, lambda: _show_notified(answer, agent))


def _show_answer(desk: Desk, answer: "ContactResponse") -> None:
    """In a pipe there are the words alone: nothing of ours, for which they could pass, is among them."""
    words = answer.answer
    if words is None:
        say(visible(answer.text))
    elif sys.stdout.isatty():
        say(f"{one_line(desk.names().of(words.from_agent_id))}  {clock(words.timestamp)}", "bold")
        show_words(words.content)
    else:
        print(visible(words.content))


def _show_delegated(answer: "ContactResponse", agent: str) -> None:
    task = answer.task
    if task is None:
        _show_waiting(answer)
    elif task.message_id is None:
        when = f"until {clock(task.not_before)}" if task.not_before else "now"
        say(f"{task.task_id}  {one_line(agent)} sleeps {when}, and gets it then")
    else:
        say(f"{task.task_id}  handed over to {one_line(agent)}")


def _show_notified(answer: "ContactResponse", agent: str) -> None:
    if answer.approval is not None:
        _show_waiting(answer)
    else:
        say(f"{answer.message_id}  left for {one_line(agent)}")


def _show_waiting(answer: "ContactResponse") -> None:
    say(f"{answer.message_id}  waits for the operator: approval {answer.approval}")
