"""Tasks in SQL."""

import sqlite3
from collections.abc import Sequence

from rookery.domain.tasks import Task
from rookery.stores.tables.changes import Changes
from rookery.stores.tables.papers import Kind, Papers

TASK = Kind("task", "tasks", Task, key=("id",), copies=("parent", "requester", "assignee", "not_before", "open"))

NEXT_NUMBER = "SELECT coalesce(max(rid), 0) + 1 FROM tasks"
CHILDREN = f"{TASK.select} WHERE parent = ? ORDER BY rid"
OPEN_BY = f"{TASK.select} WHERE requester = ? AND open ORDER BY rid"
OPEN_TO = f"{TASK.select} WHERE assignee = ? AND open ORDER BY rid"
DUE = f"{TASK.select} WHERE open AND not_before IS NOT NULL AND not_before <= ? ORDER BY not_before, rid LIMIT ?"
NEWEST = f"{TASK.select} ORDER BY rid DESC LIMIT ?"
NEWEST_OPEN = f"{TASK.select} WHERE open ORDER BY rid DESC LIMIT ?"
# Both arms are ranges in order of arrival, so SQLite merges them and stops at the limit.
NEWEST_OF = (
    "SELECT paper, rid FROM tasks WHERE requester = ?1 UNION ALL"
    " SELECT paper, rid FROM tasks WHERE assignee = ?1 AND requester <> ?1 ORDER BY 2 DESC LIMIT ?2"
)
NEWEST_OPEN_OF = (
    "SELECT paper, rid FROM tasks WHERE requester = ?1 AND open UNION ALL"
    " SELECT paper, rid FROM tasks WHERE assignee = ?1 AND requester <> ?1 AND open"
    " ORDER BY 2 DESC LIMIT ?2"
)


class TaskTable:
    def __init__(self, connection: sqlite3.Connection, changes: Changes | None, *, writable: bool) -> None:
        self._connection = connection
        self._papers = Papers(TASK, connection, changes, writable=writable)

    def get(self, task_id: str) -> Task | None:
        return self._papers.one(TASK.get, task_id)

    def next_number(self) -> int:
        return self._connection.execute(NEXT_NUMBER).fetchone()[0]

    def put(self, task: Task) -> None:
        self._papers.put(task)

    def children(self, parent: str) -> Sequence[Task]:
        return self._papers.many(CHILDREN, parent)

    def open_requested_by(self, requester: str) -> Sequence[Task]:
        return self._papers.page(OPEN_BY, requester)

    def open_assigned_to(self, assignee: str) -> Sequence[Task]:
        return self._papers.page(OPEN_TO, assignee)

    def due(self, now: int, limit: int) -> Sequence[Task]:
        return self._papers.due(DUE, now, limit)

    def recent(self, *, party: str | None, open_only: bool, limit: int) -> Sequence[Task]:
        if party is None:
            newest = self._papers.page(NEWEST_OPEN if open_only else NEWEST, limit)
        else:
            newest = self._papers.page(NEWEST_OPEN_OF if open_only else NEWEST_OF, party, limit)
        return newest[::-1]

    def all(self) -> Sequence[Task]:
        return self._papers.many(TASK.all)
