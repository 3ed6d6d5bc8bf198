"""`rook watch`: everything as it happens."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rookery.cli.commands import command
from rookery.cli.desk import Desk, Names, as_json
from rookery.cli.display import hint, say, show_words
from rookery.cli.text import one_line
from rookery.cli.times import clock, seconds
from rookery.domain.errors import InvalidRequest

if TYPE_CHECKING:
    from rookery.client import Client

Event = dict[str, Any]
commands = typer.Typer()

_ECHOES = ("inbox_message_sent", "inbox_message_read")
"""Events that tell an inbox what another event has told the parties already."""


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
                _show(event, names)
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


def _show(event: Event, names: Names) -> None:
    kind = str(event.get("type", "?"))
    if kind in ("agent_registered", "agent_renamed"):
        names.learn(str(event["agent_id"]), str(event["name"]))
    head, words, style = _told(kind, event, names)
    say(f"{clock(str(event.get('timestamp', '')))}  {one_line(head)}", style)
    if words:
        show_words(words)


def _told(kind: str, event: Event, names: Names) -> tuple[str, str | None, str]:
    """A line about the event, the words in it if there are any, and how to dress it."""

    def who(key: str) -> str:
        return names.of(str(event.get(key)))

    message = event.get("message_id")
    match kind:
        case "agent_message":
            return f"{who('from_agent_id')} → {who('to_agent_id')}  {message}", str(event["content"]), "bold"
        case "agent_broadcast":
            return f"{who('from_agent_id')} → everyone  {message}", str(event["content"]), "bold"
        case "agent_message_delivered":
            return f"delivered to {who('to_agent_id')}  {message}", None, "dim"
        case "agent_message_read":
            return f"read by {who('agent_id')}  {message}", None, "dim"
        case "agent_message_replied":
            return f"answered by {who('agent_id')}  {message}", None, "dim"
        case "inbox_message_claimed":
            return f"claimed by {who('claimed_by')}  {message}", None, "yellow"
        case "inbox_claim_expired":
            return f"claim of {who('claimed_by')} expired  {message}", None, "yellow"
        case "inbox_message_completed":
            words = event.get("result") or event.get("error") or event.get("note")
            told = f"{event.get('status')} by {who('completed_by')}  {message}"
            return told, str(words) if words else None, "green" if event.get("status") == "done" else "red"
        case "inbox_messages_cleared":
            return f"{who('agent_id')} cleared {len(event['message_ids'])} message(s)", None, "dim"
        case "agent_registered":
            return f"{event['name']} registered as {event['agent_id']}", None, "cyan"
        case "agent_renamed":
            return f"{event['previous_name']} is now called {event['name']}", None, "cyan"
        case "agent_status_changed":
            return f"{who('agent_id')} is {event['status']}", None, "dim"
        case "channel_created":
            return f"{who('created_by')} created {event['channel']}", None, "cyan"
        case "channel_joined" | "channel_left":
            return f"{who('agent_id')} {kind.removeprefix('channel_')} {event['channel']}", None, "cyan"
        case "channel_archived":
            return f"{event['channel']} was archived", None, "cyan"
        case "token_issued" | "token_revoked":
            told = "a token was made for" if kind == "token_issued" else "a token was ended of"
            return f"{told} {who('holder')}", None, "dim"
        case "agent_deleted":
            return f"{event['name']} was deleted", None, "cyan"
        case _:
            return f"{kind}  {_rest(event)}", None, "dim"


def _rest(event: Event) -> str:
    said = {key: value for key, value in event.items() if key not in ("type", "timestamp", "position")}
    return as_json({key: value for key, value in said.items() if value is not None})
