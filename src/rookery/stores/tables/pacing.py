"""The pace of each directed pair, in SQL."""

import sqlite3

import msgspec

from rookery.domain.pacing import Pace
from rookery.stores.tables.changes import Changes, pacing_record

_GET = "SELECT level, accepted FROM pacing WHERE sender = ? AND target = ?"
_PUT = (
    "INSERT INTO pacing (sender, target, level, accepted) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (sender, target) DO UPDATE SET level = excluded.level, accepted = excluded.accepted"
)
_UNTOUCHED = Pace()
_times = msgspec.json.Decoder(tuple[int, ...]).decode


class PacingTable:
    def __init__(self, connection: sqlite3.Connection, changes: Changes | None) -> None:
        self._connection = connection
        self._changes = changes

    def get(self, sender: str, target: str) -> Pace:
        row = self._connection.execute(_GET, (sender, target)).fetchone()
        return _UNTOUCHED if row is None else Pace(row[0], _times(row[1]))

    def put(self, sender: str, target: str, pace: Pace) -> None:
        accepted = msgspec.json.encode(pace.accepted).decode()
        self._connection.execute(_PUT, (sender, target, pace.level, accepted))
        if self._changes is not None:
            self._changes.append(pacing_record(sender, target, pace.level, list(pace.accepted)))
