"""Readers: a few threads, each with a connection of its own, beside the writer."""

import asyncio
import sqlite3
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from rookery.domain.errors import Overloaded, StorageUnavailable
from rookery.stores.tables.connection import open_reader
from rookery.stores.tables.faults import translated
from rookery.stores.tables.transaction import TableTransaction

_Request = tuple[Callable[[Any], Any], "asyncio.Future[Any]"]


class Readers:
    def __init__(self, place: Path, file: Path, *, count: int, queue_limit: int) -> None:
        self._place = place
        self._file = file
        self._limit = queue_limit
        self._waiting = 0
        self._closing = False
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[_Request | None] = SimpleQueue()
        self._over = [self._loop.create_future() for _ in range(count)]
        self._threads = [
            threading.Thread(target=self._main, args=(over,), name=f"rookery-reader-{number}", daemon=True)
            for number, over in enumerate(self._over, 1)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    async def stop(self) -> None:
        """Finish the reads that wait, then end the threads."""
        if not self._closing:
            self._closing = True
            for _ in self._threads:
                self._queue.put(None)
        await asyncio.gather(*(asyncio.shield(over) for over in self._over))
        for thread in self._threads:
            thread.join()

    def submit(self, work: Callable[[Any], Any]) -> "asyncio.Future[Any]":
        if self._closing:
            raise StorageUnavailable(f"The store in {self._place} is closed; open it before reading.")
        if self._waiting >= self._limit:
            raise Overloaded("waiting reads")
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting += 1
        self._queue.put((work, future))
        return future

    def _main(self, over: "asyncio.Future[None]") -> None:
        connection: sqlite3.Connection | None = None
        transaction: TableTransaction | None = None
        while (request := self._queue.get()) is not None:
            work, future = request
            value: Any = None
            fault: BaseException | None = None
            try:
                if connection is None or transaction is None:
                    connection = open_reader(self._file)
                    transaction = TableTransaction(connection, writable=False)
                connection.execute("BEGIN")
                value = work(transaction)
            except Exception as error:  # delivered to the one who gave the work
                fault = translated(error, self._place)
                if fault is not error:
                    fault.__cause__ = error
                # The fault remembers where it happened, and with it cursors that would keep the snapshot alive:
                # whatever this thread reads from then on would be of that time.
                traceback.clear_frames(error.__traceback__)
            finally:
                if connection is not None and connection.in_transaction:
                    connection.execute("ROLLBACK")
            self._tell(self._deliver, future, value, fault)
        if connection is not None:
            connection.close()
        self._tell(_finish, over)

    def _deliver(self, future: "asyncio.Future[Any]", value: Any, fault: BaseException | None) -> None:
        self._waiting -= 1
        if future.done():
            return
        if fault is None:
            future.set_result(value)
        else:
            future.set_exception(fault)

    def _tell(self, callback: Callable[..., None], *args: Any) -> None:
        with suppress(RuntimeError):  # the program ended without closing us, and nobody waits any more
            self._loop.call_soon_threadsafe(callback, *args)


def _finish(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
