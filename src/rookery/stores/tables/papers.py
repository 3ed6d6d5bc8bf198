"""Records that are kept whole, as JSON, in the last column of their row. The columns before it are copies of the
fields they are looked up by.
"""

import logging
import sqlite3
from operator import attrgetter
from typing import Any, Generic, TypeVar

import msgspec

from rookery.domain.errors import StorageDamaged
from rookery.stores.tables.changes import Changes, paper_record, removed_paper_record
from rookery.stores.tables.faults import ReadOnly, damaged_paper
from rookery.stores.tables.pen import Form
from rookery.stores.tables.rows import page_of

T = TypeVar("T")

_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode


class Kind(Generic[T]):
    """One kind of record: the fields it lies under, and those it is looked up by besides."""

    def __init__(
        self,
        name: str,
        table: str,
        of: type[T],
        *,
        key: tuple[str, ...],
        copies: tuple[str, ...] = (),
        order: str = "rid",
    ) -> None:
        self.name = name
        self.key = key
        self.select = f"SELECT paper FROM {table}"
        self.all = f"{self.select} ORDER BY {order}"
        self.get = f"{self.select} WHERE {' AND '.join(f'{column} = ?' for column in key)}"
        replaced = ", ".join(f"{column} = excluded.{column}" for column in (*copies, "paper"))
        self.form = Form(
            table,
            (*key, *copies, "paper"),
            otherwise=f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {replaced}",
        )
        self.remove = f"DELETE FROM {table} WHERE {' AND '.join(f'{column} = ?' for column in key)}"
        self._decode = msgspec.json.Decoder(of).decode
        self._fields = [attrgetter(field) for field in (*key, *copies)]

    def row(self, record: T) -> tuple[Any, ...]:
        return (*(field(record) for field in self._fields), _encode(record).decode())

    def checked(self, paper: str) -> str:
        """The paper itself; raises StorageDamaged when that is no such record."""
        self.read(paper)
        return paper

    def read(self, paper: str) -> T:
        """Raises StorageDamaged when that is no such record."""
        try:
            return self._decode(paper)
        except msgspec.DecodeError as exc:
            raise damaged_paper(self.name, str(exc)) from exc


class Papers(Generic[T]):
    """The records of one kind. What each statement finds is their papers."""

    def __init__(
        self, kind: Kind[T], connection: sqlite3.Connection, changes: Changes | None, *, writable: bool
    ) -> None:
        self._kind = kind
        self._connection = connection
        self._changes = changes
        self._writable = writable
        self._damaged: set[str] = set()

    def one(self, sql: str, *values: object) -> T | None:
        row = self._connection.execute(sql, values).fetchone()
        return None if row is None else self._kind.read(row[0])

    def many(self, sql: str, *values: object) -> list[T]:
        return [self._kind.read(row[0]) for row in self._connection.execute(sql, values)]

    def page(self, sql: str, *values: object) -> list[T]:
        """As many of the first as fit a page of text, at least one."""
        rows = page_of(self._connection.execute(sql, values), texts=(0,))
        return [self._kind.read(row[0]) for row in rows]

    def due(self, sql: str, *values: object) -> list[T]:
        """What has come to its time. A damaged one must not keep the others waiting; it is told of once."""
        rows = page_of(self._connection.execute(sql, values), texts=(0,))
        return [record for row in rows if (record := self._intact(row[0])) is not None]

    def _intact(self, paper: str) -> T | None:
        try:
            return self._kind.read(paper)
        except StorageDamaged as damage:
            if paper not in self._damaged:
                self._damaged.add(paper)
                _log.warning("%s", damage.message)
            return None

    def put(self, record: T) -> None:
        if not self._writable:
            raise ReadOnly
        row = self._kind.row(record)
        self._kind.form.fill(self._connection, [row])
        if self._changes is not None:
            self._changes.append(paper_record(self._kind.name, row[-1]))

    def remove(self, *key: str) -> None:
        if not self._writable:
            raise ReadOnly
        removed = self._connection.execute(self._kind.remove, key).rowcount
        if removed and self._changes is not None:
            self._changes.append(
                removed_paper_record(self._kind.name, dict(zip(self._kind.key, key, strict=True)))
            )
