"""Asks in SQL."""

import sqlite3
from collections.abc import Sequence

from rookery.domain.asks import Ask
from rookery.stores.tables.changes import Changes
from rookery.stores.tables.papers import Kind, Papers

ASK = Kind("ask", "asks", Ask, key=("message_id",), copies=("asker", "target", "deadline", "open"))

OPEN_TO = f"{ASK.select} WHERE target = ? AND open ORDER BY rid"
OPEN_BY = f"{ASK.select} WHERE asker = ? AND open ORDER BY rid"
OVERDUE = f"{ASK.select} WHERE open AND deadline <= ? ORDER BY deadline, rid LIMIT ?"


class AskTable:
    def __init__(self, connection: sqlite3.Connection, changes: Changes | None, *, writable: bool) -> None:
        self._papers = Papers(ASK, connection, changes, writable=writable)

    def get(self, message_id: str) -> Ask | None:
        return self._papers.one(ASK.get, message_id)

    def put(self, ask: Ask) -> None:
        self._papers.put(ask)

    def open_to(self, target: str) -> Sequence[Ask]:
        return self._papers.many(OPEN_TO, target)

    def open_by(self, asker: str) -> Sequence[Ask]:
        return self._papers.many(OPEN_BY, asker)

    def overdue(self, now: int, limit: int) -> Sequence[Ask]:
        return self._papers.due(OVERDUE, now, limit)

    def all(self) -> Sequence[Ask]:
        return self._papers.many(ASK.all)
