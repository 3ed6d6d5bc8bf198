"""What the writer does when nobody waits: search index, checkpoint, giving disk space back."""

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

from rookery.stores.tables import search

_log = logging.getLogger(__name__)

_ROWS_WHEN_IDLE = 500
_ROWS_WHEN_BEHIND = 2_000
_PAGES_TO_FREE = 256
_WORTH_FREEING = 1024
"""Free pages (4 MB) from which on it is worth the work to give them back to the disk."""


class Chores:
    """`any` tells whether something is left to do, `more` whether it should go on without a pause."""

    def __init__(self, connection: sqlite3.Connection, place: Path) -> None:
        self._connection = connection
        self._place = place
        self._indexed: int | None = None
        self._dirty = True
        self.any = True
        self.more = False

    def after_group(self, last_rid: int) -> None:
        self.any = self._dirty = True
        self.more = False
        while self._indexed is None or last_rid - self._indexed > search.BACKLOG_LIMIT:
            if not self._guarded(self._index, _ROWS_WHEN_BEHIND):
                break

    def when_idle(self) -> None:
        """One short piece of work, so that a send that comes meanwhile hardly waits."""
        self.more = self._guarded(self._index, _ROWS_WHEN_IDLE) or self._guarded(self._free_pages, 0)
        if not self.more and self._dirty:
            self._guarded(self._checkpoint, 0)
            self._dirty = False
        self.any = self.more

    def make_room(self) -> None:
        """On a full disk, once the reserve is given back: the log into the database, which shortens the log."""
        self._guarded(self._truncate_log, 0)

    def after_freeing(self) -> None:
        """On a full disk: give back at once what a work has freed, in steps that need little room."""
        self.make_room()
        while self._guarded(self._free_pages, 1):
            self.make_room()

    def last(self) -> None:
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _guarded(self, chore: Callable[[int], bool], amount: int) -> bool:
        try:
            return chore(amount)
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            _log.warning("Housekeeping in %s failed, to be tried again: %s", self._place, error)
            return False

    def _index(self, rows: int) -> bool:
        if search.backlog(self._connection) == 0:
            self._indexed = search.last_indexed(self._connection)
            return False
        self._connection.execute("BEGIN IMMEDIATE")
        self._indexed = search.index_more(self._connection, rows)
        self._connection.execute("COMMIT")
        return True

    def _free_pages(self, least: int) -> bool:
        (free,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        if free < (least or _WORTH_FREEING):
            return False
        # The pragma frees one page for each row that is fetched.
        self._connection.execute(f"PRAGMA incremental_vacuum({_PAGES_TO_FREE})").fetchall()
        (left,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        return left < free

    def _checkpoint(self, _: int) -> bool:
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        return False

    def _truncate_log(self, _: int) -> bool:
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return False
