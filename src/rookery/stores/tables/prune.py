"""Removing finished messages for good, with everything that tells of them."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from rookery.domain.deliveries import FOLDERS, Folder
from rookery.domain.events import MessagesCleared
from rookery.stores.tables import search
from rookery.stores.tables.facts import fact_from, fact_json

_CHUNK = 500

_FINISHED = (
    "SELECT rid, id, type FROM messages WHERE rid > :after AND created_at < :before AND NOT EXISTS ("
    " SELECT 1 FROM deliveries AS d WHERE d.message = messages.rid AND d.cleared_at IS NULL"
    " AND NOT (d.folder IN ({folders}))) ORDER BY rid LIMIT :limit"
)
_BY_ID = "SELECT rid, id, type FROM messages WHERE id = ?"
_CLEARINGS = (
    "SELECT position, audience, data FROM events INDEXED BY events_of_clearing WHERE type = 'messages_cleared'"
)
_TELLING = "SELECT position, audience FROM events WHERE message_id IN (SELECT id FROM gone)"

Found = tuple[int, str, str]


def finished(connection: sqlite3.Connection, *, before: int, folders: Sequence[Folder], after: int) -> list[Found]:
    """The next messages that may go, from that rid on."""
    named = ", ".join(f"'{folder}'" for folder in FOLDERS if folder in folders)
    sql = _FINISHED.format(folders=named or "NULL")
    # `x IN (NULL)` is NULL, and NOT NULL is NULL: an empty list must let nothing through instead.
    if not named:
        sql = sql.replace("AND NOT (d.folder IN (NULL))", "")
    return connection.execute(sql, {"after": after, "before": before, "limit": _CHUNK}).fetchall()


def by_id(connection: sqlite3.Connection, message_ids: Sequence[str]) -> list[Found]:
    rows = (connection.execute(_BY_ID, (message_id,)).fetchone() for message_id in message_ids)
    return [row for row in rows if row is not None]


def recipients(connection: sqlite3.Connection, rid: int) -> list[str]:
    return [row[0] for row in connection.execute("SELECT recipient FROM deliveries WHERE message = ?", (rid,))]


def remove(connection: sqlite3.Connection, found: Sequence[Found]) -> None:
    """The messages, their deliveries, keys, words and asks. `remove_events` follows, once for all of them."""
    rids = [(rid,) for rid, _, _ in found]
    ids = [(message_id,) for _, message_id, _ in found]
    search.forget(connection, [rid for rid, _, _ in found])
    connection.executemany("DELETE FROM deliveries WHERE message = ?", rids)
    connection.executemany("DELETE FROM idempotency WHERE message_id = ?", ids)
    connection.executemany("DELETE FROM messages WHERE rid = ?", rids)
    remove_contact(connection, [message_id for _, message_id, _ in found])


def remove_contact(connection: sqlite3.Connection, message_ids: Sequence[str]) -> None:
    """That an answer to them is awaited, or that they wait to be sent."""
    ids = [(message_id,) for message_id in message_ids]
    connection.executemany("DELETE FROM asks WHERE message_id = ?", ids)
    connection.executemany("DELETE FROM held WHERE message_id = ?", ids)


def forget_clearings(connection: sqlite3.Connection, gone: frozenset[str]) -> None:
    """Facts of clearing name many messages at once: leave out the ones that are gone, and drop what is empty.

    Otherwise a reader who applies the journal from its start would meet messages that never came.
    """
    for position, audience, data in connection.execute(_CLEARINGS).fetchall():
        fact = fact_from("messages_cleared", data)
        if not isinstance(fact, MessagesCleared) or gone.isdisjoint(fact.message_ids):
            continue
        left = tuple(message_id for message_id in fact.message_ids if message_id not in gone)
        if left:
            kept = fact_json(replace(fact, message_ids=left))
            connection.execute("UPDATE events SET data = ? WHERE position = ?", (kept, position))
        else:
            _delete_events(connection, [(position, audience)])


def remove_events(connection: sqlite3.Connection, message_ids: Sequence[str]) -> None:
    """The facts about these messages. Walks through the journal: an index would cost every send something."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS gone (id TEXT PRIMARY KEY) WITHOUT ROWID")
    connection.executemany("INSERT OR IGNORE INTO gone VALUES (?)", [(each,) for each in message_ids])
    _delete_events(connection, connection.execute(_TELLING).fetchall())
    connection.execute("DELETE FROM gone")


def _delete_events(connection: sqlite3.Connection, found: Sequence[tuple[int, str]]) -> None:
    connection.executemany(
        "DELETE FROM audiences WHERE agent = ? AND position = ?",
        [(agent, position) for position, audience in found if audience != "*" for agent in audience.split()],
    )
    connection.executemany("DELETE FROM events WHERE position = ?", [(position,) for position, _ in found])
