"""How a client finds the hub of this machine: two small files in the data directory."""

import os
from pathlib import Path

import msgspec

HUB_FILE = "hub.json"
TOKEN_FILE = "operator.token"  # noqa: S105 - a file name, not a secret


class HubFile(msgspec.Struct, frozen=True):
    """Written when the hub listens, removed when it stops; left behind only by a crash."""

    url: str
    pid: int
    version: str
    started_at: str
    auth: str


def default_data_directory() -> Path:
    """`ROOKERY_DATA`, else the user's own data directory."""
    named = os.environ.get("ROOKERY_DATA")
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "rookery"


def running_hub(data: Path) -> HubFile | None:
    """What the hub of that directory said of itself, if it said anything. It may have crashed since."""
    try:
        return msgspec.json.decode((data / HUB_FILE).read_bytes(), type=HubFile)
    except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError):
        return None


def operator_token(data: Path) -> str | None:
    try:
        return (data / TOKEN_FILE).read_text(encoding="ascii").strip() or None
    except (FileNotFoundError, NotADirectoryError):
        return None
