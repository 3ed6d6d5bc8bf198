"""Durations as people write them, and moments as they read them."""

import re
from datetime import UTC, datetime

from rookery.domain.errors import InvalidRequest

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhdw])", re.ASCII)


def seconds(text: str, option: str) -> float:
    """`90`, `10m`, `1h30m`, `30d`. Raises InvalidRequest, naming the option, for anything else."""
    plain = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", plain, re.ASCII):
        return float(plain)
    parts = _PART.findall(plain)
    if not parts or "".join(number + unit for number, unit in parts) != plain:
        raise InvalidRequest(
            f"{option} is {text!r}; write a duration such as 90s, 10m, 2h, 1h30m, 30d or 2w.", option=option
        )
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def clock(moment: str) -> str:
    """A moment of the wire as local time: the hour for today, the date before that."""
    try:
        local = datetime.fromisoformat(moment).astimezone()
    except ValueError:
        return moment
    today = local.date() == datetime.now(UTC).astimezone().date()
    return local.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S")


def left(moment: str) -> str:
    """How long it is until then, in one unit."""
    try:
        ahead = (datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds()
    except ValueError:
        return moment
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if ahead >= length:
            return f"{ahead // length:.0f} {unit} left"
    return f"{ahead:.0f} s left" if ahead >= 1 else "no time left"


def ago(moment: str) -> str:
    """How long it is since then, in one unit."""
    try:
        passed = (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()
    except ValueError:
        return moment
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if passed >= length:
            return f"{passed // length:.0f} {unit} ago"
    return "just now" if passed < 5 else f"{passed:.0f} s ago"
