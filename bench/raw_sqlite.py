"""SQLite without a hub: what the disk and the library allow at most, at the hub's durability."""

import sqlite3
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

_TABLES = ("messages", "deliveries", "events", "audiences")
"""Where a send leaves its rows."""

Rows = dict[str, list[tuple[Any, ...]]]


def durable_commit(place: Path, seconds: float, text: str) -> float:
    """The median time of one insert with its commit."""
    connection = _durable(place / "alone.db")
    try:
        connection.execute("CREATE TABLE IF NOT EXISTS lines (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
        waits: list[float] = []
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            connection.execute("INSERT INTO lines (text) VALUES (?)", (text,))
            waits.append(time.perf_counter() - began)
        return median(waits)
    finally:
        connection.close()


class GroupCommits:
    """The rows that sends have left in a hub's database, written again: same tables, same indexes, in groups."""

    def __init__(self, source: Path, most: int) -> None:
        connection = sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)
        try:
            self.messages = min(most, _count(connection, "messages"))
            share = self.messages / _count(connection, "messages")
            self._rows: Rows = {
                table: connection.execute(
                    f"SELECT * FROM {table} LIMIT ?", (round(share * _count(connection, table)),)
                ).fetchall()
                for table in _TABLES
            }
            self._schema: list[str] = [
                sql
                for (sql,) in connection.execute(
                    "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table', 'index')"
                    f" AND tbl_name IN {_TABLES} ORDER BY type DESC"
                )
            ]
        finally:
            connection.close()

    def rate(self, place: Path, group: int) -> float:
        """Messages a second, `group` of them in each commit, into an empty database."""
        file = place / "groups.db"
        for name in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
            name.unlink(missing_ok=True)
        connection = _durable(file)
        try:
            for statement in self._schema:
                connection.execute(statement)
            commits = max(1, self.messages // group)
            batches = {table: _shared_out(rows, commits) for table, rows in self._rows.items()}
            inserts = {table: _insert(table, rows[0]) for table, rows in self._rows.items()}
            began = time.perf_counter()
            for number in range(commits):
                connection.execute("BEGIN IMMEDIATE")
                for table, batch in batches.items():
                    connection.executemany(inserts[table], batch[number])
                connection.execute("COMMIT")
            return self.messages / (time.perf_counter() - began)
        finally:
            connection.close()


def _durable(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA wal_autocheckpoint = 16384")
    return connection


def _count(connection: sqlite3.Connection, table: str) -> int:
    return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def _insert(table: str, row: Sequence[object]) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' for _ in row)})"


def _shared_out(rows: Sequence[tuple[Any, ...]], parts: int) -> list[Sequence[tuple[Any, ...]]]:
    bounds = [len(rows) * number // parts for number in range(parts + 1)]
    return [rows[start:end] for start, end in pairwise(bounds)]
