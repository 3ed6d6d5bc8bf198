"""Commands that send messages and find them again."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.cli.commands import Agent, command
from rookery.cli.desk import Desk, Names
from rookery.cli.display import say, show_words
from rookery.cli.text import counted
from rookery.cli.times import clock, seconds
from rookery.domain.errors import InvalidRequest
from rookery.domain.messages import Priority

if TYPE_CHECKING:
    from rookery.wire.responses import MessageView, SendResponse

commands = typer.Typer()

Content = Annotated[
    str | None,
    typer.Argument(metavar="TEXT", help="What to say; '-' or nothing reads it from a pipe.", show_default=False),
]
ReplyTo = Annotated[
    str | None,
    typer.Option("--reply-to", metavar="MESSAGE_ID", help="The message it answers.", show_default=False),
]
Urgency = Annotated[Priority | None, typer.Option(help="How urgent it is.", show_default="normal")]
Ttl = Annotated[
    str | None,
    typer.Option(metavar="DURATION", help="Dead if nobody takes it in time, e.g. 10m.", show_default=False),
]


@command(
    commands,
    speaks=True,
    examples="""
    rook send builder "please run the tests"
    rook send builder "again, please" --as tester --priority high --ttl 10m
    git diff | rook send reviewer
    rook send '#build' "@tester the branch is ready"
    """,
)
def send(
    desk: Desk,
    to: Agent,
    text: Content = None,
    reply_to: ReplyTo = None,
    priority: Urgency = None,
    ttl: Ttl = None,
) -> None:
    """Send a message to an agent, to 'operator' or to a '#channel'."""
    answer = desk.hub.send(
        to, content_of(text, "send"), reply_to=reply_to, priority=priority, ttl=_ttl(ttl), sender=desk.speaker
    )
    desk.answer(answer, lambda: _show_sent(answer, to))


@command(
    commands,
    speaks=True,
    examples="""
    rook broadcast "the build is green"
    rook broadcast --as leader < plan.md
    """,
)
def broadcast(
    desk: Desk, text: Content = None, reply_to: ReplyTo = None, priority: Urgency = None, ttl: Ttl = None
) -> None:
    """Send a message to every other agent."""
    answer = desk.hub.broadcast(
        content_of(text, "broadcast"), reply_to=reply_to, priority=priority, ttl=_ttl(ttl), sender=desk.speaker
    )
    desk.answer(answer, lambda: _show_sent(answer))


@command(
    commands,
    speaks=True,
    examples="""
    rook search "failing test"
    rook search deploy --as builder --limit 5
    """,
)
def search(
    desk: Desk,
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="Words, or beginnings of words.")],
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most this many.")] = 20,
) -> None:
    """Find messages by their words."""
    answer = desk.hub.search(" ".join(words), agent=desk.speaker, limit=limit)
    desk.answer(answer, lambda: _show_found(answer.messages, desk.names()))


@command(
    commands,
    examples="""
    rook thread 01k9z4v7q8r2s3t4v5w6x7y8z9
    """,
)
def thread(
    desk: Desk, message_id: Annotated[str, typer.Argument(metavar="MESSAGE_ID", help="Any message of it.")]
) -> None:
    """Show a message with all that it answers and all its answers."""
    answer = desk.hub.thread(message_id)
    desk.answer(answer, lambda: show_messages(answer.messages, desk.names()))


def show_messages(messages: "list[MessageView]", names: Names) -> None:
    """Heads of our own, words of others behind the gutter."""
    for number, message in enumerate(messages):
        if number:
            say()
        show_message(message, names)


def show_message(message: "MessageView", names: Names, note: str = "") -> None:
    urgency = "" if message.priority == "normal" else f"  [{message.priority}]"
    head = f"{names.of(message.from_agent_id)} → {names.of(message.to_agent_id)}"
    say(f"{head}  {clock(message.timestamp)}{urgency}{note}", "bold")
    answered = f"  answers {message.reply_to}" if message.reply_to else ""
    say(f"{message.message_id}{answered}", "dim")
    show_words(message.content)


def content_of(text: str | None, verb: str) -> str:
    """What there is to say: as it was given, or read from a pipe."""
    if text is not None and text != "-":
        content = text
    elif sys.stdin.isatty() and text is None:
        whom = "" if verb == "broadcast" else " builder"
        raise InvalidRequest(f'There is no text; write it behind, as in: rook {verb}{whom} "hello".')
    else:
        try:
            content = sys.stdin.buffer.read().decode()
        except UnicodeDecodeError as exc:
            raise InvalidRequest(f"What came through the pipe is not UTF-8 text (byte {exc.start}).") from exc
        content = content.removesuffix("\n")
    if not content:
        raise InvalidRequest("The text is empty; a message needs at least one character.")
    refuse_what_is_no_text(content)
    return content


def refuse_what_is_no_text(content: str) -> None:
    """Bytes that a terminal or a shell passed on although they mean nothing."""
    if not content.isascii() and any("\ud800" <= each <= "\udfff" for each in content):
        raise InvalidRequest("The text is not UTF-8; give it through a pipe in the right encoding.")


def _ttl(text: str | None) -> float | None:
    return None if text is None else seconds(text, "--ttl")


def _show_sent(answer: "SendResponse", to: str = "") -> None:
    if answer.held:
        say(f"{answer.message_id}  waits for the operator: approval {answer.held}")
        return
    if to.startswith("#") and not answer.queued:
        say(f"{answer.message_id}  said in {to}; nobody was mentioned")
        return
    how = "delivered" if answer.delivered else "waits in the inbox" if answer.queued else "reached nobody"
    say(f"{answer.message_id}  {how}")


def _show_found(messages: "list[MessageView]", names: Names) -> None:
    if not messages:
        say("Nothing found.")
        return
    show_messages(messages, names)
    say()
    say(counted(len(messages), "message"), "dim")
