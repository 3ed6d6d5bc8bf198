"""Messages in SQL, with their numbers, their keys and the deliveries they start with."""

import sqlite3
from collections.abc import Sequence
from itertools import chain

from rookery.domain.messages import RANKS, Message
from rookery.ports import Sent
from rookery.stores.tables import search
from rookery.stores.tables.changes import (
    Changes,
    conversation_record,
    delivery_record,
    idempotency_record,
    message_record,
)
from rookery.stores.tables.rows import MESSAGE_COLUMNS, delivery_from, message_from, message_row, page_of

_COLUMNS = ", ".join(MESSAGE_COLUMNS)
_MARKS = ", ".join("?" for _ in MESSAGE_COLUMNS)

GET = f"SELECT {_COLUMNS} FROM messages WHERE id = ?"
NEXT_SEQ = (
    "INSERT INTO conversations (id, last_seq) VALUES (?, 1)"
    " ON CONFLICT (id) DO UPDATE SET last_seq = last_seq + 1 RETURNING last_seq"
)
ADD = f"INSERT INTO messages ({_COLUMNS}) VALUES ({_MARKS})"
DELIVER = (
    "INSERT INTO deliveries (message, recipient, priority, expires_at, direct, folder, stored_at)"
    " VALUES (?, ?, ?, ?, ?, 'new', ?)"
)
HISTORY = f"SELECT {_COLUMNS} FROM messages WHERE conversation = ? AND seq < ? ORDER BY seq DESC LIMIT ?"
THREAD = f"SELECT {_COLUMNS} FROM messages WHERE thread = ? AND thread <> id ORDER BY rid LIMIT ?"
SENT_UNDER = "SELECT message_id, digest FROM idempotency WHERE sender = ? AND key = ?"
_REMEMBER = "INSERT INTO idempotency (sender, key, message_id, digest) VALUES (?, ?, ?, ?)"
_COUNTS = "SELECT name, value FROM state WHERE name IN ('messages', 'broadcasts')"
_COUNT = "UPDATE state SET value = value + ? WHERE name = ?"
ARRIVED = (
    "INSERT INTO inboxes (recipient, new, cur, done, dead, unread, direct, handed)"
    " VALUES (?1, ?2, 0, 0, 0, ?2, ?3, 0) ON CONFLICT (recipient) DO UPDATE SET"
    " new = new + excluded.new, unread = unread + excluded.unread, direct = direct + excluded.direct"
)

_NO_BOUND = 2**63 - 1


class MessageTable:
    """Counts are held back by the writer's table and written once for each group of works."""

    def __init__(self, connection: sqlite3.Connection, changes: Changes | None, *, writable: bool) -> None:
        self._connection = connection
        self._changes = changes
        self.stored = dict(connection.execute(_COUNTS).fetchall())["messages"] if writable else 0
        self.last_rid = 0
        self._added = 0
        self._broadcasts_added = 0
        self._arrived: dict[str, tuple[int, int]] = {}

    def get(self, message_id: str) -> Message | None:
        row = self._connection.execute(GET, (message_id,)).fetchone()
        return None if row is None else message_from(row)

    def next_seq(self, conversation: str) -> int:
        (seq,) = self._connection.execute(NEXT_SEQ, (conversation,)).fetchone()
        if self._changes is not None:
            self._changes.append(conversation_record(conversation, seq))
        return seq

    def add(self, message: Message, recipients: Sequence[str]) -> None:
        rid = self.restore(message)
        rank = RANKS[message.priority]
        direct = message.type != "broadcast"
        at = message.created_at
        if len(recipients) == 1:
            self._connection.execute(DELIVER, (rid, recipients[0], rank, message.expires_at, direct, at))
        else:
            self._connection.executemany(
                DELIVER, [(rid, recipient, rank, message.expires_at, direct, at) for recipient in recipients]
            )
        arrived = self._arrived
        for recipient in recipients:
            deliveries, directs = arrived.get(recipient, (0, 0))
            arrived[recipient] = (deliveries + 1, directs + direct)
        if self._changes is not None:
            for recipient in recipients:
                stored = delivery_from(message.id, (recipient, "new", at, *(None,) * 6, 0, *(None,) * 8))
                self._changes.append(delivery_record(stored))

    def restore(self, message: Message) -> int:
        """Store the message alone. Returns its rid."""
        rid = self._connection.execute(ADD, message_row(message)).lastrowid
        assert rid is not None  # noqa: S101 - the driver's stub allows for statements that insert nothing
        self.last_rid = rid
        self._added += 1
        self._broadcasts_added += message.type == "broadcast"
        if self._changes is not None:
            self._changes.append(message_record(message))
        return rid

    def history(self, conversation: str, *, before: int | None, limit: int) -> Sequence[Message]:
        bound = _NO_BOUND if before is None else before
        rows = page_of(self._connection.execute(HISTORY, (conversation, bound, limit)))
        return [message_from(row) for row in reversed(rows)]

    def thread(self, thread: str, *, limit: int) -> Sequence[Message]:
        first = self._connection.execute(GET, (thread,)).fetchall()
        replies = self._connection.execute(THREAD, (thread, max(0, limit - len(first))))
        return [message_from(row) for row in page_of(chain(first, replies))][:limit]

    def search(self, text: str, *, party: str | None, limit: int) -> Sequence[Message]:
        return search.find(self._connection, text, party=party, limit=limit)

    def sent_under(self, sender: str, key: str) -> Sent | None:
        row = self._connection.execute(SENT_UNDER, (sender, key)).fetchone()
        return None if row is None else Sent(message_id=row[0], digest=row[1])

    def remember(self, sender: str, key: str, sent: Sent) -> None:
        self._connection.execute(_REMEMBER, (sender, key, sent.message_id, sent.digest))
        if self._changes is not None:
            self._changes.append(idempotency_record(sender, key, sent.message_id, sent.digest))

    def removed(self, messages: int, broadcasts: int) -> None:
        """Pruning took that many away."""
        self._added -= messages
        self._broadcasts_added -= broadcasts

    def flush(self) -> None:
        """Write the counts that were held back."""
        self.flush_arrivals()
        if self._added:
            self._connection.execute(_COUNT, (self._added, "messages"))
            self.stored += self._added
            self._added = 0
        if self._broadcasts_added:
            self._connection.execute(_COUNT, (self._broadcasts_added, "broadcasts"))
            self._broadcasts_added = 0

    def flush_arrivals(self) -> None:
        if self._arrived:
            rows = [(recipient, *counts) for recipient, counts in self._arrived.items()]
            self._arrived = {}
            self._connection.executemany(ARRIVED, rows)

    def rolled_back(self) -> None:
        self._arrived = {}
        self._added = self._broadcasts_added = 0
        self.stored = dict(self._connection.execute(_COUNTS).fetchall())["messages"]
