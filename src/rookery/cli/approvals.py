"""Commands about approvals: what waits for your word, and your word."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.cli.commands import command
from rookery.cli.desk import Desk, Names
from rookery.cli.display import Cell, hint, say, say_pieces, show_words
from rookery.cli.text import one_line
from rookery.cli.times import ago, left
from rookery.domain.approvals import Decision

if TYPE_CHECKING:
    from rookery.wire.contact import ApprovalView

commands = typer.Typer()

_COLOURS = {"pending": "yellow", "approved": "green", "denied": "red", "expired": "red", "cancelled": "dim"}
_TOLD_IN_THE_HEAD = {
    "contact": ("action", "agent", "to"), "trace": ("messages", "hops"), "tool": (),
}  # fmt: skip

ApprovalId = Annotated[str, typer.Argument(metavar="ID", help="Its id, as `rook approvals` shows it.")]
Note = Annotated[str | None, typer.Option(metavar="TEXT", help="Told to the one who asked.", show_default=False)]


@command(
    commands,
    examples="""
    rook approvals
    rook approvals --all --limit 20
    rook approvals --json | jq -r '.approvals[].approval_id'
    """,
)
def approvals(
    desk: Desk,
    everything: Annotated[bool, typer.Option("--all", help="Answered ones too.", show_default=False)] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="With --all: at most this many, the newest.")] = 100,
) -> None:
    """Show what waits for your approval."""
    answer = desk.hub.approvals(all=everything, limit=limit)
    desk.answer(answer, lambda: _show_approvals(answer.approvals, desk.names(), everything))


@command(
    commands,
    examples="""
    rook approve a7k2
    rook approve a7k2 --note "this once"
    """,
)
def approve(desk: Desk, approval: ApprovalId, note: Note = None) -> None:
    """Say yes, after showing to what.

    The answer holds for exactly what is shown: if that is no longer what waits, nothing is done.
    """
    _answer(desk, approval, "approve", note)


@command(
    commands,
    examples="""
    rook deny a7k2
    rook deny a7k2 --note "not on a Friday"
    """,
)
def deny(desk: Desk, approval: ApprovalId, note: Note = None) -> None:
    """Say no, after showing to what."""
    _answer(desk, approval, "deny", note)


def wish(kind: str, agent: str, tool: str, arguments: Mapping[str, str]) -> str:
    """What somebody wants, on one line. The words that it is about are not in it."""
    match kind:
        case "trace":
            messages, hops = arguments.get("messages", "?"), arguments.get("hops", "?")
            told = (
                f"Agents went on by themselves for {messages} messages, {hops} in a row; {agent} is next: go on?"
            )
        case "contact" if "action" in arguments:
            told = f"{agent} wants to {arguments['action']} {arguments.get('agent', '?')}"
        case "contact":
            told = f"{agent} wants to write to {arguments.get('to', '?')}"
        case _:
            told = f"{agent} wants to use {tool}"
    return one_line(told)


def matter(kind: str, arguments: Mapping[str, str]) -> list[tuple[str, str]]:
    """What it is about, to the letter: all arguments that `wish` does not tell."""
    return [(name, value) for name, value in arguments.items() if name not in _TOLD_IN_THE_HEAD.get(kind, ())]


def show_matter(kind: str, arguments: Mapping[str, str]) -> None:
    for name, value in matter(kind, arguments):
        say(f"{one_line(name)}:", "dim")
        show_words(value)


def show_approval(approval: "ApprovalView", names: Names) -> None:
    told = wish(approval.kind, names.of(approval.agent_id), approval.tool, approval.arguments)
    if approval.status == "pending":
        state = left(approval.expires_at)
    else:
        by = f" by {names.of(approval.answered_by)}" if approval.answered_by else ""
        state = f"{approval.status}{by}, {ago(approval.answered_at or approval.created_at)}"
    say_pieces(
        Cell(approval.approval_id, "bold"), Cell(f"  {told}  "), Cell(state, _COLOURS.get(approval.status, ""))
    )
    show_matter(approval.kind, approval.arguments)
    if approval.note:
        say("note:", "dim")
        show_words(approval.note)


def _answer(desk: Desk, wanted: str, decision: Decision, note: str | None) -> None:
    shown = desk.hub.approval(wanted).approval
    if not desk.json and shown.status == "pending":
        show_approval(shown, desk.names())
    answer = desk.hub.answer(shown, decision, note=note)
    if shown.kind == "trace":
        done = "They go on." if decision == "approve" else "They are stopped."
    else:
        done = "Approved." if decision == "approve" else "Denied."
    colour = "green" if decision == "approve" else "red"
    desk.answer(answer, lambda: say_pieces(Cell(done, colour), Cell(f" {answer.message}")))


def _show_approvals(approvals: "list[ApprovalView]", names: Names, everything: bool) -> None:
    if not approvals:
        say("No approval was ever asked for." if everything else "Nothing waits for approval.")
        return
    for number, approval in enumerate(approvals):
        if number:
            say()
        show_approval(approval, names)
    waiting = [approval for approval in approvals if approval.status == "pending"]
    if waiting:
        hint(f"Answer with: rook approve {waiting[0].approval_id}, or rook deny {waiting[0].approval_id}")
