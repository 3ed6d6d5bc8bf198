"""Messages that wait for an approval, in SQL."""

import sqlite3
from collections.abc import Sequence

from rookery.domain.approvals import Held
from rookery.stores.tables.changes import Changes
from rookery.stores.tables.papers import Kind, Papers

HELD = Kind("held", "held", Held, key=("message_id",), copies=("approval",))

OF = f"{HELD.select} WHERE approval = ? ORDER BY rid"


class HeldTable:
    def __init__(self, connection: sqlite3.Connection, changes: Changes | None, *, writable: bool) -> None:
        self._papers = Papers(HELD, connection, changes, writable=writable)

    def get(self, message_id: str) -> Held | None:
        return self._papers.one(HELD.get, message_id)

    def put(self, held: Held) -> None:
        self._papers.put(held)

    def of(self, approval: str) -> Sequence[Held]:
        return self._papers.page(OF, approval)

    def remove(self, message_id: str) -> None:
        self._papers.remove(message_id)
