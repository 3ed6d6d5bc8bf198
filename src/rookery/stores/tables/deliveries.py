"""Deliveries in SQL. Every listing walks an index in the order it answers in, and stops at its limit."""

from collections.abc import Sequence

from rookery.domain.deliveries import Delivery
from rookery.ports import InboxItem, InboxQuery, InboxStats, QueueStats
from rookery.stores.tables import inbox
from rookery.stores.tables.changes import Changes, delivery_record
from rookery.stores.tables.pen import Pen
from rookery.stores.tables.rows import DELIVERY_COLUMNS, delivery_from, delivery_row

_COLUMNS = ", ".join(f"d.{column}" for column in DELIVERY_COLUMNS)
_SELECT = f"SELECT m.id, {_COLUMNS} FROM deliveries AS d CROSS JOIN messages AS m ON m.rid = d.message"

GET = (
    f"SELECT m.id, {_COLUMNS} FROM messages AS m CROSS JOIN deliveries AS d ON d.message = m.rid"
    " WHERE m.id = ? AND d.recipient = ?"
)
OF_MESSAGE = (
    f"SELECT m.id, {_COLUMNS} FROM messages AS m CROSS JOIN deliveries AS d ON d.message = m.rid"
    " WHERE m.id = ? ORDER BY d.rid"
)
SAVE = (
    f"UPDATE deliveries SET {', '.join(f'{column} = ?' for column in DELIVERY_COLUMNS[1:])}"
    " WHERE message = (SELECT rid FROM messages WHERE id = ?) AND recipient = ?"
)
_LAY = (
    "SELECT d.folder, d.cleared_at FROM messages AS m CROSS JOIN deliveries AS d ON d.message = m.rid"
    " WHERE m.id = ? AND d.recipient = ?"
)
NEXT_OPEN = (
    f"{_SELECT} WHERE d.recipient = ? AND d.folder = 'new' AND d.cleared_at IS NULL"
    " AND (d.expires_at IS NULL OR d.expires_at > ? OR d.seen_at IS NOT NULL)"
    " ORDER BY d.priority DESC, d.rid LIMIT 1"
)
CLAIMS = (
    f"SELECT m.id, {_COLUMNS} FROM deliveries AS d INDEXED BY deliveries_claimed"
    " CROSS JOIN agents AS a ON a.id = d.claimed_by CROSS JOIN messages AS m ON m.rid = d.message"
    " WHERE d.folder = 'cur' AND d.cleared_at IS NULL AND d.claimed_at < :moment AND a.last_active < :moment"
    " ORDER BY d.claimed_at LIMIT :limit"
)
EXPIRED = (
    f"{_SELECT} WHERE d.expires_at IS NOT NULL AND d.folder = 'new' AND d.seen_at IS NULL"
    " AND d.cleared_at IS NULL AND d.expires_at <= ? ORDER BY d.expires_at LIMIT ?"
)
UNCLEARED = (
    f"SELECT m.id, {_COLUMNS} FROM deliveries AS d INDEXED BY deliveries_by_folder"
    " CROSS JOIN messages AS m ON m.rid = d.message WHERE d.recipient = ? AND d.cleared_at IS NULL"
)
_UNREAD = "SELECT unread FROM inboxes WHERE recipient = ?"
# What has expired and was not yet moved away is still among the unread ones; it is soon swept, hence few.
EXPIRED_UNREAD = (
    "SELECT count(*) FROM deliveries AS d INDEXED BY deliveries_expiring WHERE d.expires_at IS NOT NULL"
    " AND d.folder = 'new' AND d.cleared_at IS NULL AND d.expires_at <= ? AND d.recipient = ?"
    " AND d.seen_at IS NULL"
)
_STATS = "SELECT new, cur, done, dead, unread FROM inboxes WHERE recipient = ?"
_QUEUES = (
    "SELECT coalesce(sum(handed), 0), coalesce(sum(direct - handed), 0), coalesce(sum(new), 0),"
    " coalesce(sum(unread), 0), coalesce(sum(new + cur + done + dead > 0), 0) FROM inboxes"
)
# The numbers of the conversations count what was ever sent there, also what was pruned since.
_TOTALS = (
    "SELECT coalesce(sum(last_seq), 0), coalesce(sum(CASE WHEN id = 'broadcast' THEN last_seq END), 0)"
    " FROM conversations"
)


class DeliveryTable:
    def __init__(self, pen: Pen, changes: Changes | None) -> None:
        self._pen = pen
        self._changes = changes

    def get(self, message_id: str, recipient: str) -> Delivery | None:
        row = self._pen.execute(GET, (message_id, recipient)).fetchone()
        return None if row is None else delivery_from(row[0], row[1:])

    def of_message(self, message_id: str) -> Sequence[Delivery]:
        return [delivery_from(row[0], row[1:]) for row in self._pen.execute(OF_MESSAGE, (message_id,))]

    def inbox(self, query: InboxQuery) -> Sequence[InboxItem]:
        return inbox.page(self._pen.up_to_date(), query)

    def unread_count(self, recipient: str, now: int) -> int:
        row = self._pen.execute(_UNREAD, (recipient,)).fetchone()
        if row is None or row[0] == 0:
            return 0
        (expired,) = self._pen.execute(EXPIRED_UNREAD, (now, recipient)).fetchone()
        return row[0] - expired

    def stats(self, recipient: str) -> InboxStats:
        row = self._pen.execute(_STATS, (recipient,)).fetchone() or (0, 0, 0, 0, 0)
        return InboxStats(new=row[0], cur=row[1], done=row[2], dead=row[3], unread=row[4])

    def queue_stats(self) -> QueueStats:
        """Exact, from sums over the inboxes: the cost grows with the number of agents, not of messages.

        `direct_delivered` and `queued` share out the deliveries of all messages but broadcasts: those that
        were ever handed off, and those that never were. `total_queued_messages` lie in `new` now.
        """
        sent, broadcasts = self._pen.execute(_TOTALS).fetchone()
        handed, not_handed, new, unread, inboxes = self._pen.execute(_QUEUES).fetchone()
        return QueueStats(
            total_sent=sent,
            direct_delivered=handed,
            queued=not_handed,
            broadcast_sent=broadcasts,
            total_queued_messages=new,
            total_unread_messages=unread,
            agents_with_messages=inboxes,
        )

    def save(self, delivery: Delivery) -> None:
        if self._changes is not None:
            self._changes.append(delivery_record(delivery) | {"before": self._before(delivery)})
        self._pen.execute(SAVE, (*delivery_row(delivery)[1:], delivery.message_id, delivery.recipient))

    def save_many(self, deliveries: Sequence[Delivery]) -> None:
        if self._changes is not None:
            self._changes.extend(delivery_record(each) | {"before": self._before(each)} for each in deliveries)
        self._pen.executemany(
            SAVE, [(*delivery_row(each)[1:], each.message_id, each.recipient) for each in deliveries]
        )

    def _before(self, delivery: Delivery) -> dict[str, object]:
        """Where the delivery lay, so that who follows the changes knows whether it moves."""
        row = self._pen.execute(_LAY, (delivery.message_id, delivery.recipient)).fetchone()
        return {} if row is None else {"folder": row[0], "cleared_at": row[1]}

    def next_open(self, recipient: str, now: int) -> Delivery | None:
        row = self._pen.execute(NEXT_OPEN, (recipient, now)).fetchone()
        return None if row is None else delivery_from(row[0], row[1:])

    def claims_without_life_since(self, moment: int, limit: int) -> Sequence[Delivery]:
        """A claim of the operator, who is no agent, holds until it is completed."""
        rows = self._pen.execute(CLAIMS, {"moment": moment, "limit": limit})
        return [delivery_from(row[0], row[1:]) for row in rows]

    def expired(self, now: int, limit: int) -> Sequence[Delivery]:
        return [delivery_from(row[0], row[1:]) for row in self._pen.execute(EXPIRED, (now, limit))]

    def uncleared(self, recipient: str, message_ids: Sequence[str] | None) -> Sequence[Delivery]:
        if message_ids is None:
            rows = self._pen.execute(UNCLEARED, (recipient,))
            return [delivery_from(row[0], row[1:]) for row in rows]
        found = (self.get(message_id, recipient) for message_id in dict.fromkeys(message_ids))
        return [delivery for delivery in found if delivery is not None and delivery.cleared_at is None]
