"""`rook mcp`: the tools for a program that starts its MCP servers itself."""

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.cli.commands import command
from rookery.cli.desk import Desk
from rookery.domain.agents import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from rookery.client.address import Directions

commands = typer.Typer()


@command(
    commands,
    examples="""
    rook mcp --name builder
    claude mcp add rookery -- rook mcp
    ROOKERY_TOKEN=... rook mcp
    """,
)
def mcp(
    desk: Desk,
    name: Annotated[
        str | None,
        typer.Option(help="Who this is to the others.", show_default="the directory's name"),
    ] = None,
    kind: Annotated[Kind, typer.Option(help="Which make of program it serves.")] = "external",
) -> None:
    """Serve the agents' tools over MCP on standard input and output.

    With ROOKERY_TOKEN it is that agent. Without, it registers one by the name, keeps its token in the data
    directory and is the same agent next time; a second session of that name gets a number.
    """
    from rookery.cli.seat import seat

    client = desk.hub
    directions = client.session.directions
    own = os.environ.get("ROOKERY_TOKEN") if desk.token_file is None else client.token
    if own or client.session.address.token is None:  # the hub has no tokens, or this program brought its own
        client.agents()  # no hub, or a token that is not valid there, is said before anything is served
        _serve(directions, lambda _: own)
        return
    wanted = name or os.environ.get("ROOKERY_AGENT") or Path.cwd().name or "agent"
    with seat(client, directions.directory(), wanted, kind) as taken:
        taken.sit_down()
        print(f"rook mcp: this is {taken.name}", file=sys.stderr, flush=True)

        def token(anew: bool) -> str | None:
            return taken.sit_down(afresh=True) if anew else taken.token

        _serve(directions, token)


def _serve(directions: "Directions", token: "Callable[[bool], str | None]") -> None:
    from rookery.cli.pipe import Pipe, standard_input

    async def run() -> None:
        await Pipe(directions, token, sys.stdout.buffer).run(await standard_input())

    asyncio.run(run())
