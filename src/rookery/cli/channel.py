"""Commands about channels. To say something there: `rook send '#build' "..."`."""

from typing import TYPE_CHECKING, Annotated

import typer

from rookery.cli.agents import confirm
from rookery.cli.commands import Agent, command
from rookery.cli.desk import Desk, Names
from rookery.cli.display import Cell, hint, say, show_facts, show_table
from rookery.cli.messages import show_messages
from rookery.cli.times import ago

if TYPE_CHECKING:
    from rookery.wire.responses import ChannelView, HistoryResponse

commands = typer.Typer()
_channel = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  rook channel create build --member tester --member reviewer
  rook send '#build' "@tester the branch is ready"
  rook channel history build""",
)
commands.add_typer(_channel, name="channel")

Name = Annotated[str, typer.Argument(metavar="CHANNEL", help="Its name, with or without '#'.")]


@_channel.callback()
def channel() -> None:
    """Talk in channels: create, join, leave, history, archive."""


@command(
    _channel,
    "list",
    examples="""
    rook channel list
    rook channel list --json | jq -r '.channels[].channel'
    """,
)
def list_channels(desk: Desk) -> None:
    """List the channels."""
    answer = desk.hub.channels()
    desk.answer(answer, lambda: _show_channels(answer.channels, desk.names()))


@command(
    _channel,
    examples="""
    rook channel show build
    """,
)
def show(desk: Desk, name: Name) -> None:
    """Show a channel and who is in it."""
    answer = desk.hub.channel(name)
    desk.answer(answer, lambda: _show_channel(answer.channel, desk.names()))


@command(
    _channel,
    examples="""
    rook channel create build
    rook channel create release --topic "version 2" --member builder --member tester
    """,
)
def create(
    desk: Desk,
    name: Name,
    topic: Annotated[str | None, typer.Option(help="What it is about.", show_default=False)] = None,
    member: Annotated[
        list[str] | None, typer.Option(metavar="AGENT", help="Who is in it; may be repeated.", show_default=False)
    ] = None,
) -> None:
    """Create a channel."""
    answer = desk.hub.create_channel(name, topic=topic, members=member or ())
    desk.answer(answer, lambda: _show_created(answer.channel))


@command(
    _channel,
    examples="""
    rook channel join build tester
    """,
)
def join(desk: Desk, name: Name, agent: Agent) -> None:
    """Bring an agent into a channel."""
    answer = desk.hub.join_channel(name, agent)
    desk.answer(answer, lambda: say(f"{agent} is in {answer.channel.channel}."))


@command(
    _channel,
    examples="""
    rook channel leave build tester
    """,
)
def leave(desk: Desk, name: Name, agent: Agent) -> None:
    """Take an agent out of a channel."""
    answer = desk.hub.leave_channel(name, agent)
    desk.answer(answer, lambda: say(f"{agent} is not in {answer.channel.channel}."))


@command(
    _channel,
    examples="""
    rook channel history build
    rook channel history build --limit 200 --json
    """,
)
def history(
    desk: Desk,
    name: Name,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most this many, the newest.")] = 50,
    before: Annotated[
        int | None,
        typer.Option(metavar="SEQ", min=1, help="What was said before this one.", show_default=False),
    ] = None,
) -> None:
    """Show what was said in a channel, oldest first."""
    answer = desk.hub.history(name, before=before, limit=limit)
    desk.answer(answer, lambda: _show_history(answer, desk.names()))


@command(
    _channel,
    examples="""
    rook channel archive build
    rook channel archive build --yes
    """,
)
def archive(
    desk: Desk,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.", show_default=False)] = False,
) -> None:
    """End a channel. It can still be read, and its name stays taken."""
    known = desk.hub.channel(name).channel
    confirm(yes, f"Archive {known.channel}?")
    answer = desk.hub.archive_channel(known.channel)
    desk.answer(answer, lambda: say(f"{answer.channel.channel} is archived."))


def _show_channels(channels: "list[ChannelView]", names: Names) -> None:
    if not channels:
        hint("There is no channel yet. Create one: rook channel create build")
        return
    rows = [
        (
            Cell(each.channel, "dim" if each.archived_at else "bold"),
            each.topic or "",
            ", ".join(names.of(member) for member in each.members),
            "archived" if each.archived_at else "",
        )
        for each in channels
    ]
    show_table(("CHANNEL", "TOPIC", "MEMBERS", ""), rows)


def _show_channel(channel: "ChannelView", names: Names) -> None:
    facts = [
        ("channel", channel.channel),
        ("topic", channel.topic or "-"),
        ("members", ", ".join(names.of(member) for member in channel.members) or "-"),
        ("created", f"{ago(channel.created_at)} by {names.of(channel.created_by)}"),
    ]
    if channel.archived_at:
        facts.append(("archived", ago(channel.archived_at)))
    show_facts(facts)


def _show_created(channel: "ChannelView") -> None:
    say(f"{channel.channel} is there.")
    hint(f"""Say something: rook send '{channel.channel}' "hello @someone\"""")


def _show_history(answer: "HistoryResponse", names: Names) -> None:
    if not answer.messages:
        say(f"Nothing was said in {answer.channel}.")
        return
    show_messages(answer.messages, names)
