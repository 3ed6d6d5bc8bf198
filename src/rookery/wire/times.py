"""Times on the wire are ISO 8601 in UTC; inside they are milliseconds since the epoch."""

from datetime import UTC, datetime


def iso(at: int) -> str:
    seconds, milliseconds = divmod(at, 1000)  # a float would lose milliseconds of far away years
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat()[:19]}.{milliseconds:03d}Z"


def iso_or_none(at: int | None) -> str | None:
    return None if at is None else iso(at)


def millis(text: str) -> int:
    """Raises ValueError for what is no time. Without a zone it is taken as UTC."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
