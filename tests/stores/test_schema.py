"""The schema is the sum of its migrations."""

import re
import sqlite3
from importlib import resources
from pathlib import Path

import pytest

from rookery.domain.errors import StorageUnavailable
from rookery.stores.sqlite import SqliteStore
from rookery.stores.tables.connection import open_writer
from rookery.stores.tables.migrations import migrate, steps


def objects(connection: sqlite3.Connection) -> dict[str, str]:
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    # A column that was added has no line of its own in the text that SQLite keeps.
    return {name: re.sub(r"\s*([(),])\s*", r"\1", re.sub(r"\s+", " ", sql)) for name, sql in rows}


def test_the_schema_that_is_read_is_the_one_that_migrations_make(tmp_path: Path) -> None:
    migrated = open_writer(tmp_path / "migrated.db", synchronous="FULL")
    migrate(migrated, tmp_path)
    written = sqlite3.connect(":memory:")
    written.executescript((resources.files("rookery.stores.tables") / "schema.sql").read_text("utf-8"))
    assert objects(migrated) == objects(written)
    migrated.close()
    written.close()


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [number for number, _ in steps()] == list(range(1, len(steps()) + 1))


def test_migrating_twice_changes_nothing(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "rookery.db", synchronous="FULL")
    migrate(connection, tmp_path)
    before = connection.execute("PRAGMA schema_version").fetchone()
    migrate(connection, tmp_path)
    assert connection.execute("PRAGMA schema_version").fetchone() == before
    connection.close()


def test_a_migration_that_fails_leaves_the_schema_as_it_was(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "rookery.db", synchronous="FULL")
    connection.execute("CREATE TABLE pacing (in_the_way INTEGER)")
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, tmp_path)
    assert set(objects(connection)) == {"pacing"}
    assert connection.execute("PRAGMA user_version").fetchone() == (0,)
    connection.close()


async def test_a_schema_from_the_future_is_refused_with_both_versions(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "data")
    await store.open()
    await store.close()
    with sqlite3.connect(tmp_path / "data" / "rookery.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StorageUnavailable) as refusal:
        await SqliteStore(tmp_path / "data").open()
    assert "version 99" in refusal.value.message
    assert f"up to {steps()[-1][0]}" in refusal.value.message
    assert "Upgrade rookery" in refusal.value.message
