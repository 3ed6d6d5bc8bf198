"""Approvals in SQL."""

import sqlite3
from collections.abc import Sequence

from rookery.domain.approvals import Approval
from rookery.stores.tables.changes import Changes
from rookery.stores.tables.papers import Kind, Papers

APPROVAL = Kind("approval", "approvals", Approval, key=("id",), copies=("agent", "key", "expires_at", "pending"))

PENDING = f"{APPROVAL.select} WHERE pending ORDER BY rid"
PENDING_OF = f"{APPROVAL.select} WHERE agent = ? AND pending ORDER BY rid"
UNDER_KEY = f"{APPROVAL.select} WHERE agent = ? AND key = ? ORDER BY rid DESC LIMIT 1"
OVERDUE = f"{APPROVAL.select} WHERE pending AND expires_at <= ? ORDER BY expires_at, rid LIMIT ?"
NEWEST = f"{APPROVAL.select} ORDER BY rid DESC LIMIT ?"
NEWEST_OF = f"{APPROVAL.select} WHERE agent = ? ORDER BY rid DESC LIMIT ?"


class ApprovalTable:
    def __init__(self, connection: sqlite3.Connection, changes: Changes | None, *, writable: bool) -> None:
        self._papers = Papers(APPROVAL, connection, changes, writable=writable)

    def get(self, approval_id: str) -> Approval | None:
        return self._papers.one(APPROVAL.get, approval_id)

    def put(self, approval: Approval) -> None:
        self._papers.put(approval)

    def pending(self, agent: str | None = None) -> Sequence[Approval]:
        return self._papers.page(PENDING) if agent is None else self._papers.page(PENDING_OF, agent)

    def under_key(self, agent: str, key: str) -> Approval | None:
        return self._papers.one(UNDER_KEY, agent, key)

    def overdue(self, now: int, limit: int) -> Sequence[Approval]:
        return self._papers.due(OVERDUE, now, limit)

    def recent(self, *, agent: str | None, limit: int) -> Sequence[Approval]:
        papers = self._papers
        newest = papers.page(NEWEST, limit) if agent is None else papers.page(NEWEST_OF, agent, limit)
        return newest[::-1]

    def all(self) -> Sequence[Approval]:
        return self._papers.many(APPROVAL.all)
