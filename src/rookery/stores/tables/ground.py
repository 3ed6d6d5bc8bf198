"""What an open store holds: the lock, the connection that writes, the mark and the reserve."""

import os
import sqlite3
from pathlib import Path

from rookery.domain.errors import StorageDamaged
from rookery.stores.tables.changes import Changes
from rookery.stores.tables.chores import Chores
from rookery.stores.tables.connection import Durability, open_writer
from rookery.stores.tables.group import GroupCommit, Truth
from rookery.stores.tables.highwater import HighWaterMark
from rookery.stores.tables.lock import DirectoryLock
from rookery.stores.tables.migrations import migrate
from rookery.stores.tables.reserve import Reserve
from rookery.stores.tables.transaction import TableTransaction


class Ground:
    """Made and taken down on the writer's thread. `accept_loss` lets a repair open what `open` refuses."""

    def __init__(
        self, directory: Path, file: Path, *, synchronous: Durability = "FULL", accept_loss: bool = False
    ) -> None:
        self.directory = directory
        self.file = file
        self.mark = HighWaterMark(directory / "highwater")
        self.reserve = Reserve(directory / "reserve")
        self.accept_loss = accept_loss
        self.loss = ""
        self._synchronous: Durability = synchronous
        self._lock = DirectoryLock(directory)
        self._connection: sqlite3.Connection | None = None

    def prepare(self) -> tuple[GroupCommit, TableTransaction, Chores]:
        self._make_directory()
        self._lock.acquire()
        self.before_connecting()
        self._connection = connection = open_writer(self.file, synchronous=self._synchronous)
        migrate(connection, self.directory)
        transaction = TableTransaction(connection, writable=True, changes=self.changes())
        self.mark.open()
        self.recover(transaction)
        self._verify(transaction.journal.end())
        self.mark.write(transaction.journal.end())
        self.reserve.make()
        sync_directory(self.directory)
        chores = Chores(connection, self.directory)
        commit = GroupCommit(
            transaction, self.directory, self.reserve, make_room=chores.make_room, truth=self.truth()
        )
        return commit, transaction, chores

    def take_down(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self.mark.close()
        self._lock.release()

    # ---- for a store whose truth is not the database

    def before_connecting(self) -> None:
        """The directory is ours; the database is not open yet."""

    def recover(self, transaction: TableTransaction) -> None:
        """Make the database agree with the truth. The mark can be read, and is not yet verified."""

    def changes(self) -> Changes | None:
        return None

    def truth(self) -> Truth | None:
        return None

    def _verify(self, end: int) -> None:
        try:
            self.mark.verify(end, self.directory)
        except StorageDamaged as damage:
            if not self.accept_loss:
                raise
            self.loss = damage.message

    def _make_directory(self) -> None:
        if not self.directory.is_dir():
            self.directory.mkdir(parents=True, mode=0o700)
            self.directory.chmod(0o700)


def sync_directory(directory: Path) -> None:
    """A new file is on disk only when the directory that names it is."""
    handle = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
