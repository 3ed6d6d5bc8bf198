"""Running works together: one transaction, one commit, each work all or nothing."""

import sqlite3
from asyncio import Future
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from rookery.domain.errors import StorageFull
from rookery.stores.tables.faults import is_about_the_place, translated
from rookery.stores.tables.reserve import Reserve
from rookery.stores.tables.transaction import TableTransaction


class Truth(Protocol):
    """A place beside the database that must agree with it, when the database is only its index."""

    def before_commit(self, transaction: TableTransaction) -> None:
        """Make the group's changes durable. Raises when they cannot be; then nothing of them may remain."""
        ...

    def after_commit(self) -> None:
        """The database has them: what was kept for undoing them can go."""
        ...

    def after_rollback(self) -> None:
        """The database did not take the changes: undo them."""
        ...


class Job:
    """A work and the one who waits for it."""

    __slots__ = ("alone", "frees", "future", "work")

    def __init__(self, work: Callable[[Any], Any], future: "Future[Any]", *, frees: bool, alone: bool) -> None:
        self.work = work
        self.future = future
        self.frees = frees
        self.alone = alone


Outcome = tuple[Job, Any, BaseException | None]


class GroupCommit:
    """Used by the writer's thread alone."""

    def __init__(
        self,
        transaction: TableTransaction,
        place: Path,
        reserve: Reserve,
        *,
        make_room: Callable[[], None],
        truth: Truth | None = None,
    ) -> None:
        self._transaction = transaction
        self._place = place
        self._reserve = reserve
        self._truth = truth
        self._make_room = make_room

    def run(self, jobs: Sequence[Job], on_commit: Callable[[], None]) -> list[Outcome]:
        """Run and commit the works. `on_commit` is called once they are durable, before they are forgotten.

        There are no savepoints, which would cost every send something: a work that fails after it has written
        takes the whole transaction back, and the others run again without it.
        """
        outcomes: list[Outcome] = []
        waiting = list(jobs)
        retried = any(job.alone for job in jobs)  # its input may be a stream that can be read but once
        if self._reserve.spent:
            self._reserve.make()
        while waiting:
            if self._reserve.spent:
                full = StorageFull(str(self._place))
                outcomes += [(job, None, full) for job in waiting if not job.frees]
                waiting = [job for job in waiting if job.frees]
                if not waiting:
                    break
            already_spent = self._reserve.spent
            try:
                results, culprit = self._attempt(waiting)
                if culprit is None:
                    self._commit(on_commit)
                    return outcomes + results
            except Exception as error:  # whatever it is, those who wait must hear of it
                fault = self._rolled_back(error)
                if isinstance(fault, StorageFull) and not already_spent:
                    self._reserve.spend()
                    self._make_room()
                    if not retried:
                        retried = True
                        self._reserve.make()  # a shorter log may be all the room that was needed
                    continue
                return outcomes + [(job, None, fault) for job in waiting]
            self._roll_back()
            outcomes.append(culprit)
            waiting.remove(culprit[0])
        return outcomes

    def _attempt(self, jobs: Sequence[Job]) -> tuple[list[Outcome], Outcome | None]:
        """The outcome of each work, and the work that spoiled the transaction, if one did."""
        transaction = self._transaction
        transaction.begin()
        results: list[Outcome] = []
        for job in jobs:
            mark = transaction.mark()
            try:
                results.append((job, job.work(transaction), None))
            except Exception as error:  # delivered to the one who gave the work
                if isinstance(error, sqlite3.Error) and is_about_the_place(error, self._place):
                    raise
                failed = (job, None, self._cause(error))
                if not transaction.unchanged_since(mark):
                    return [], failed
                results.append(failed)
        return results, None

    def _commit(self, on_commit: Callable[[], None]) -> None:
        transaction = self._transaction
        transaction.flush()
        if self._truth is not None:
            self._truth.before_commit(transaction)
        transaction.connection.execute("COMMIT")
        on_commit()
        transaction.committed()
        if self._truth is not None:
            self._truth.after_commit()

    def _roll_back(self) -> None:
        self._transaction.rolled_back()

    def _rolled_back(self, error: Exception) -> BaseException:
        try:
            self._transaction.rolled_back()
            if self._truth is not None:
                self._truth.after_rollback()
        except (sqlite3.Error, OSError) as worse:
            worse.__cause__ = error
            return self._cause(worse)
        return self._cause(error)

    def _cause(self, error: Exception) -> BaseException:
        fault = translated(error, self._place)
        if fault is not error:
            fault.__cause__ = error
        return fault
