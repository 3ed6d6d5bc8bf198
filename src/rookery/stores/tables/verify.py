"""Checking all that is stored, and making again what is derived from it."""

import sqlite3
from typing import cast

from rookery.domain.errors import StorageDamaged
from rookery.ports import Transaction
from rookery.stores.tables import search
from rookery.stores.tables.rows import MESSAGE_COLUMNS, message_from
from rookery.stores.tables.transaction import TableTransaction

_ONE = f"SELECT {', '.join(MESSAGE_COLUMNS)} FROM messages WHERE rid = ?"
_ROWS_AT_ONCE = 5_000


def faults_of_file(transaction: Transaction) -> list[str]:
    """What SQLite itself finds wrong with the file."""
    rows = _connection(transaction).execute("PRAGMA integrity_check(20)").fetchall()
    return [f"The database file: {text}" for (text,) in rows if text != "ok"]


def messages(transaction: Transaction) -> tuple[int, list[str]]:
    """How many messages there are, and the ids of those that are not what was written."""
    connection = _connection(transaction)
    found = connection.execute("SELECT rid, id FROM messages ORDER BY rid").fetchall()
    damaged: list[str] = []
    for rid, message_id in found:
        try:
            message_from(connection.execute(_ONE, (rid,)).fetchone())
        except (StorageDamaged, sqlite3.DatabaseError):
            damaged.append(str(message_id))
    return len(found), damaged


def forget_words(transaction: Transaction) -> None:
    search.start_over(_connection(transaction))


def index_words(transaction: Transaction) -> int:
    """Index the next messages; returns how many are left."""
    connection = _connection(transaction)
    search.index_more(connection, _ROWS_AT_ONCE)
    return search.backlog(connection)


def _connection(transaction: Transaction) -> sqlite3.Connection:
    return cast(TableTransaction, transaction).connection
