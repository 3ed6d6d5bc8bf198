"""Commands for one inbox: list, read, claim, complete, clear."""

from typing import TYPE_CHECKING, Annotated

import typer

from rookery.cli.agents import confirm
from rookery.cli.commands import OptionalAgent, command
from rookery.cli.desk import Desk, Names
from rookery.cli.display import say, show_words
from rookery.cli.messages import show_message
from rookery.cli.text import counted
from rookery.cli.times import clock
from rookery.domain.deliveries import Folder, Outcome
from rookery.domain.errors import InvalidRequest
from rookery.domain.ids import OPERATOR

if TYPE_CHECKING:
    from rookery.wire.responses import InboxMessageView, InboxResponse

commands = typer.Typer()

MessageId = Annotated[str, typer.Argument(metavar="MESSAGE_ID", help="A message of the inbox.")]


@command(
    commands,
    speaks=True,
    examples="""
    rook inbox
    rook inbox builder --all --latest
    rook inbox --as builder --limit 10
    """,
)
def inbox(
    desk: Desk,
    agent: OptionalAgent = None,
    everything: Annotated[bool, typer.Option("--all", help="Read messages too.", show_default=False)] = False,
    mark_read: Annotated[
        bool | None,
        typer.Option("--mark-read/--no-mark-read", help="Mark what is shown as read.", show_default="own only"),
    ] = None,
    folder: Annotated[Folder | None, typer.Option(help="Only this folder.", show_default=False)] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most this many.")] = 100,
    latest: Annotated[bool, typer.Option("--latest", help="Newest first.", show_default=False)] = False,
) -> None:
    """List unread messages: your own, or an agent's.

    Your own are marked read. Looking into an agent's inbox by its name leaves no trace; with --as you act as
    that agent.
    """
    answer = desk.hub.inbox(
        agent or desk.speaker,
        unread_only=not everything,
        mark_read=agent is None if mark_read is None else mark_read,
        folder=folder,
        limit=limit,
        latest=latest,
    )
    desk.answer(answer, lambda: _show_inbox(answer, desk.names()))


@command(
    commands,
    speaks=True,
    examples="""
    rook read 01k9z4v7q8r2s3t4v5w6x7y8z9
    rook read 01k9z4v7q8r2s3t4v5w6x7y8z9 --as builder --json
    """,
)
def read(desk: Desk, message_id: MessageId) -> None:
    """Read one message, with all that is known of its way."""
    answer = desk.hub.read(message_id, agent=_owner(desk, message_id))
    desk.answer(answer, lambda: _show_item(answer.message, desk.names()))


@command(
    commands,
    speaks=True,
    examples="""
    rook claim --as builder
    rook claim 01k9z4v7q8r2s3t4v5w6x7y8z9 --as builder
    """,
)
def claim(
    desk: Desk,
    message_id: Annotated[
        str | None,
        typer.Argument(metavar="MESSAGE_ID", help="This one; else the most urgent.", show_default=False),
    ] = None,
) -> None:
    """Claim a message to work on.

    Exactly one caller wins; the others hear who did.
    """
    owner = _owner(desk, message_id) if message_id else desk.speaker
    answer = desk.hub.claim(message_id, agent=owner)
    message = answer.message
    if message is None:
        desk.answer(answer, lambda: say("Nothing is open."))
    else:
        desk.answer(answer, lambda: _show_item(message, desk.names()))


@command(
    commands,
    speaks=True,
    examples="""
    rook complete 01k9z4v7q8r2s3t4v5w6x7y8z9 --result "all 42 tests pass"
    rook complete 01k9z4v7q8r2s3t4v5w6x7y8z9 --status dead --error "no such branch"
    """,
)
def complete(
    desk: Desk,
    message_id: MessageId,
    status: Annotated[Outcome, typer.Option(help="How it ended.")] = "done",
    result: Annotated[str | None, typer.Option(metavar="TEXT", help="What came out.", show_default=False)] = None,
    error: Annotated[str | None, typer.Option(metavar="TEXT", help="What went wrong.", show_default=False)] = None,
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="Anything else.", show_default=False)] = None,
) -> None:
    """Finish a message as done or dead."""
    owner = _owner(desk, message_id)
    answer = desk.hub.complete(message_id, status, result=result, error=error, note=note, agent=owner)
    desk.answer(answer, lambda: say(f"{answer.message.message_id} is {answer.message.folder}."))


@command(
    commands,
    speaks=True,
    examples="""
    rook clear --yes
    rook clear builder --message 01k9z4v7q8r2s3t4v5w6x7y8z9
    """,
)
def clear(
    desk: Desk,
    agent: OptionalAgent = None,
    message: Annotated[
        list[str] | None,
        typer.Option("--message", metavar="MESSAGE_ID", help="Only this one; repeatable.", show_default=False),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.", show_default=False)] = False,
) -> None:
    """Take messages out of an inbox: all of them, or those named."""
    owner = agent or desk.speaker
    if not message:
        confirm(yes, f"Clear {'your own inbox' if owner is None else f'the inbox of {owner}'}?")
    answer = desk.hub.clear(message or None, agent=owner)
    desk.answer(answer, lambda: say(f"Cleared {counted(answer.cleared, 'message')}."))


def _owner(desk: Desk, message_id: str) -> str | None:
    """Whose inbox the message lies in. The operator need not say it when there is only one."""
    if desk.speaker is not None or desk.hub.me() != OPERATOR:
        return desk.speaker
    holders = [delivery.agent_id for delivery in desk.hub.message(message_id).deliveries]
    if OPERATOR in holders or not holders:
        return OPERATOR
    if len(holders) > 1:
        raise InvalidRequest(
            f"Message {message_id!r} lies in {len(holders)} inboxes; say whose with --as, e.g. "
            f"--as {desk.names().of(holders[0])}."
        )
    return holders[0]


def _show_inbox(answer: "InboxResponse", names: Names) -> None:
    if not answer.messages:
        say(f"No messages for {names.of(answer.agent_id)}; {answer.unread_count} unread.")
        return
    for message in answer.messages:
        where = "" if message.folder == "new" else f"  ({message.folder})"
        show_message(message, names, where + ("" if message.read else "  unread"))
        say()
    shown = counted(answer.count, "message")
    say(f"{shown} for {names.of(answer.agent_id)}, {answer.unread_count} unread before this.", "dim")


def _show_item(message: "InboxMessageView", names: Names) -> None:
    show_message(message, names, f"  ({message.folder})")
    receipts = message.receipts
    steps = [
        ("stored", receipts.stored_at, None),
        ("handed off", receipts.handed_off_at, receipts.handed_off_via),
        ("seen", receipts.seen_at, receipts.seen_via),
        ("claimed", message.claimed_at, names.of(message.claimed_by) if message.claimed_by else None),
        (message.folder, receipts.completed_at, None),
        ("replied", receipts.replied_at, receipts.reply_id),
    ]
    told = [f"{what} {clock(at)}" + (f" ({via})" if via else "") for what, at, via in steps if at]
    say(", ".join(told), "dim")
    for what, words in (("result", message.result), ("error", message.error), ("note", message.note)):
        if words:
            say(f"{what}:", "bold")
            show_words(words)
