"""No query of the hot paths scans a table or sorts: what 50 unread cost must not grow with what is stored."""

import itertools
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

import pytest

from rookery.domain.deliveries import FOLDERS, Folder
from rookery.stores.tables import approvals, asks, deliveries, held, inbox, journal, messages, rules, tasks
from rookery.stores.tables.attention import ATTENTION
from rookery.stores.tables.connection import open_writer
from rookery.stores.tables.migrations import migrate
from rookery.stores.tables.traces import TRACE

Order = Literal["arrival", "latest", "urgency"]

LISTINGS = [
    (unread, folder, order)
    for unread, folder, order in itertools.product((False, True), (None, *FOLDERS), get_args(Order))
]
QUERIES = {
    "delivery": deliveries.GET,
    "save": deliveries.SAVE,
    "next open": deliveries.NEXT_OPEN,
    "lost claims": deliveries.CLAIMS,
    "expired": deliveries.EXPIRED,
    "expired unread": deliveries.EXPIRED_UNREAD,
    "uncleared": deliveries.UNCLEARED,
    "message": messages.GET,
    "last number": messages.LAST_SEQ,
    "history": messages.HISTORY,
    "thread": messages.THREAD,
    "key": messages.SENT_UNDER,
    "journal": journal.AFTER,
    "journal of an agent": journal.AFTER_FOR,
    "ask": asks.ASK.get,
    "asks open to": asks.OPEN_TO,
    "asks open by": asks.OPEN_BY,
    "overdue asks": asks.OVERDUE,
    "task": tasks.TASK.get,
    "number of a task": tasks.NEXT_NUMBER,
    "children of a task": tasks.CHILDREN,
    "tasks open by": tasks.OPEN_BY,
    "tasks open to": tasks.OPEN_TO,
    "due tasks": tasks.DUE,
    "newest tasks of a party": tasks.NEWEST_OF,
    "newest open tasks of a party": tasks.NEWEST_OPEN_OF,
    "rule": rules.RULE.get,
    "rules of": rules.OF,
    "approval": approvals.APPROVAL.get,
    "pending approvals of": approvals.PENDING_OF,
    "approval under a key": approvals.UNDER_KEY,
    "overdue approvals": approvals.OVERDUE,
    "newest approvals of": approvals.NEWEST_OF,
    "held message": held.HELD.get,
    "held for an approval": held.OF,
    "trace": TRACE.get,
    "attention": ATTENTION.get,
}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_writer(tmp_path / "rookery.db", synchronous="FULL")
    migrate(connection, tmp_path)
    yield connection
    connection.close()


def plan(connection: sqlite3.Connection, sql: str) -> list[str]:
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", Anything())]


class Anything(dict[str, int]):
    """A value for every named parameter."""

    def __missing__(self, name: str) -> int:
        return 1


def flaws(steps: list[str]) -> list[str]:
    # `SCAN page` walks the rows of the page itself, which are as many as were asked for.
    return [step for step in steps if ("SCAN" in step and step != "SCAN page") or "TEMP B-TREE" in step]


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_of_the_hot_path_is_answered_by_an_index(connection: sqlite3.Connection, name: str) -> None:
    sql = QUERIES[name]
    for number in range(1, sql.count("?") + 1):
        sql = sql.replace("?", f":p{number}", 1)
    assert flaws(plan(connection, sql)) == []


WALKS = {
    "newest tasks": (tasks.NEWEST, "SCAN tasks"),
    "newest open tasks": (tasks.NEWEST_OPEN, "SCAN tasks USING INDEX tasks_open"),
    "newest approvals": (approvals.NEWEST, "SCAN approvals"),
    "pending approvals": (approvals.PENDING, "SCAN approvals USING INDEX approvals_pending"),
}
"""They start at one end of the table, or of an index that holds nothing else, and stop at their limit."""


@pytest.mark.parametrize("name", WALKS)
def test_the_newest_are_read_from_the_end_without_sorting(connection: sqlite3.Connection, name: str) -> None:
    sql, only = WALKS[name]
    assert plan(connection, sql.replace("?", ":p")) == [only]


@pytest.mark.parametrize(("unread", "folder", "order"), LISTINGS)
def test_a_page_of_an_inbox_is_read_in_its_order(
    connection: sqlite3.Connection, unread: bool, folder: Folder | None, order: Order
) -> None:
    ranks = (2,) if order == "urgency" else (0, 1, 2, 3)
    sql = inbox.statement(unread, folder, ranks, newest_first=order == "latest")
    assert flaws(plan(connection, sql)) == []


def test_a_scan_would_be_noticed(connection: sqlite3.Connection) -> None:
    assert flaws(plan(connection, "SELECT * FROM deliveries WHERE stored_at > 5 ORDER BY note")) != []
