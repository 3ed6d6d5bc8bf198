"""`rook watch`: everything as it happens."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.cli.commands import command
from rookery.cli.desk import Desk, Names, as_json
from rookery.cli.display import hint
from rookery.cli.telling import show_event
from rookery.cli.text import one_line
from rookery.cli.times import seconds
from rookery.domain.errors import InvalidRequest

if TYPE_CHECKING:
    from rookery.client import Client

commands = typer.Typer()

_ECHOES = ("inbox_message_sent", "inbox_message_read", "approval_used")
"""Events that tell an inbox, or an approval's one user, what another event has told the parties already."""


@command(
    commands,
    speaks=True,
    examples="""
    rook watch
    rook watch --agent builder --since 10m
    rook watch --since 0 --json | jq .type
    """,
)
def watch(
    desk: Desk,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Begin earlier: a duration (10m) or a position (0 is the start).",
            show_default="now",
        ),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(metavar="AGENT", help="Only what this agent sees.", show_default=False)
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Each inbox's own entries too.", show_default=False)
    ] = False,
) -> None:
    """Show what happens, live.

    Until Ctrl-C; a restart of the hub is waited out, and nothing is missed meanwhile.
    """
    hub = desk.hub
    after = None if since is None else _position(hub, since)
    names = Names() if desk.json else desk.names()
    with hub.listen(after=after, agent=agent or desk.speaker, on_gap=_told_of_gaps(desk.json)) as events:
        if not desk.json:
            hint("Watching. Ctrl-C stops it.")
        for event in events:
            if desk.json:
                print(as_json(event), flush=True)
            elif everything or event.get("type") not in _ECHOES:
                show_event(event, names)
                sys.stdout.flush()


def _told_of_gaps(quiet: bool) -> Callable[[str | None], None]:
    def told(why: str | None) -> None:
        if not quiet:
            hint("The hub is back." if why is None else f"The hub is away ({one_line(why)}); waiting for it ...")

    return told


def _position(hub: "Client", since: str) -> int:
    """A position as it is; for a duration, the last position before that moment."""
    if since.isascii() and since.isdigit():
        return int(since)
    from datetime import UTC, datetime, timedelta

    try:
        moment = datetime.now(UTC) - timedelta(seconds=seconds(since, "--since"))
    except OverflowError as exc:
        raise InvalidRequest(f"--since {since!r} is longer ago than anything; 0 is the start.") from exc
    low, high = 0, hub.status().position
    while low < high:  # entries are in order of time, so halving finds the place in a few steps
        middle = (low + high) // 2
        first = hub.events(after=middle, limit=1).events
        if first and datetime.fromisoformat(first[0]["timestamp"]) < moment:
            low = int(first[0]["position"])
        else:
            high = middle
    return low
