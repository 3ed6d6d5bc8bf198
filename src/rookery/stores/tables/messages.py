"""Messages in SQL, with their numbers, their keys and the deliveries they start with."""

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
from rookery.stores.tables.faults import ReadOnly
from rookery.stores.tables.pen import Form, Pen
from rookery.stores.tables.rows import MESSAGE_COLUMNS, delivery_from, message_from, message_row, page_of

_COLUMNS = ", ".join(MESSAGE_COLUMNS)

GET = f"SELECT {_COLUMNS} FROM messages WHERE id = ?"
LAST_SEQ = "SELECT last_seq FROM conversations WHERE id = ?"
_LAST_RID = "SELECT coalesce(max(rid), 0) FROM messages"
HISTORY = f"SELECT {_COLUMNS} FROM messages WHERE conversation = ? AND seq < ? ORDER BY seq DESC LIMIT ?"
THREAD = f"SELECT {_COLUMNS} FROM messages WHERE thread = ? AND thread <> id ORDER BY rid LIMIT ?"
SENT_UNDER = "SELECT message_id, digest FROM idempotency WHERE sender = ? AND key = ?"
_REMEMBER = "INSERT INTO idempotency (sender, key, message_id, digest) VALUES (?, ?, ?, ?)"
_COUNT = "SELECT count(*) FROM messages"

MESSAGES = Form("messages", ("rid", *MESSAGE_COLUMNS))
DELIVERIES = Form(
    "deliveries", ("message", "recipient", "priority", "expires_at", "direct", "folder", "stored_at")
)
CONVERSATIONS = Form(
    "conversations",
    ("id", "last_seq"),
    otherwise="ON CONFLICT (id) DO UPDATE SET last_seq = max(last_seq, excluded.last_seq)",
)
ARRIVALS = Form(
    "inboxes",
    ("recipient", "new", "unread", "direct", "cur", "done", "dead", "handed"),
    otherwise="ON CONFLICT (recipient) DO UPDATE SET new = new + excluded.new,"
    " unread = unread + excluded.unread, direct = direct + excluded.direct",
)

_MOST_SEQS = 10_000
_NO_BOUND = 2**63 - 1


class MessageTable:
    """The writer, who alone adds messages, knows the last number of a conversation and the last rid by heart."""

    def __init__(self, pen: Pen, changes: Changes | None, *, writable: bool) -> None:
        self._pen = pen
        self._changes = changes
        self._writable = writable
        self._stored: int = pen.execute(_COUNT).fetchone()[0] if writable else 0
        self._added = 0
        self._seqs: dict[str, int] = {}
        self._arrived: dict[str, tuple[int, int]] = {}
        self._last_rid: int | None = None

    @property
    def stored(self) -> int:
        return self._stored + self._added

    @property
    def last_rid(self) -> int:
        if self._last_rid is None:
            found: int = self._pen.execute(_LAST_RID).fetchone()[0]
            self._last_rid = found
            return found
        return self._last_rid

    def get(self, message_id: str) -> Message | None:
        row = self._pen.execute(GET, (message_id,)).fetchone()
        return None if row is None else message_from(row)

    def next_seq(self, conversation: str) -> int:
        if not self._writable:
            raise ReadOnly
        last = self._seqs.get(conversation)
        if last is None:
            row = self._pen.execute(LAST_SEQ, (conversation,)).fetchone()
            last = 0 if row is None else row[0]
            if len(self._seqs) >= _MOST_SEQS:
                self._seqs.clear()
        seq = self._seqs[conversation] = last + 1
        self._pen.hold(CONVERSATIONS, (conversation, seq), key=conversation)
        if self._changes is not None:
            self._changes.append(conversation_record(conversation, seq))
        return seq

    def add(self, message: Message, recipients: Sequence[str]) -> None:
        rid = self.restore(message)
        pen = self._pen
        rank, direct, at = RANKS[message.priority], int(message.type != "broadcast"), message.created_at
        for recipient in recipients:
            pen.hold(DELIVERIES, (rid, recipient, rank, message.expires_at, direct, "new", at))
            arrived, directs = self._arrived.get(recipient, (0, 0)) if pen.holds(ARRIVALS, recipient) else (0, 0)
            self._arrived[recipient] = arrived + 1, directs + direct
            row = (recipient, arrived + 1, arrived + 1, directs + direct, 0, 0, 0, 0)
            pen.hold(ARRIVALS, row, key=recipient)
        if self._changes is not None:
            for recipient in recipients:
                stored = delivery_from(message.id, (recipient, "new", at, *(None,) * 6, 0, *(None,) * 8))
                self._changes.append(delivery_record(stored))

    def restore(self, message: Message) -> int:
        """Store the message alone. Returns its rid."""
        if not self._writable:
            raise ReadOnly
        self._last_rid = rid = self.last_rid + 1
        self._pen.hold(MESSAGES, (rid, *message_row(message)))
        self._added += 1
        if self._changes is not None:
            self._changes.append(message_record(message))
        return rid

    def history(self, conversation: str, *, before: int | None, limit: int) -> Sequence[Message]:
        bound = _NO_BOUND if before is None else before
        rows = page_of(self._pen.execute(HISTORY, (conversation, bound, limit)))
        return [message_from(row) for row in reversed(rows)]

    def thread(self, thread: str, *, limit: int) -> Sequence[Message]:
        first = self._pen.execute(GET, (thread,)).fetchall()
        replies = self._pen.execute(THREAD, (thread, max(0, limit - len(first))))
        return [message_from(row) for row in page_of(chain(first, replies))][:limit]

    def search(self, text: str, *, party: str | None, limit: int) -> Sequence[Message]:
        return search.find(self._pen.up_to_date(), text, party=party, limit=limit)

    def sent_under(self, sender: str, key: str) -> Sent | None:
        row = self._pen.execute(SENT_UNDER, (sender, key)).fetchone()
        return None if row is None else Sent(message_id=row[0], digest=row[1])

    def remember(self, sender: str, key: str, sent: Sent) -> None:
        self._pen.execute(_REMEMBER, (sender, key, sent.message_id, sent.digest))
        if self._changes is not None:
            self._changes.append(idempotency_record(sender, key, sent.message_id, sent.digest))

    def removed(self, messages: int) -> None:
        """Pruning took that many away."""
        self._added -= messages

    def committed(self) -> None:
        self._stored, self._added = self.stored, 0
        self._arrived.clear()

    def forget(self) -> None:
        """What is known by heart is out of date: a group was taken back, or rows came in by another way."""
        self._seqs.clear()
        self._arrived.clear()
        self._last_rid = None

    def rolled_back(self) -> None:
        self._added = 0
        self.forget()
