"""What the hub is and holds."""

from typing import TYPE_CHECKING

import typer

from rookery.cli.commands import OptionalAgent, command
from rookery.cli.desk import Desk
from rookery.cli.display import show_facts
from rookery.cli.text import counted, sized
from rookery.cli.times import ago

if TYPE_CHECKING:
    from rookery.wire.responses import StatusResponse

commands = typer.Typer()


@command(
    commands,
    examples="""
    rook status
    rook status --json
    """,
)
def status(desk: Desk) -> None:
    """Show whether the hub runs, and what it holds."""
    answer = desk.hub.status()
    desk.answer(answer, lambda: _show_status(answer, desk.hub.session.address.url))


@command(
    commands,
    speaks=True,
    examples="""
    rook stats
    rook stats builder
    """,
)
def stats(desk: Desk, agent: OptionalAgent = None) -> None:
    """Count the messages of one inbox, or of all."""
    owner = agent or desk.speaker
    if owner is None:
        queue = desk.hub.queue_stats()
        counts = queue.stats
        facts = [
            ("sent", f"{counts.total_sent:,} ({counts.broadcast_sent:,} to everyone)"),
            ("delivered live", f"{counts.direct_delivered:,}"),
            ("open", f"{counts.total_queued_messages:,}"),
            ("unread", f"{counts.total_unread_messages:,}"),
            ("inboxes in use", f"{counts.agents_with_messages:,}"),
        ]
        desk.answer(queue, lambda: show_facts(facts))
        return
    one = desk.hub.stats(owner)
    folders = one.stats
    lines = [
        ("new", f"{folders.new:,}"),
        ("cur", f"{folders.cur:,}"),
        ("done", f"{folders.done:,}"),
        ("dead", f"{folders.dead:,}"),
        ("unread", f"{folders.unread:,}"),
    ]
    desk.answer(one, lambda: show_facts(lines))


def _show_status(answer: "StatusResponse", url: str) -> None:
    show_facts(
        [
            ("address", url),
            ("version", answer.version),
            ("running since", f"{answer.started_at} ({ago(answer.started_at)})"),
            ("store", f"{answer.store} in {answer.data}" + (" - the disk is FULL" if answer.full else "")),
            ("holds", f"{counted(answer.messages, 'message')}, {sized(answer.bytes)}"),
            ("agents", f"{answer.agents:,}, {answer.online:,} online"),
            ("listening", counted(answer.sockets, "socket")),
            ("waiting for you", _waiting(answer.approvals)),
            ("journal at", f"{answer.position}"),
            ("auth", answer.auth),
        ]
    )


def _waiting(approvals: int) -> str:
    return f"{counted(approvals, 'approval')}; see rook approvals" if approvals else "nothing"
