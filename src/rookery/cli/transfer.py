"""Commands that take all data out, and put it in again."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from rookery.cli.commands import command
from rookery.cli.desk import Desk
from rookery.cli.display import say
from rookery.cli.offline import hub_is_meant, settings_of, with_store
from rookery.cli.progress import Progress
from rookery.cli.text import counted
from rookery.cli.upkeep import StoreOption
from rookery.domain.errors import InvalidRequest, StorageUnavailable

if TYPE_CHECKING:
    from rookery.ports import Store

commands = typer.Typer()

Record = dict[str, Any]
HEAD = "rookery"
"""The first line of an export tells of the others and is none of them."""


@command(
    commands,
    examples="""
    rook export backup.jsonl
    rook export - | gzip > backup.jsonl.gz
    """,
)
def export(
    desk: Desk,
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="Where to; '-' is standard output.", show_default=False)
    ] = "-",
    force: Annotated[
        bool, typer.Option("--force", help="Write over a file that is there.", show_default=False)
    ] = False,
    store: StoreOption = None,
) -> None:
    """Write all data as JSON lines.

    From the running hub, or from its files if none runs.
    The file appears under its name only once it is complete. Tokens are in it as digests only.
    """
    import msgspec

    encode = msgspec.json.Encoder().encode

    def write(records: Iterable[Record], out: BinaryIO) -> int:
        count = 0
        with Progress() as progress:
            for record in progress.counting(records, "records"):
                out.write(encode(record) + b"\n")
                count += record.get("record") != HEAD
        return count

    def everything(out: BinaryIO) -> int:
        if hub_is_meant(desk):
            return write(desk.hub.export(), out)

        async def work(opened: "Store") -> int:
            return await asyncio.to_thread(write, opened.export(), out)

        return with_store(settings_of(desk, store), work)

    if file == "-":
        everything(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    target = Path(file).expanduser()
    count = _written(target, everything, force=force)
    told = {"ok": True, "records": count, "file": str(target)}
    desk.answer(told, lambda: say(f"Wrote {counted(count, 'record')} to {target}."))


@command(
    commands,
    "import",
    examples="""
    rook import backup.jsonl --data ./hub
    gunzip -c backup.jsonl.gz | rook import -
    """,
)
def import_(
    desk: Desk,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="An export; '-' is standard input.")],
    store: StoreOption = None,
) -> None:
    """Fill an empty data directory from an export.

    All or nothing. The hub must be stopped.
    """
    if hub_is_meant(desk):
        raise StorageUnavailable(
            "A hub is running on this data. Stop it (Ctrl-C where `rook up` runs), or name an empty directory "
            "with --data."
        )
    settings = settings_of(desk, store, create=True)
    try:
        source = sys.stdin.buffer if file == "-" else Path(file).expanduser().open("rb")
    except OSError as exc:
        raise InvalidRequest(f"{file} cannot be read: {exc.strerror}.") from exc
    with source, Progress() as progress:

        async def work(opened: "Store") -> int:
            return await asyncio.to_thread(opened.load, progress.counting(_records(source, file), "records"))

        count = with_store(settings, work)
    told = {"ok": True, "records": count, "data": str(settings.data)}
    desk.answer(told, lambda: say(f"Loaded {counted(count, 'record')} into {settings.data}."))


def _records(source: BinaryIO, name: str) -> Iterator[Record]:
    import msgspec

    for number, line in enumerate(source, start=1):
        if not line.strip():
            continue
        try:
            yield msgspec.json.decode(line, type=Record)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise InvalidRequest(f"{name}, line {number}, is not part of an export: {exc}.") from exc


def _written(target: Path, write: Callable[[BinaryIO], int], *, force: bool) -> int:
    """Readable by its owner alone: it holds everything that was said."""
    if target.exists() and not force:
        raise InvalidRequest(f"{target} is there already; choose another name, or say --force.")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            count = write(out)
            out.flush()
            os.fsync(out.fileno())
        part.replace(target)
    except OSError as exc:
        raise InvalidRequest(f"{target} cannot be written: {exc.strerror}.") from exc
    finally:
        part.unlink(missing_ok=True)
    return count
