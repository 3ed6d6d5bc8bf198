"""`rook connect`: tell an agent program of our tools, in its own configuration."""

import difflib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.cli.agents import confirm
from rookery.cli.commands import command
from rookery.cli.desk import Desk
from rookery.cli.display import hint, say
from rookery.cli.entries import Program, connecting, place_of, undoing
from rookery.domain.agents import Kind

if TYPE_CHECKING:
    from rookery.cli.entries import Edit

commands = typer.Typer()

_KINDS: dict[Program, Kind] = {"claude": "claude-code", "codex": "codex"}


@command(
    commands,
    hub=False,
    examples="""
    rook connect claude
    rook connect codex --name builder --yes
    rook connect claude --project
    rook connect claude --undo
    """,
)
def connect(
    desk: Desk,
    program: Annotated[Program, typer.Argument(metavar="claude|codex", help="Which program.")],
    project: Annotated[
        bool, typer.Option("--project", help="For this directory only.", show_default=False)
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the entry out again.", show_default=False)] = False,
    name: Annotated[
        str | None, typer.Option(help="Who it is to the others.", show_default="the directory's name")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The hub's data directory.", show_default="as found")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.", show_default=False)] = False,
) -> None:
    """Give Claude Code or Codex the tools, after showing the change."""
    path = place_of(program, project=Path.cwd() if project else None)
    edit = (
        undoing(program, path) if undo else connecting(program, path, _words(program, name, data, shared=project))
    )
    if edit.needed:
        if not desk.json:
            _show(edit)
        confirm(yes, f"Change {path}?")
        edit.make()
    told = {"program": program, "file": str(path), "changed": edit.needed, "connected": not undo}
    desk.answer(told, lambda: _tell(edit, program, undo=undo))


def _words(program: Program, name: str | None, data: Path | None, *, shared: bool) -> list[str]:
    """A project's file may be shared, so it names the command; a person's own is safer with the whole path."""
    found = shutil.which("rook")
    own = [found] if found else [sys.executable, "-m", "rookery.cli"]
    words = ["rook"] if shared else own
    words += ["mcp", "--kind", _KINDS[program]]
    if name is not None:
        words += ["--name", name]
    if data is not None:
        words += ["--data", str(data.expanduser().absolute())]
    return words


def _show(edit: "Edit") -> None:
    after = edit.after or ""
    for line in difflib.unified_diff(
        edit.before.splitlines(), after.splitlines(), str(edit.path), str(edit.path), lineterm=""
    ):
        say(line, "green" if line.startswith("+") else "red" if line.startswith("-") else "dim")


def _tell(edit: "Edit", program: Program, *, undo: bool) -> None:
    if not edit.needed:
        say(f"{edit.path}: nothing to change.")
    elif undo:
        say(f"{edit.path}: the entry is out.")
    else:
        say(f"{edit.path}: done.")
        hint(f"The next session of {program} has the tools: ask it to list the agents.")
