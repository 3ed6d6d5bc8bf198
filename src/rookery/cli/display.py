"""What people see: colour and boxes on a terminal, plain aligned text in a pipe, where nothing is cut off."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from rookery.cli.text import one_line, visible

if TYPE_CHECKING:
    from rich.console import Console

GUTTER = "│ "
"""Stands before every line that somebody else wrote, so that none of them can pass for one of ours."""


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    style: str = ""


def coloured(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def say(text: str = "", style: str = "") -> None:
    """One or more lines of our own. Words of others in it must have been made visible before."""
    if style and coloured(sys.stdout):
        _console(sys.stdout).print(text, style=style, markup=False, highlight=False, soft_wrap=True)
    else:
        print(text)


def say_pieces(*pieces: Cell) -> None:
    """One line of our own, each piece of it dressed by itself."""
    if coloured(sys.stdout):
        from rich.text import Text

        line = Text.assemble(*((one_line(piece.text), piece.style) for piece in pieces))
        _console(sys.stdout).print(line, soft_wrap=True)
    else:
        print("".join(one_line(piece.text) for piece in pieces))


def hint(text: str) -> None:
    """What is of interest to a person who is watching, and to nobody else: on stderr, if that is a terminal."""
    if sys.stderr.isatty():
        _console(sys.stderr).print(text, style="dim", markup=False, highlight=False, soft_wrap=True)


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str | Cell]]) -> None:
    cells = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    clean = [[Cell(one_line(cell.text), cell.style) for cell in row] for row in cells]
    if sys.stdout.isatty():
        _show_rich_table(columns, clean)
    else:
        _show_plain_table(columns, clean)


def show_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Names and values, one pair a line."""
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        if coloured(sys.stdout):
            from rich.text import Text

            line = Text.assemble((f"{name:<{width}}  ", "bold"), one_line(value))
            _console(sys.stdout).print(line, soft_wrap=True)
        else:
            print(f"{name:<{width}}  {one_line(value)}")


def show_words(content: str) -> None:
    """What somebody else wrote, each line behind a gutter; on a terminal also the lines it wraps into."""
    for line in visible(content).expandtabs(4).split("\n"):
        for part in _wrapped(line):
            print(GUTTER + part)


def _wrapped(line: str) -> list[str]:
    if not sys.stdout.isatty():
        return [line]
    from rich.text import Text

    console = _console(sys.stdout)
    return [part.plain for part in Text(line).wrap(console, max(20, console.width - len(GUTTER)))] or [""]


def _show_rich_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell.text, cell.style) for cell in row))
    _console(sys.stdout).print(table)


def _show_plain_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    from rich.cells import cell_len

    lines = [[column.upper() for column in columns], *([cell.text for cell in row] for row in rows)]
    widths = [max(cell_len(line[index]) for line in lines) for index in range(len(columns))]
    for line in lines:
        padded = (text + " " * (width - cell_len(text)) for text, width in zip(line, widths, strict=True))
        print("  ".join(padded).rstrip())


def _console(stream: TextIO) -> "Console":
    from rich.console import Console

    return Console(file=stream, color_system="auto" if coloured(stream) else None, highlight=False, emoji=False)
