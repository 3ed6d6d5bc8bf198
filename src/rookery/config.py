"""Settings: defaults < `rookery.toml` < `ROOKERY_*` variables < flags."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from rookery.domain.errors import InvalidRequest
from rookery.wire.discovery import default_data_directory

Auth = Literal["token", "none"]
StoreKind = Literal["sqlite", "maildir"]
LogLevel = Literal["debug", "info", "warning", "error"]

FILE = "rookery.toml"
PREFIX = "ROOKERY_"
FOR_CLIENTS = ("ROOKERY_URL", "ROOKERY_TOKEN", "ROOKERY_CONFIG", "ROOKERY_DEBUG")
"""Variables that are ours and are no settings of the hub."""

Seconds = Annotated[float, Meta(gt=0, le=10_000_000)]
Count = Annotated[int, Meta(ge=1, le=10_000_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that the operator may set. Times are in seconds, sizes in bytes."""

    host: Annotated[str, Meta(min_length=1, description="The address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="The port; 0 takes a free one.")] = 8200
    data: Annotated[Path, Meta(description="The directory that holds everything.")] = field(
        default_factory=default_data_directory
    )
    store: Annotated[StoreKind, Meta(description="How messages are kept.")] = "sqlite"
    auth: Annotated[Auth, Meta(description="`none` takes every caller on this machine for the operator.")] = (
        "token"
    )
    allowed_hosts: Annotated[
        tuple[str, ...], Meta(description="More names under which the hub may be called, as host:port.")
    ] = ()
    log_level: Annotated[LogLevel, Meta(description="How much the hub says.")] = "info"
    max_body: Annotated[
        int, Meta(ge=1024, le=1_073_741_824, description="The largest request body, in bytes.")
    ] = 1_048_576
    max_requests: Annotated[Count, Meta(description="Requests at work at once; more get 503.")] = 1_024
    max_sockets: Annotated[Count, Meta(description="WebSockets at once; more are refused.")] = 2_048
    write_queue: Annotated[Count, Meta(description="Writes that may wait for the disk; more get 503.")] = 10_000
    socket_buffer: Annotated[
        Count, Meta(description="Events kept for a slow WebSocket before it is closed to resume.")
    ] = 1_024
    rate_per_second: Annotated[
        float, Meta(gt=0, le=10_000_000, description="Calls a second that one agent's token may make.")
    ] = 50.0
    rate_burst: Annotated[Count, Meta(description="Calls that it may make at once.")] = 500
    pacing_first_gap: Annotated[
        Seconds, Meta(description="The first gap between two paced messages of a pair; it doubles.")
    ] = 2.0
    pacing_longest_gap: Annotated[Seconds, Meta(description="The longest such gap.")] = 30.0
    pacing_eager_within: Annotated[
        Seconds, Meta(description="A message this soon after it was allowed makes the next gap longer.")
    ] = 5.0
    pacing_reset_after: Annotated[Seconds, Meta(description="Silence that ends the back-off of a pair.")] = 30.0
    pacing_window: Annotated[Seconds, Meta(description="The window in which a pair's messages count.")] = 60.0
    pacing_most_in_window: Annotated[Count, Meta(description="Messages of a pair in that window.")] = 10
    ask_patience: Annotated[
        Seconds, Meta(description="How long an ask waits for its answer, at most and by default.")
    ] = 120.0
    ask_grace: Annotated[
        Seconds, Meta(description="How long an ask outlives its caller, who may come back for the answer.")
    ] = 10.0
    approval_patience: Annotated[
        Seconds, Meta(description="How long an approval waits before it counts as denied.")
    ] = 900.0
    trace_most_hops: Annotated[
        Count,
        Meta(description="Messages between agents, each caused by the last, before the operator is asked."),
    ] = 16
    trace_most_messages: Annotated[
        Count,
        Meta(description="Messages that one set off between agents, before the operator is asked."),
    ] = 50
    trace_remembered: Annotated[
        Seconds, Meta(description="How long what an agent was given counts as the cause of what it says.")
    ] = 600.0
    claim_silence: Annotated[Seconds, Meta(description="Silence of its owner after which a claim is lost.")] = (
        900.0
    )
    claim_most_losses: Annotated[Count, Meta(description="Lost claims after which a message is dead.")] = 5
    silent_after: Annotated[Seconds, Meta(description="Silence after which an agent is offline.")] = 60.0
    sweep_every: Annotated[Seconds, Meta(description="How often the hub looks for such silence.")] = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """`sources` says for each field where its value came from: `default`, a file, a variable or `flag`."""

    settings: Settings
    sources: Mapping[str, str]
    file: Path | None


def load(
    *,
    flags: Mapping[str, object] | None = None,
    file: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    directory: Path | None = None,
) -> Loaded:
    """The settings in effect. Flags that are None were not given. `file` replaces the search for one.

    Raises InvalidRequest, naming the place, the key and what is allowed, for whatever it does not know.
    """
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    named = file or (Path(environ[f"{PREFIX}CONFIG"]) if environ.get(f"{PREFIX}CONFIG") else None)
    found = _file(named, directory or Path.cwd(), _data_before_files(given, environ))
    values: dict[str, object] = {}
    sources = dict.fromkeys(descriptions(), "default")
    in_flags = {name: _checked("flag", name, value, from_text=True) for name, value in given.items()}
    for layer, source in (
        (_from_file(found) if found else {}, str(found)),
        (_from_environment(environ), PREFIX),
        (in_flags, "flag"),
    ):
        values |= layer
        sources |= {name: f"{PREFIX}{name.upper()}" if source == PREFIX else source for name in layer}
    settings = Settings(**values)  # pyright: ignore[reportArgumentType] - each was converted to its type
    _refuse_contradictions(settings)
    return Loaded(settings=settings, sources=sources, file=found)


def descriptions() -> dict[str, str]:
    """Every setting with a sentence about it."""
    return {name: _notes(hint)[-1].description or "" for name, hint in _hints().items()}


def allowed(name: str) -> str:
    """What may stand there, for people."""
    hint = _hints()[name]
    kind = _plain(hint)
    limits = {
        key: limit
        for note in _notes(hint)
        for key in ("gt", "ge", "le")
        if (limit := getattr(note, key)) is not None
    }
    if get_origin(kind) is Literal:
        return " or ".join(repr(choice) for choice in get_args(kind))
    if get_origin(kind) is tuple:
        return "a list of texts"
    if kind in (int, float):
        noun = "a whole number" if kind is int else "a number"
        lower = f"above {limits['gt']}" if "gt" in limits else f"from {limits.get('ge', 0)}"
        return f"{noun} {lower} up to {limits['le']}"
    return "a path" if kind is Path else "a text that is not empty"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it. A name other than localhost may resolve to anything."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


# -- the layers ------------------------------------------------------------------------------------------


def _data_before_files(flags: Mapping[str, object], environ: Mapping[str, str]) -> Path:
    """Where a `rookery.toml` of the data directory would lie: a file cannot say where to look for it."""
    named = flags.get("data") or environ.get(f"{PREFIX}DATA")
    return Path(str(named)).expanduser() if named else default_data_directory()


def _file(named: Path | None, directory: Path, data: Path) -> Path | None:
    if named is not None:
        if not named.is_file():
            raise InvalidRequest(f"There is no settings file {str(named)!r}; check the path.")
        return named
    return next((path for path in (directory / FILE, data / FILE) if path.is_file()), None)


def _from_file(path: Path) -> dict[str, object]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidRequest(f"The settings file {path} cannot be read: {exc}.") from exc
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise InvalidRequest(f"{path} is not TOML: {exc}.") from exc
    values: dict[str, object] = {}
    for name, value in table.items():
        if name not in _hints():
            raise InvalidRequest(f"{path}: there is no setting {name!r}.{_suggestion(name)}")
        values[name] = _checked(str(path), name, value)
        if isinstance(values[name], Path):
            values[name] = path.parent / str(values[name])
    return values


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for variable, text in environ.items():
        if not variable.startswith(PREFIX) or variable in FOR_CLIENTS or not text:
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name not in _hints():
            raise InvalidRequest(f"{variable} is no setting.{_suggestion(name, PREFIX)}")
        value: object = text
        if get_origin(_plain(_hints()[name])) is tuple:
            value = [part.strip() for part in text.split(",") if part.strip()]
        values[name] = _checked(variable, name, value, from_text=True)
    return values


def _checked(where: str, name: str, value: object, *, from_text: bool = False) -> object:
    hint = _hints()[name]
    if _plain(hint) is Path and isinstance(value, str | Path) and str(value):
        return Path(value).expanduser()
    try:
        return msgspec.convert(value, hint, strict=not from_text)
    except msgspec.ValidationError as exc:
        place = f"--{name.replace('_', '-')}" if where == "flag" else f"{where}: {name}"
        if where.startswith(PREFIX):
            place = where
        raise InvalidRequest(f"{place} is {value!r}; it must be {allowed(name)}.") from exc


def _refuse_contradictions(settings: Settings) -> None:
    if settings.auth == "none" and not is_loopback(settings.host):
        raise InvalidRequest(
            f"auth 'none' makes every caller the operator, so it is for this machine only and not for "
            f"{settings.host!r}. Leave out --host, or use --auth token."
        )
    if settings.pacing_longest_gap < settings.pacing_first_gap:
        raise InvalidRequest(
            f"pacing_longest_gap ({settings.pacing_longest_gap}) is below pacing_first_gap "
            f"({settings.pacing_first_gap}); make it at least as long."
        )


# -- the fields ------------------------------------------------------------------------------------------


def _hints() -> dict[str, Any]:
    hints = get_type_hints(Settings, include_extras=True)
    return {each.name: hints[each.name] for each in fields(Settings)}


def _plain(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _notes(hint: Any) -> list[Meta]:
    return [note for note in get_args(hint)[1:] if isinstance(note, Meta)]


def _suggestion(name: str, prefix: str = "") -> str:
    near = get_close_matches(name, list(_hints()), n=1)
    spelled = [f"{prefix}{each.upper() if prefix else each}" for each in near or _hints()]
    return f" Did you mean {spelled[0]}?" if near else f" There are: {', '.join(spelled)}."
