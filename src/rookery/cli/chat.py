"""`rook chat`: a conversation in the terminal."""

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.cli.commands import agent_names, command
from rookery.cli.desk import Desk
from rookery.cli.times import seconds
from rookery.domain.errors import InvalidRequest

if TYPE_CHECKING:
    from rookery.cli.talk import Talk

commands = typer.Typer()

Whom = Annotated[
    str,
    typer.Argument(metavar="AGENT", help="An agent's id or name, or a '#channel'.", autocompletion=agent_names),
]


@command(
    commands,
    examples="""
    rook chat builder
    rook chat '#build'
    echo "how is it going?" | rook chat builder --wait 1m
    """,
)
def chat(
    desk: Desk,
    whom: Whom,
    history: Annotated[int, typer.Option(min=0, max=1000, help="How much of the past to show.")] = 20,
    wait: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="After the end of a pipe, go on showing for so long.", show_default="0s"
        ),
    ] = None,
) -> None:
    """Talk with an agent or in a channel.

    Enter sends, Alt-Enter makes a new line, Ctrl-D leaves; /help says the rest. From a pipe, each line is a
    message. With --json what arrives is one event a line.
    """
    lingering = 0.0 if wait is None else seconds(wait, "--wait")
    if asyncio.run(_chat(desk, whom, history, lingering)):
        raise KeyboardInterrupt


async def _chat(desk: Desk, whom: str, history: int, lingering: float) -> bool:
    """Whether it was broken off."""
    from rookery.cli.talk import Talk

    async with desk.async_hub() as hub:
        talk = await Talk.with_(hub, whom, as_json=desk.json)
        if _is_for_people(desk):
            from rookery.cli.prompt import Prompt

            return await Prompt(talk, desk.hub.session.directions.directory()).run(history)
        await _piped(talk, history, lingering)
        return False


def _is_for_people(desk: Desk) -> bool:
    return not desk.json and sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


async def _piped(talk: "Talk", history: int, lingering: float) -> None:
    """Each line of the input is sent; the first that cannot be ends it all."""
    async with talk.begun(history) as arrivals:
        listening = asyncio.ensure_future(arrivals)
        sending = asyncio.ensure_future(_send_lines(talk, lingering))
        try:
            done, _ = await asyncio.wait([listening, sending], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in (listening, sending):
                task.cancel()


async def _send_lines(talk: "Talk", lingering: float) -> None:
    from rookery.cli.pipe import standard_input

    lines = await standard_input()
    while line := await lines.readline():
        try:
            text = line.decode().rstrip("\r\n")
        except UnicodeDecodeError as exc:
            raise InvalidRequest(f"What came through the pipe is not UTF-8 text (byte {exc.start}).") from exc
        if text.strip():
            await talk.say(text)
    await talk.heard_own(lingering)
