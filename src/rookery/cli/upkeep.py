"""Commands that keep the data in order."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.cli.agents import confirm
from rookery.cli.commands import command
from rookery.cli.desk import Desk
from rookery.cli.display import say
from rookery.cli.offline import hub_is_meant, settings_of, with_store
from rookery.cli.progress import Progress
from rookery.cli.text import counted
from rookery.cli.times import seconds
from rookery.config import StoreKind
from rookery.domain.deliveries import FOLDERS, Folder
from rookery.domain.errors import InvalidRequest, StorageDamaged, StorageUnavailable

if TYPE_CHECKING:
    from rookery.ports import RebuildReport, Store
    from rookery.wire.responses import PrunedResponse

commands = typer.Typer()
_index = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\b\nExamples:\n  rook index rebuild",
)
commands.add_typer(_index, name="index")

StoreOption = Annotated[StoreKind | None, typer.Option(help="How the data is kept.", show_default="as found")]


@_index.callback()
def index() -> None:
    """Make what is derived from the data anew."""


@command(
    _index,
    examples="""
    rook index rebuild
    rook index rebuild --data ./hub
    """,
)
def rebuild(desk: Desk, store: StoreOption = None) -> None:
    """Make the index anew and check each message.

    The hub must be stopped.
    """
    if hub_is_meant(desk):
        raise StorageUnavailable(
            "A hub is running on this data. Stop it (Ctrl-C where `rook up` runs), rebuild, and start it again."
        )
    settings = settings_of(desk, store)
    from rookery.bootstrap import make_store

    with Progress() as progress:
        report = asyncio.run(make_store(settings).rebuild(progress.tell))
    told = {"ok": True, "messages": report.messages, "damaged": report.damaged, "notes": report.notes}
    desk.answer(told, lambda: _show_rebuilt(report))
    if report.damaged:
        raise StorageDamaged(
            f"{counted(len(report.damaged), 'message')} cannot be trusted: what is stored is not what was "
            "written. Restore them from a backup, or remove them.",
            damaged=list(report.damaged),
        )


@command(
    commands,
    examples="""
    rook prune --older-than 30d
    rook prune --older-than 7d --folder done --yes
    """,
)
def prune(
    desk: Desk,
    older_than: Annotated[str, typer.Option(metavar="DURATION", help="Only messages older than this, e.g. 30d.")],
    folder: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FOLDER", help="Only new, cur, done or dead; repeatable.", show_default="done and dead"
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.", show_default=False)] = False,
    store: StoreOption = None,
) -> None:
    """Remove finished and cleared messages for good."""
    age = seconds(older_than, "--older-than")
    folders = _folders(folder or ["done", "dead"])
    confirm(yes, f"Remove messages in {' and '.join(folders)} that are older than {older_than}, for good?")
    here = not hub_is_meant(desk)
    answer = _pruned_offline(desk, store, age, folders) if here else desk.hub.prune(age, folders)
    desk.answer(answer, lambda: say(f"Removed {counted(answer.pruned, 'message')}."))


def _folders(names: list[str]) -> list[Folder]:
    known: list[Folder] = [folder for folder in FOLDERS if folder in names]
    if len(known) != len(set(names)):
        odd = next(name for name in names if name not in FOLDERS)
        raise InvalidRequest(f"--folder is {odd!r}; it must be {', '.join(FOLDERS[:-1])} or {FOLDERS[-1]}.")
    return known


def _pruned_offline(desk: Desk, store: StoreKind | None, age: float, folders: list[Folder]) -> "PrunedResponse":
    from rookery.bootstrap import hub_rules
    from rookery.clock import SystemClock
    from rookery.domain.ids import OPERATOR
    from rookery.domain.principals import Principal
    from rookery.services.hub import Hub
    from rookery.wire.responses import PrunedResponse

    settings = settings_of(desk, store)

    async def work(opened: "Store") -> int:
        clock = SystemClock()
        hub = Hub(opened, clock, hub_rules(settings))
        before = clock.now() - round(age * 1000)
        return await hub.inbox.prune(Principal(OPERATOR, "offline"), before=before, folders=folders)

    pruned = with_store(settings, work)
    return PrunedResponse(pruned=pruned, message=f"Removed {pruned} message(s) for good")


def _show_rebuilt(report: "RebuildReport") -> None:
    for note in report.notes:
        say(note)
    say(f"Checked {counted(report.messages, 'message')}; the index is new.")
