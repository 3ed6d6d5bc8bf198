"""Full-text search. Sends do not pay for it: the writer adds messages to the index in quiet moments, and a
search looks through those that are not in it yet with the same tokeniser, in memory.
"""

import sqlite3
import unicodedata
from collections.abc import Sequence

from rookery.domain.messages import Message
from rookery.stores.tables.rows import MESSAGE_COLUMNS, message_from, page_of

BACKLOG_LIMIT = 20_000
"""So many messages may be missing from the index; it bounds what a search has to look through."""

_COLUMNS = ", ".join(f"m.{column}" for column in MESSAGE_COLUMNS)
_INDEXED = "SELECT value FROM state WHERE name = 'indexed'"
_SET_INDEXED = "UPDATE state SET value = ? WHERE name = 'indexed'"
_BEHIND = "SELECT max(0, coalesce(max(rid), 0) - (SELECT value FROM state WHERE name = 'indexed')) FROM messages"
_CHUNK = "SELECT max(rid) FROM (SELECT rid FROM messages WHERE rid > ? ORDER BY rid LIMIT ?)"
_FILL = "INSERT INTO search (rowid, content) SELECT rid, content FROM messages WHERE rid > ? AND rid <= ?"
_TAIL = "SELECT rid, content FROM messages WHERE rid > ?"
_OF_PARTY = (
    "(m.sender = :party OR EXISTS"
    " (SELECT 1 FROM deliveries AS d WHERE d.message = m.rid AND d.recipient = :party)"
    " OR (m.type = 'channel' AND EXISTS (SELECT 1 FROM channels AS c, json_each(c.members) AS member"
    " WHERE c.name = substr(m.recipient, 2) AND member.value = :party)))"
)
_MATCHES = (
    "SELECT search.rank, m.rid FROM search CROSS JOIN messages AS m ON m.rid = search.rowid"
    f" WHERE search MATCH :words AND (:party IS NULL OR {_OF_PARTY})"
    " ORDER BY search.rank, m.rid DESC LIMIT :limit"
)
_IS_OF_PARTY = f"SELECT 1 FROM messages AS m WHERE m.rid = :rid AND {_OF_PARTY}"
_BY_RID = f"SELECT {_COLUMNS} FROM messages AS m WHERE m.rid = ?"

_SCRATCH = "CREATE VIRTUAL TABLE search USING fts5 (content, tokenize = 'unicode61 remove_diacritics 2')"
_SCRATCH_MATCHES = "SELECT rank, rowid FROM search WHERE search MATCH ? ORDER BY rank, rowid DESC"


def find(connection: sqlite3.Connection, text: str, *, party: str | None, limit: int) -> Sequence[Message]:
    words = match_expression(text)
    if not words or limit <= 0:
        return []
    indexed = last_indexed(connection)
    found: list[tuple[float, int]] = connection.execute(
        _MATCHES, {"words": words, "party": party, "limit": limit}
    ).fetchall()
    found += _in_the_tail(connection, words, indexed, party, limit)
    best = sorted(found, key=lambda hit: (hit[0], -hit[1]))[:limit]
    rows = (connection.execute(_BY_RID, (rid,)).fetchone() for _, rid in best)
    return [message_from(row) for row in page_of(rows)]


def match_expression(text: str) -> str:
    """Each run of non-spaces as a quoted phrase whose last word may go on; "" when the text has no word.

    Quoting is what keeps a user's text from being read as FTS5 syntax.
    """
    printable = "".join(" " if unicodedata.category(c).startswith("C") else c for c in text)
    chunks = [chunk for chunk in printable.split() if any(c.isalnum() for c in chunk)]
    return " ".join('"' + chunk.replace('"', '""') + '"*' for chunk in chunks[:32])


def last_indexed(connection: sqlite3.Connection) -> int:
    """The rid up to which messages are in the index."""
    return connection.execute(_INDEXED).fetchone()[0]


def backlog(connection: sqlite3.Connection) -> int:
    return connection.execute(_BEHIND).fetchone()[0]


def index_more(connection: sqlite3.Connection, rows: int) -> int:
    """Add the next messages to the index, within the caller's transaction. Returns the last rid in it."""
    indexed = last_indexed(connection)
    (last,) = connection.execute(_CHUNK, (indexed, rows)).fetchone()
    if last is None:
        return indexed
    connection.execute(_FILL, (indexed, last))
    connection.execute(_SET_INDEXED, (last,))
    return last


def start_over(connection: sqlite3.Connection) -> None:
    """Forget the whole index; `index_more` fills it again."""
    connection.execute("INSERT INTO search (search) VALUES ('delete-all')")
    connection.execute(_SET_INDEXED, (0,))


def forget(connection: sqlite3.Connection, rids: Sequence[int]) -> None:
    """Take messages out of the index; to be called while they are still in their table."""
    connection.executemany(
        "INSERT INTO search (search, rowid, content) SELECT 'delete', rid, content FROM messages"
        " WHERE rid = ? AND rid <= (SELECT value FROM state WHERE name = 'indexed')",
        [(rid,) for rid in rids],
    )


def rids_may_repeat(connection: sqlite3.Connection) -> None:
    """After the newest messages were removed, their rids are given again: count those as not yet indexed."""
    connection.execute(
        "UPDATE state SET value = min(value, (SELECT coalesce(max(rid), 0) FROM messages)) WHERE name = 'indexed'"
    )


def _in_the_tail(
    connection: sqlite3.Connection, words: str, indexed: int, party: str | None, limit: int
) -> list[tuple[float, int]]:
    tail = connection.execute(_TAIL, (indexed,)).fetchall()
    if not tail:
        return []
    scratch = sqlite3.connect(":memory:", isolation_level=None)
    try:
        scratch.execute(_SCRATCH)
        scratch.executemany("INSERT INTO search (rowid, content) VALUES (?, ?)", tail)
        hits: list[tuple[float, int]] = []
        for rank, rid in scratch.execute(_SCRATCH_MATCHES, (words,)):
            if party is None or connection.execute(_IS_OF_PARTY, {"rid": rid, "party": party}).fetchone():
                hits.append((rank, rid))
                if len(hits) == limit:
                    break
        return hits
    finally:
        scratch.close()
