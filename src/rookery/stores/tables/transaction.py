"""All records at one moment, on one connection."""

import sqlite3
from collections.abc import Sequence

from rookery.domain.deliveries import Folder
from rookery.stores.tables import prune as pruning
from rookery.stores.tables import search
from rookery.stores.tables.agents import AgentTable
from rookery.stores.tables.approvals import ApprovalTable
from rookery.stores.tables.asks import AskTable
from rookery.stores.tables.attention import AttentionTable
from rookery.stores.tables.changes import Changes
from rookery.stores.tables.channels import ChannelTable
from rookery.stores.tables.deliveries import DeliveryTable
from rookery.stores.tables.faults import ReadOnly
from rookery.stores.tables.held import HeldTable
from rookery.stores.tables.journal import JournalTable
from rookery.stores.tables.messages import MessageTable
from rookery.stores.tables.pacing import PacingTable
from rookery.stores.tables.pen import Pen
from rookery.stores.tables.rules import RuleTable
from rookery.stores.tables.tasks import TaskTable
from rookery.stores.tables.tokens import TokenTable
from rookery.stores.tables.traces import TraceTable

Mark = tuple[int, int]


class TableTransaction:
    """One of these lives as long as its connection and serves one transaction after the other.

    `changes`, when given, is told every change as a record: for a store whose truth is not this database.
    """

    def __init__(self, connection: sqlite3.Connection, *, writable: bool, changes: Changes | None = None) -> None:
        self.pen = Pen(connection)
        self.changes = changes
        self.replaced = False
        """Whether this group took facts out of the journal, so that copies kept in memory are out of date."""
        self._writable = writable
        self.journal = JournalTable(self.pen, changes, writable=writable)
        self.agents = AgentTable(connection, self.journal.end, changes, writable=writable)
        self.messages = MessageTable(self.pen, changes, writable=writable)
        self.deliveries = DeliveryTable(self.pen, changes)
        self.tokens = TokenTable(connection, changes)
        self.channels = ChannelTable(connection, changes, writable=writable)
        self.pacing = PacingTable(connection, changes)
        self.asks = AskTable(connection, changes, writable=writable)
        self.tasks = TaskTable(connection, changes, writable=writable)
        self.rules = RuleTable(connection, changes, writable=writable)
        self.approvals = ApprovalTable(connection, changes, writable=writable)
        self.held = HeldTable(connection, changes, writable=writable)
        self.traces = TraceTable(self.pen, changes, writable=writable)
        self.attention = AttentionTable(self.pen, changes, writable=writable)

    @property
    def connection(self) -> sqlite3.Connection:
        """With all that this group has done so far."""
        return self.pen.up_to_date()

    def prune(self, *, before: int, folders: Sequence[Folder]) -> int:
        if not self._writable:
            raise ReadOnly
        gone: list[str] = []
        after = 0
        while found := pruning.finished(self.connection, before=before, folders=folders, after=after):
            self._remove(found)
            gone += [message_id for _, message_id, _ in found]
            after = found[-1][0]
        self._forget(gone)
        return len(gone)

    def remove(self, message_ids: Sequence[str]) -> None:
        """Remove these messages, whatever their state."""
        self._remove(pruning.by_id(self.connection, message_ids))
        self._forget(message_ids)

    def begin(self) -> None:
        self.pen.connection.execute("BEGIN IMMEDIATE")

    def mark(self) -> Mark:
        """Where a work starts; see `unchanged_since`."""
        return self.pen.mark()

    def unchanged_since(self, mark: Mark) -> bool:
        """Whether nothing was done since, so that the neighbours of a failed work need not run again."""
        return self.pen.mark() == mark and self.pen.connection.in_transaction

    def flush(self) -> None:
        """Write what is held back, so that the database has all of the group."""
        self.pen.up_to_date()

    def committed(self) -> None:
        self.journal.committed()
        self.messages.committed()
        self._end()

    def rolled_back(self) -> None:
        self.pen.forget()
        if self.pen.connection.in_transaction:
            self.pen.connection.execute("ROLLBACK")
        self.journal.rolled_back()
        self.messages.rolled_back()
        self._forget_what_is_known()
        self._end()

    def forget(self) -> None:
        """What the tables know by heart is out of date."""
        self.messages.forget()
        self._forget_what_is_known()

    def _forget_what_is_known(self) -> None:
        self.agents.forget()
        self.traces.forget()
        self.attention.forget()

    def _end(self) -> None:
        self.replaced = False
        if self.changes is not None:
            self.changes.clear()

    def _remove(self, found: Sequence[pruning.Found]) -> None:
        if self.changes is not None:
            reached = {message_id: pruning.recipients(self.connection, rid) for rid, message_id, _ in found}
            self.changes.append({"record": "removed", "messages": reached})
        pruning.remove(self.connection, found)
        self.messages.removed(len(found))

    def _forget(self, gone: Sequence[str]) -> None:
        if not gone:
            return
        self.replaced = True
        self.journal.keep_end()
        pruning.remove_events(self.connection, gone)
        pruning.forget_clearings(self.connection, frozenset(gone))
        search.rids_may_repeat(self.connection)
