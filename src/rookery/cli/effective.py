"""`rook config`: the settings in effect, and where each came from."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rookery.cli.commands import command
from rookery.cli.desk import Desk
from rookery.cli.display import Cell, say, show_table
from rookery.config import Loaded, allowed, descriptions, load

commands = typer.Typer()


@command(
    commands,
    "config",
    hub=False,
    examples="""
    rook config
    ROOKERY_PORT=8300 rook config --json
    """,
)
def effective(
    desk: Desk,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The data directory.", show_default=False)
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read the settings from this file.", show_default=False)
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what each means and allows.", show_default=False)
    ] = False,
) -> None:
    """Show the settings of `rook up`, and where each came from."""
    loaded = load(flags={"data": data}, file=config)
    told = {name: {"value": _value(loaded, name), "source": source} for name, source in loaded.sources.items()}
    file = str(loaded.file) if loaded.file else None
    desk.answer({"ok": True, "file": file, "settings": told}, lambda: _show(loaded, explain))


def _show(loaded: Loaded, explain: bool) -> None:
    meanings = descriptions()
    columns = ["setting", "value", "from", *(["allowed", "meaning"] if explain else [])]
    rows: list[list[str | Cell]] = []
    for name, source in loaded.sources.items():
        value = getattr(loaded.settings, name)
        shown = ", ".join(loaded.settings.allowed_hosts) or "-" if isinstance(value, tuple) else str(value)
        more = [allowed(name), meanings[name]] if explain else []
        rows.append([Cell(name, "bold"), shown, Cell(source, "dim" if source == "default" else "cyan"), *more])
    show_table(columns, rows)
    say(f"File: {loaded.file}" if loaded.file else "There is no rookery.toml.", "dim")


def _value(loaded: Loaded, name: str) -> Any:
    value = getattr(loaded.settings, name)
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
