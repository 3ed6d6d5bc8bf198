"""The schema, in numbered steps. A step that was released is never changed: a new one follows it."""

import sqlite3
from importlib import resources
from pathlib import Path

from rookery.domain.errors import StorageUnavailable


def steps() -> list[tuple[int, str]]:
    """Number and SQL of each step, in order."""
    folder = resources.files("rookery.stores.tables") / "migrations"
    found = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    return sorted((int(file.name.split("_")[0]), file.read_text("utf-8")) for file in found)


def migrate(connection: sqlite3.Connection, place: Path) -> None:
    """Bring the schema up to date, all steps or none. A schema from the future is refused, not guessed at."""
    known = steps()
    newest = known[-1][0]
    (present,) = connection.execute("PRAGMA user_version").fetchone()
    if present > newest:
        raise StorageUnavailable(
            f"The data in {place} has schema version {present}, written by a newer rookery; this one knows "
            f"versions up to {newest}. Upgrade rookery, or choose another directory with --data.",
            found=present,
            known=newest,
        )
    if present == newest:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number, sql in known:
            if number > present:
                for statement in _statements(sql):
                    connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {newest}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _statements(sql: str) -> list[str]:
    """One by one, because executescript() would commit the transaction that makes all steps one."""
    found: list[str] = []
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            found.append(statement.strip())
            statement = ""
    return found
