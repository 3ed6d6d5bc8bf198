"""The entry that tells an agent program of our MCP server, in that program's own configuration.

Nothing else in the file changes, and no secret is written: `rook mcp` finds the hub and its seat by itself.
"""

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from rookery.domain.errors import InvalidRequest, StorageUnavailable

Program = Literal["claude", "codex"]
KEY = "rookery"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Edit:
    """A file as it is and as it would be; both are empty when there is none. `after` None means: remove it."""

    path: Path
    before: str
    after: str | None

    @property
    def needed(self) -> bool:
        return self.before != (self.after or "")

    def make(self) -> None:
        """In one step, so that a program that reads meanwhile never sees half of it."""
        target = self.path.resolve()  # people link their configuration from elsewhere
        try:
            if self.after is None:
                target.unlink(missing_ok=True)
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(self.after)
                    file.flush()
                    os.fsync(file.fileno())
                Path(name).chmod(mode)
                Path(name).replace(target)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as exc:
            raise StorageUnavailable(f"{target} cannot be written: {exc.strerror}.") from exc


def place_of(program: Program, *, project: Path | None) -> Path:
    """Where that program looks: for one project, or for everything that this user does."""
    if program == "claude":
        if project is not None:
            return project / ".mcp.json"
        elsewhere = os.environ.get("CLAUDE_CONFIG_DIR")
        return (Path(elsewhere) if elsewhere else Path.home()) / ".claude.json"
    if project is not None:
        return project / ".codex" / "config.toml"
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"


def connecting(program: Program, path: Path, command: Sequence[str]) -> Edit:
    before = _read(path)
    with_entry = _CHANGES[program][0]
    return Edit(path, before, with_entry(path, before, list(command)))


def undoing(program: Program, path: Path) -> Edit:
    before = _read(path)
    without_entry = _CHANGES[program][1]
    return Edit(path, before, without_entry(path, before) if before else None)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidRequest(f"{path} cannot be read: {exc}.") from exc


# -- Claude Code: JSON --------------------------------------------------------------------------------------


def _claude_with(path: Path, before: str, command: list[str]) -> str:
    settings = _json(path, before)
    servers = _table(path, settings.setdefault("mcpServers", {}))
    entry = {"type": "stdio", "command": command[0], "args": command[1:]}
    if servers.get(KEY) == entry:
        return before
    servers[KEY] = entry
    return _dumped(settings)


def _claude_without(path: Path, before: str) -> str | None:
    settings = _json(path, before)
    servers = _table(path, settings.get("mcpServers", {}))
    if KEY not in servers:
        return before
    del servers[KEY]
    if not servers:
        del settings["mcpServers"]
    return _dumped(settings) if settings else None


def _json(path: Path, text: str) -> Json:
    try:
        return _table(path, json.loads(text or "{}"))
    except ValueError as exc:
        raise _not_understood(path, exc) from exc


def _table(path: Path, value: object) -> Json:
    if not isinstance(value, dict):
        raise _not_understood(path, "an object was expected")
    return cast(Json, value)


def _dumped(settings: Json) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


# -- Codex: TOML, of which only our own table is touched ----------------------------------------------------

_OWN_TABLE = re.compile(
    rf"(?:^|\n)[ \t]*\[mcp_servers\.(?:{KEY}|\"{KEY}\")(?:\.[^\]\n]+)?\][^\n]*\n(?:(?![ \t]*\[)[^\n]*(?:\n|\Z))*"
)


# Codex gives the servers it starts none of its environment but what is named.
_PASSED_ON = ("ROOKERY_DATA", "ROOKERY_URL", "ROOKERY_TOKEN", "ROOKERY_AGENT", "XDG_DATA_HOME")


def _codex_with(path: Path, before: str, command: list[str]) -> str:
    settings = _toml(path, before)
    servers = _table(path, settings.get("mcp_servers", {}))
    wanted = {
        "command": command[0], "args": command[1:], "default_tools_approval_mode": "approve",
        "tool_timeout_sec": 900, "env_vars": list(_PASSED_ON),
    }  # fmt: skip
    if servers.get(KEY) == wanted:
        return before
    rest = _codex_without(path, before) or ""
    arguments = ", ".join(map(_quoted, command[1:]))
    table = (
        f"[mcp_servers.{KEY}]\ncommand = {_quoted(command[0])}\nargs = [{arguments}]\n"
        'default_tools_approval_mode = "approve"  # these tools send messages, and touch nothing else\n'
        "tool_timeout_sec = 900  # a person may take minutes to answer\n"
        f"env_vars = [{', '.join(map(_quoted, _PASSED_ON))}]\n"
    )
    after = f"{rest.rstrip()}\n\n{table}" if rest.strip() else table
    if _toml(path, after) != _merged(settings, wanted):
        raise _not_understood(path, "its entry for rookery is written in a way that cannot be replaced")
    return after


def _codex_without(path: Path, before: str) -> str | None:
    settings = _toml(path, before)
    servers = _table(path, settings.get("mcp_servers", {}))
    if KEY not in servers:
        return before
    after = _OWN_TABLE.sub("\n", before).strip("\n")
    others = {name: server for name, server in servers.items() if name != KEY}
    rest = {name: value for name, value in settings.items() if name != "mcp_servers"}
    if _toml(path, after) not in (rest | {"mcp_servers": others}, rest):
        raise _not_understood(path, "its entry for rookery is written in a way that cannot be taken out")
    return f"{after}\n" if after.strip() else None


def _merged(settings: Json, entry: Json) -> Json:
    return settings | {"mcp_servers": settings.get("mcp_servers", {}) | {KEY: entry}}


def _toml(path: Path, text: str) -> Json:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise _not_understood(path, exc) from exc


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a basic string of TOML is one of JSON


def _not_understood(path: Path, why: object) -> InvalidRequest:
    return InvalidRequest(f"{path} is left as it is: {why}. Mend it, or add the entry by hand (see docs/mcp.md).")


_Change = tuple[Callable[[Path, str, list[str]], str], Callable[[Path, str], str | None]]
_CHANGES: dict[Program, _Change] = {
    "claude": (_claude_with, _claude_without),
    "codex": (_codex_with, _codex_without),
}
