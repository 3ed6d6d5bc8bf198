"""`rook up`: start a hub and stay with it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.cli.commands import command
from rookery.cli.desk import Desk, as_json
from rookery.cli.display import say, show_facts
from rookery.cli.offline import hub_on, with_store_found
from rookery.config import Auth, LogLevel, Settings, StoreKind, is_loopback, load
from rookery.domain.errors import StorageUnavailable

if TYPE_CHECKING:
    from rookery.wire.discovery import HubFile

commands = typer.Typer()


@command(
    commands,
    hub=False,
    examples="""
    rook up
    rook up --port 8300 --data ./hub
    rook up --auth none
    """,
)
def up(
    desk: Desk,
    host: Annotated[str | None, typer.Option(help="Listen on this address.", show_default="127.0.0.1")] = None,
    port: Annotated[
        int | None, typer.Option(help="Listen on this port; 0 takes a free one.", show_default="8200")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep everything in this directory.", show_default="~/.local/share/rookery"
        ),
    ] = None,
    store: Annotated[StoreKind | None, typer.Option(help="How to keep messages.", show_default="sqlite")] = None,
    auth: Annotated[
        Auth | None,
        typer.Option(help="'none': every caller on this machine is the operator.", show_default="token"),
    ] = None,
    log_level: Annotated[LogLevel | None, typer.Option(help="How much to say.", show_default="info")] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read the settings from this file.", show_default=False)
    ] = None,
) -> None:
    """Start a hub; it runs until Ctrl-C.

    Settings also come from rookery.toml and from ROOKERY_* variables; `rook config` shows them.
    """
    from rookery.bootstrap import serve

    flags = {"host": host, "port": port, "data": data, "store": store, "auth": auth, "log_level": log_level}
    settings = with_store_found(load(flags=flags, file=config))
    _refuse_second_hub(settings.data)

    def ready(hub: "HubFile") -> None:
        if desk.json:
            print(as_json(hub), flush=True)
        else:
            _show_banner(settings, hub)
            sys.stdout.flush()

    serve(settings, on_ready=ready)
    if not desk.json:
        say("The hub has stopped; everything it acknowledged is on disk.")


def _refuse_second_hub(data: Path) -> None:
    """The store's lock decides; this only says it better when the other hub is known."""
    hub = hub_on(data)
    if hub is not None:
        raise StorageUnavailable(
            f"A hub already runs on {data}, at {hub.url} (process {hub.pid}). Use that one, stop it first, or "
            "choose other data with --data.",
            url=hub.url,
            pid=hub.pid,
        )


def _show_banner(settings: Settings, hub: "HubFile") -> None:
    say(f"Rookery {hub.version} is up.", "bold green")
    show_facts(
        [
            ("address", hub.url),
            ("data", str(settings.data)),
            ("store", settings.store),
            ("auth", _about_auth(settings)),
        ]
    )
    if not is_loopback(settings.host):
        say(
            f"It listens on {settings.host}, beyond this machine, and speaks plain HTTP: put a reverse proxy "
            "that does TLS in front of it.",
            "yellow",
        )
    say()
    say("Now, in another terminal:")
    where = "" if settings.data == _found_by_itself() else f" --data {settings.data}"
    say(f"  rook register{where} --name builder", "cyan")
    say(f'  rook send{where} builder "hello"', "cyan")
    say(f"  rook watch{where}", "cyan")
    say()
    say("Ctrl-C stops it.", "dim")


def _found_by_itself() -> Path:
    from rookery.wire.discovery import default_data_directory

    return default_data_directory()


def _about_auth(settings: Settings) -> str:
    if settings.auth == "none":
        return "none: everybody on this machine is the operator, without a token"
    return f"token; yours is in {settings.data / 'operator.token'}"
