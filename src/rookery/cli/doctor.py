"""`rook doctor`: what works here, what does not, and what to install for the rest."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from rookery.cli.commands import command
from rookery.cli.desk import Desk
from rookery.cli.display import Cell, say, show_table
from rookery.cli.offline import is_alive, with_store, with_store_found
from rookery.cli.text import counted, sized
from rookery.config import Settings, load
from rookery.domain.errors import RookeryError

commands = typer.Typer()

State = Literal["ok", "missing", "warning", "failed"]
_STYLES = {"ok": "green", "missing": "dim", "warning": "yellow", "failed": "bold red"}
_LEAST_SPACE = 100 << 20
_NEEDED_SQLITE = (3, 37, 0)

_PROGRAMS = (
    ("claude", ["--version"], "Claude Code as an agent: npm install -g @anthropic-ai/claude-code"),
    ("codex", ["--version"], "Codex as an agent: npm install -g @openai/codex"),
    ("tmux", ["-V"], "two agents side by side: apt install tmux, or brew install tmux"),
    ("node", ["--version"], "JavaScript clients and the agents above: https://nodejs.org"),
    ("prosody", ["--version"], "agents on your phone over XMPP: apt install prosody"),
    ("psql", ["--version"], "a look into PostgreSQL: apt install postgresql-client"),
)


class Check(msgspec.Struct):
    """`needed`: the hub cannot do without it."""

    name: str
    state: State
    detail: str
    needed: bool = False


@command(
    commands,
    hub=False,
    examples="""
    rook doctor
    rook doctor --data ./hub --json
    """,
)
def doctor(
    desk: Desk,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The data directory to look at.", show_default=False)
    ] = None,
) -> None:
    """Check what works here, and say what to install.

    The exit code is 1 if something is in the way of a hub, and 0 otherwise.
    """
    checks = list(_checks(data))
    failed = [check for check in checks if check.needed and check.state == "failed"]
    desk.answer({"ok": not failed, "checks": checks}, lambda: _show(checks, failed))
    if failed:
        raise typer.Exit(1)


def _checks(data: Path | None) -> Iterator[Check]:
    yield _python()
    yield _sqlite()
    try:
        settings = with_store_found(load(flags={"data": data}))
    except RookeryError as error:
        yield Check("settings", "failed", error.message, needed=True)
        return
    yield Check("settings", "ok", "valid; `rook config` shows them", needed=True)
    yield _directory(settings.data)
    yield _space(settings.data)
    running = _hub(settings)
    yield running
    if running.state != "ok":
        yield _port(settings)
        yield _store(settings)
    for name, question, purpose in _PROGRAMS:
        yield _program(name, question, purpose)


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    told = version if good else f"{version}; rookery needs 3.11 or newer"
    return Check("python", "ok" if good else "failed", told, needed=True)


def _sqlite() -> Check:
    import sqlite3

    version = sqlite3.sqlite_version
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(word)")
    except sqlite3.OperationalError:
        return Check("sqlite", "failed", f"{version} without FTS5: search needs a build that has it", needed=True)
    finally:
        connection.close()
    if sqlite3.sqlite_version_info < _NEEDED_SQLITE:
        wanted = ".".join(map(str, _NEEDED_SQLITE))
        return Check("sqlite", "failed", f"{version} is too old; {wanted} or newer is needed", needed=True)
    return Check("sqlite", "ok", f"{version} with FTS5", needed=True)


def _directory(data: Path) -> Check:
    if not data.exists():
        parent = next(each for each in data.absolute().parents if each.exists())
        if os.access(parent, os.W_OK | os.X_OK):
            return Check("data directory", "ok", f"{data} will be made by `rook up`", needed=True)
        return Check("data directory", "failed", f"{data} cannot be made: {parent} is not writable", needed=True)
    if not data.is_dir():
        return Check("data directory", "failed", f"{data} is not a directory", needed=True)
    if not os.access(data, os.W_OK | os.X_OK):
        told = f"{data} is not writable; change its owner or mode, or use --data"
        return Check("data directory", "failed", told, needed=True)
    if data.stat().st_mode & 0o077:
        told = f"{data} is open to other users; `chmod 700 {data}` keeps them out"
        return Check("data directory", "warning", told, needed=True)
    return Check("data directory", "ok", str(data), needed=True)


def _space(data: Path) -> Check:
    place = next(each for each in (data.absolute(), *data.absolute().parents) if each.exists())
    free = shutil.disk_usage(place).free
    state: State = "ok" if free >= _LEAST_SPACE else "failed"
    advice = "" if state == "ok" else "; make room, or use --data on another disk"
    return Check("disk space", state, f"{sized(free)} free{advice}", needed=True)


def _hub(settings: Settings) -> Check:
    from rookery.client import Client
    from rookery.wire.discovery import running_hub

    hub = running_hub(settings.data)
    if hub is None:
        return Check("hub", "missing", "not running; start it with `rook up`")
    if not is_alive(hub.pid):
        return Check("hub", "warning", f"process {hub.pid} ended without a goodbye; start it with `rook up`")
    try:
        with Client(hub.url, data=settings.data, timeout=3.0, patience=0.0) as client:
            answer = client.health()
    except RookeryError as error:
        return Check("hub", "failed", f"at {hub.url} (process {hub.pid}): {error.message}", needed=True)
    return Check("hub", "ok", f"{answer.version} at {hub.url} (process {hub.pid})")


def _port(settings: Settings) -> Check:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as exc:
            told = f"{settings.host}:{settings.port}: {exc.strerror}; choose another with --port"
            return Check("port", "failed", told, needed=True)
    return Check("port", "ok", f"{settings.host}:{settings.port} is free", needed=True)


def _store(settings: Settings) -> Check:
    from rookery.ports import Store

    if not settings.data.is_dir() or not any(settings.data.iterdir()):
        return Check("store", "ok", f"{settings.store}, nothing stored yet", needed=True)

    async def look(store: Store) -> str:
        report = store.report()
        return f"{report.kind}, {counted(report.messages, 'message')}, {sized(report.bytes)}"

    try:
        return Check("store", "ok", with_store(settings, look), needed=True)
    except RookeryError as error:
        return Check("store", "failed", error.message, needed=True)


def _program(name: str, question: list[str], purpose: str) -> Check:
    path = shutil.which(name)
    if path is None:
        return Check(name, "missing", f"for {purpose}")
    try:
        asked = subprocess.run(
            [path, *question], capture_output=True, timeout=10, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        return Check(name, "warning", f"{path} does not answer: {exc}")
    said = (asked.stdout or asked.stderr).decode(errors="replace").strip()
    if asked.returncode != 0 and name != "prosody":
        return Check(name, "warning", f"{path} ends with {asked.returncode}: {said[:200]}")
    return Check(name, "ok", f"{said.splitlines()[0][:80] if said else 'here'}, {path}")


def _show(checks: list[Check], failed: list[Check]) -> None:
    rows = [[Cell(check.name, "bold"), Cell(check.state, _STYLES[check.state]), check.detail] for check in checks]
    show_table(["check", "state", "detail"], rows)
    if failed:
        say(f"{counted(len(failed), 'thing')} in the way of a hub: {', '.join(c.name for c in failed)}.", "red")
    else:
        say("A hub can run here.", "green")
