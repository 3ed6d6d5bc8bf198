"""The one writer: a thread that commits together whatever has queued up."""

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from rookery.domain.errors import Overloaded, StorageUnavailable
from rookery.domain.events import Entry
from rookery.stores.tables.chores import Chores
from rookery.stores.tables.faults import translated
from rookery.stores.tables.ground import Ground
from rookery.stores.tables.group import GroupCommit, Job, Outcome
from rookery.stores.tables.tail import Tail
from rookery.stores.tables.transaction import TableTransaction

_log = logging.getLogger(__name__)

MOST_IN_GROUP = 256
_IDLE = 0.2
"""Seconds without a work after which the writer looks for other things to do."""


class Writer:
    def __init__(
        self, place: Path, ground: Ground, listeners: Sequence[Callable[[int], None]], *, queue_limit: int
    ) -> None:
        self.tail = Tail(0)
        self.messages = 0
        self.commits = 0
        self.grouped = 0
        self.waiting = 0
        self._place = place
        self._ground = ground
        self._limit = queue_limit
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._held: Job | None = None
        self._listeners = listeners
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._main, name="rookery-writer", daemon=True)
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._closing = False

    # ---- on the event loop

    async def start(self) -> None:
        """Returns when works can be taken; raises what kept the store from opening."""
        self._thread.start()
        try:
            await asyncio.shield(self._ready)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Finish the works that wait, then end the thread."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)
        await asyncio.shield(self._over)
        self._thread.join()

    def submit(self, work: Callable[[Any], Any], *, frees: bool, alone: bool = False) -> "asyncio.Future[Any]":
        if self._closing:
            raise StorageUnavailable(f"The store in {self._place} is closed; open it before writing.")
        if self.waiting >= self._limit:
            raise Overloaded("waiting writes")
        future: asyncio.Future[Any] = self._loop.create_future()
        self.waiting += 1
        self._queue.put(Job(work, future, frees=frees, alone=alone))
        return future

    @property
    def full(self) -> bool:
        return self._ground.reserve.spent

    @property
    def loss(self) -> str:
        """What a repair had to accept on opening, in a sentence; empty when nothing was missing."""
        return self._ground.loss

    def _deliver(
        self,
        outcomes: Sequence[Outcome],
        entries: Sequence[Entry],
        sizes: Sequence[int],
        replaced_end: int | None,
    ) -> None:
        self.waiting -= len(outcomes)
        if replaced_end is not None:
            self.tail.forget(replaced_end)
        elif entries:
            self.tail.extend(entries, sizes)
        if entries or replaced_end is not None:
            for listener in self._listeners:
                try:
                    listener(self.tail.end)
                except Exception:
                    _log.exception("A listener of the journal failed")
        for job, value, error in outcomes:
            if job.future.done():
                continue  # nobody waits any more; the work is done all the same
            if error is None:
                job.future.set_result(value)
            else:
                job.future.set_exception(error)

    # ---- on the writer's thread

    def _main(self) -> None:
        try:
            commit, transaction, chores = self._ground.prepare()
        except BaseException as error:  # raised again by start()
            self._ground.take_down()
            fault = translated(error, self._place)
            if fault is not error:
                fault.__cause__ = error
            self._tell(_fail, self._ready, fault)
            self._tell(_finish, self._over)
            return
        self.tail.end = transaction.journal.end()
        self.messages = transaction.messages.stored
        self._tell(_finish, self._ready)
        try:
            self._serve(commit, transaction, chores)
            chores.last()
        except sqlite3.Error as error:
            _log.warning("The last checkpoint of %s failed: %s", self._place, error)
        finally:
            self._closing = True
            self._refuse_the_rest()
            self._ground.take_down()
            self._tell(_finish, self._over)

    def _serve(self, commit: GroupCommit, transaction: TableTransaction, chores: Chores) -> None:
        while True:
            group, last = self._next_group(chores)
            if group:
                freed = self._run(group, commit, transaction)
                chores.after_group(transaction.messages.last_rid)
                if freed and self.full:
                    chores.after_freeing()
            elif not last:
                chores.when_idle()
            if last:
                return

    def _next_group(self, chores: Chores) -> tuple[list[Job], bool]:
        """What has queued up, and whether it is the last there will be; empty when nothing came in a while."""
        try:
            job = self._held or self._queue.get(timeout=(0 if chores.more else _IDLE) if chores.any else None)
        except Empty:
            return [], False
        self._held = None
        group: list[Job] = []
        while job is not None:
            if job.alone and group:
                self._held = job
                return group, False
            group.append(job)
            if job.alone or len(group) == MOST_IN_GROUP:
                return group, False
            try:
                job = self._queue.get_nowait()
            except Empty:
                return group, False
        return group, True

    def _run(self, group: list[Job], commit: GroupCommit, transaction: TableTransaction) -> bool:
        """Returns whether a work that frees space has passed."""
        entries: Sequence[Entry] = ()
        sizes: Sequence[int] = ()
        replaced_end: int | None = None

        def on_commit() -> None:
            nonlocal entries, sizes, replaced_end
            entries, sizes = transaction.journal.entries, transaction.journal.sizes
            end = transaction.journal.end()
            if transaction.replaced:
                replaced_end = end
            if entries or transaction.replaced:
                self._ground.mark.write(end)
                self.commits += 1
            self.messages = transaction.messages.stored

        outcomes = commit.run(group, on_commit)
        self.grouped += sum(error is None for _, _, error in outcomes)
        self._tell(self._deliver, outcomes, entries, sizes, replaced_end)
        return any(job.frees for job, _, error in outcomes if error is None)

    def _refuse_the_rest(self) -> None:
        """Only after a mistake in this file is anything left here; those who wait must hear of it all the
        same."""
        while not self._queue.empty():
            job = self._queue.get()
            if job is not None:
                gone = StorageUnavailable(f"The writer of {self._place} has stopped; restart the hub.")
                self._tell(self._deliver, [(job, None, gone)], (), (), None)

    def _tell(self, callback: Callable[..., None], *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *args)
        except RuntimeError:
            # The program ended without closing the store; what is committed is safe.
            _log.warning("The event loop ended before the store in %s was closed", self._place)


def _finish(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _fail(future: "asyncio.Future[None]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
