"""The store contract on tables. `sqlite` is this and nothing more; `maildir` keeps a truth beside it."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

from rookery.domain.errors import StorageDamaged, StorageUnavailable
from rookery.domain.events import Entry
from rookery.ports import RebuildReport, StoreReport, Transaction
from rookery.stores.tables import export, verify
from rookery.stores.tables.changes import Record
from rookery.stores.tables.connection import open_reader
from rookery.stores.tables.faults import translated
from rookery.stores.tables.ground import Ground
from rookery.stores.tables.load import load
from rookery.stores.tables.readers import Readers
from rookery.stores.tables.transaction import TableTransaction
from rookery.stores.tables.writer import Writer

T = TypeVar("T")


class TableStore:
    """Subclasses say what it is called, where its file is and what ground it stands on."""

    kind: ClassVar[str]
    file_name: ClassVar[str]

    def __init__(self, directory: Path, *, queue_limit: int = 10_000, readers: int = 3) -> None:
        self.directory = directory
        self.file = directory / self.file_name
        self._queue_limit = queue_limit
        self._reader_count = readers
        self._listeners: list[Callable[[int], None]] = []
        self._writer: Writer | None = None
        self._readers: Readers | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def ground(self, *, accept_loss: bool) -> Ground:
        raise NotImplementedError

    async def open(self) -> None:
        await self._open(accept_loss=False)

    async def _open(self, *, accept_loss: bool) -> None:
        ground = self.ground(accept_loss=accept_loss)
        self._loop = asyncio.get_running_loop()
        writer = Writer(self.directory, ground, self._listeners, queue_limit=self._queue_limit)
        await writer.start()
        self._writer = writer
        self._readers = Readers(self.directory, self.file, count=self._reader_count, queue_limit=self._queue_limit)
        self._readers.start()

    async def close(self) -> None:
        writer, readers = self._writer, self._readers
        if readers is not None:
            await readers.stop()
        if writer is not None:
            await writer.stop()
        self._writer = self._readers = None

    async def write(self, work: Callable[[Transaction], T], *, frees: bool = False) -> T:
        if self._writer is None:
            raise self._closed()
        return await self._writer.submit(work, frees=frees)

    async def read(self, work: Callable[[Transaction], T]) -> T:
        if self._readers is None:
            raise self._closed()
        return await self._readers.submit(work)

    def recent(self, after: int) -> Sequence[Entry] | None:
        return None if self._writer is None else self._writer.tail.after(after)

    def announce_to(self, listener: Callable[[int], None]) -> None:
        self._listeners.append(listener)

    def report(self) -> StoreReport:
        if self._writer is None:
            raise self._closed()
        writer = self._writer
        return StoreReport(
            kind=self.kind,
            place=str(self.directory),
            position=writer.tail.end,
            messages=writer.messages,
            bytes=self._bytes(),
            waiting=writer.waiting,
            commits=writer.commits,
            grouped=writer.grouped,
            full=writer.full,
        )

    async def rebuild(self, progress: Callable[[str], None]) -> RebuildReport:
        """Works on a closed store too, and then opens what `open` refuses to: it accepts that acknowledged
        writes are missing, and says so in its notes."""
        if self._writer is not None:
            return await self._rebuild(progress)
        await self._open(accept_loss=True)
        try:
            return await self._rebuild(progress)
        finally:
            await self.close()

    async def _rebuild(self, progress: Callable[[str], None]) -> RebuildReport:
        notes: list[str] = []
        if self._writer is not None and (loss := self._writer.loss):
            notes.append(loss)
        progress("Checking the database file ...")
        notes += await self.read(verify.faults_of_file)
        progress("Checking each message against its digest ...")
        messages, damaged = 0, list[str]()
        try:
            messages, damaged = await self.read(verify.messages)
            progress("Making the search index anew ...")
            await self.write(verify.forget_words)
            while left := await self.write(verify.index_words):
                progress(f"{left:,} messages left to index ...")
        except StorageDamaged as damage:
            notes.append(damage.message)
        return RebuildReport(messages=messages, damaged=damaged, notes=notes)

    def export(self) -> Iterator[Record]:
        if self._writer is None:
            raise self._closed()
        return self._export()

    def _export(self) -> Iterator[Record]:
        connection = open_reader(self.file)
        cursor = connection.cursor()
        try:
            cursor.execute("BEGIN")
            yield from export.records(cursor)
        except sqlite3.Error as exc:
            raise translated(exc, self.directory) from exc
        finally:
            cursor.close()  # a snapshot lasts until the last statement that reads in it has ended
            connection.close()

    def load(self, records: Iterable[Record]) -> int:
        if self._loop is None:
            raise self._closed()
        return asyncio.run_coroutine_threadsafe(self._load(records), self._loop).result()

    async def _load(self, records: Iterable[Record]) -> int:
        if self._writer is None:
            raise self._closed()

        def work(transaction: TableTransaction) -> int:
            return load(transaction, records)

        # The records may be a stream that can be read but once, so no neighbour may make the work run again.
        return await self._writer.submit(work, frees=False, alone=True)

    def _bytes(self) -> int:
        files = (self.file, self.file.with_name(f"{self.file.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def _closed(self) -> StorageUnavailable:
        return StorageUnavailable(f"The store in {self.directory} is not open; open it first.")
