"""Papers that nearly every send looks up and replaces."""

from typing import Generic, TypeVar

from rookery.stores.tables.faults import ReadOnly
from rookery.stores.tables.papers import Kind
from rookery.stores.tables.pen import Pen

T = TypeVar("T")

_MOST = 10_000


class ByHeart(Generic[T]):
    """The writer, who alone changes them, knows them by heart, and writes them with the rest of the group."""

    def __init__(self, kind: Kind[T], pen: Pen, *, writable: bool) -> None:
        self._kind = kind
        self._pen = pen
        self._writable = writable
        self._known: dict[str, T] = {}

    def get(self, key: str) -> T | None:
        known = self._known.get(key)
        if known is not None:
            return known
        # Whatever is held back is known, so it need not be written before this looks.
        row = self._pen.connection.execute(self._kind.get, (key,)).fetchone()
        if row is None:
            return None
        record = self._kind.read(row[0])
        if self._writable:
            self._remember(key, record)
        return record

    def put(self, key: str, record: T) -> str:
        """Returns its paper."""
        if not self._writable:
            raise ReadOnly
        self._remember(key, record)
        row = self._kind.row(record)
        self._pen.hold(self._kind.form, row, key=key)
        return row[-1]

    def forget(self) -> None:
        """What is known is out of date, or was never stored: a group of works was taken back."""
        self._known.clear()

    def _remember(self, key: str, record: T) -> None:
        if len(self._known) >= _MOST:
            self._pen.up_to_date()
            self._known.clear()
        self._known[key] = record
