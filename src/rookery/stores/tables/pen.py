"""The writer's pen: rows that a group of works adds are held back and written many at a time.

Every statement makes Python give up its lock and fight for it again, which under load costs more than the
statement. A group of sends adds rows of the same few kinds, so it can do with a few statements.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

_SIZES = (64, 16, 4, 3, 2, 1)
Row = tuple[object, ...]


class Form:
    """The statements that insert 64, 16, … or 1 rows of one kind."""

    def __init__(self, table: str, columns: Sequence[str], *, otherwise: str = "") -> None:
        row = f"({', '.join('?' for _ in columns)})"
        head = f"INSERT INTO {table} ({', '.join(columns)}) VALUES"
        self.statements = [(size, f"{head} {', '.join([row] * size)} {otherwise}") for size in _SIZES]

    def fill(self, connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
        start, end = 0, len(rows)
        for size, statement in self.statements:
            while end - start >= size:
                connection.execute(statement, tuple(chain.from_iterable(rows[start : start + size])))
                start += size


class Pen:
    """A connection that writes what it holds back before it does anything else, so that nobody can tell."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._held: dict[Form, dict[object, Row]] = {}
        self._count = 0

    def hold(self, form: Form, row: Row, key: object = None) -> None:
        """Write the row later. Of the rows held back under one key, the last counts."""
        self._count += 1
        self._held.setdefault(form, {})[self._count if key is None else key] = row

    def holds(self, form: Form, key: object) -> bool:
        return key in self._held.get(form, ())

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        return self.up_to_date().execute(sql, parameters)

    def executemany(self, sql: str, rows: Iterable[Row]) -> None:
        self.up_to_date().executemany(sql, rows)

    def up_to_date(self) -> sqlite3.Connection:
        """The connection, once everything held back is written."""
        if self._held:
            held, self._held = self._held, {}
            for form, rows in held.items():
                form.fill(self.connection, list(rows.values()))
        return self.connection

    def mark(self) -> tuple[int, int]:
        """Changes whenever something is written or held back."""
        return self.connection.total_changes, self._count

    def forget(self) -> None:
        self._held = {}
