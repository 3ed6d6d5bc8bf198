"""Filling a store from records: those of an export, or the changes another truth has kept."""

import sqlite3
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from rookery.domain.agents import Agent
from rookery.domain.approvals import Approval, Held
from rookery.domain.asks import Ask
from rookery.domain.channels import Channel
from rookery.domain.deliveries import Delivery
from rookery.domain.errors import InvalidRequest
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import RANKS, Message
from rookery.domain.pacing import Pace
from rookery.domain.permissions import Rule
from rookery.domain.principals import Token
from rookery.domain.tasks import Task
from rookery.domain.traces import Attention, Trace
from rookery.ports import Sent
from rookery.stores.tables.changes import FORMAT, Record, event_record
from rookery.stores.tables.facts import fact_from
from rookery.stores.tables.journal import EVERYONE, hold_event
from rookery.stores.tables.rows import DELIVERY_COLUMNS, delivery_row
from rookery.stores.tables.transaction import TableTransaction

T = TypeVar("T")

_RESTORE_DELIVERY = (
    f"INSERT INTO deliveries (message, priority, expires_at, direct, {', '.join(DELIVERY_COLUMNS)})"
    f" VALUES ((SELECT rid FROM messages WHERE id = ?), ?, ?, ?, {', '.join('?' for _ in DELIVERY_COLUMNS)})"
)
_COUNT_DELIVERY = (
    "INSERT INTO inboxes (recipient, new, cur, done, dead, unread, direct, handed) SELECT recipient,"
    " cleared_at IS NULL AND folder = 'new', cleared_at IS NULL AND folder = 'cur',"
    " cleared_at IS NULL AND folder = 'done', cleared_at IS NULL AND folder = 'dead',"
    " cleared_at IS NULL AND folder = 'new' AND seen_at IS NULL,"
    " direct, direct AND handed_off_at IS NOT NULL FROM deliveries"
    " WHERE message = (SELECT rid FROM messages WHERE id = ?) AND recipient = ?"
    " ON CONFLICT (recipient) DO UPDATE SET new = new + excluded.new, cur = cur + excluded.cur,"
    " done = done + excluded.done, dead = dead + excluded.dead, unread = unread + excluded.unread,"
    " direct = direct + excluded.direct, handed = handed + excluded.handed"
)
_CONVERSATION = (
    "INSERT INTO conversations (id, last_seq) VALUES (?, ?)"
    " ON CONFLICT (id) DO UPDATE SET last_seq = max(last_seq, excluded.last_seq)"
)
_OWN_EVENTS = (
    "SELECT position, at, actor, token_id, type, audience, message_id, data FROM events ORDER BY position"
)
# What a store has written by itself before anybody used it: the operator's token and the fact of its issue.
_USED = (
    "SELECT EXISTS (SELECT 1 FROM agents) OR EXISTS (SELECT 1 FROM messages)"
    " OR EXISTS (SELECT 1 FROM conversations) OR EXISTS (SELECT 1 FROM idempotency)"
    " OR EXISTS (SELECT 1 FROM channels) OR EXISTS (SELECT 1 FROM pacing)"
    " OR EXISTS (SELECT 1 FROM asks) OR EXISTS (SELECT 1 FROM tasks) OR EXISTS (SELECT 1 FROM rules)"
    " OR EXISTS (SELECT 1 FROM approvals) OR EXISTS (SELECT 1 FROM held)"
    " OR EXISTS (SELECT 1 FROM traces) OR EXISTS (SELECT 1 FROM attention)"
    " OR EXISTS (SELECT 1 FROM tokens WHERE holder <> 'operator')"
    " OR EXISTS (SELECT 1 FROM events WHERE type NOT IN ('token_issued', 'token_revoked'))"
)


def load(transaction: TableTransaction, records: Iterable[Record]) -> int:
    """Fill an empty store. Ids and positions are kept; the operator's tokens are not loaded, because the new
    place has its own. Facts that the empty store had recorded give way, except beyond the loaded end."""
    connection = transaction.connection
    if connection.execute(_USED).fetchone()[0]:
        raise InvalidRequest("This store holds data already; load into a new directory, given with --data.")
    own_events = connection.execute(_OWN_EVENTS).fetchall()
    connection.execute("DELETE FROM events")
    connection.execute("DELETE FROM audiences")
    transaction.replaced = True
    if transaction.changes is not None:
        transaction.changes.append({"record": "journal_emptied"})
    arrived = iter(records)
    header = next(arrived, Record())
    expected = _checked(header)
    count = 0
    for record in arrived:
        count += 1
        if not (record.get("record") == "token" and record.get("holder") == OPERATOR):
            restore(transaction, record)
    _flush(transaction)
    if expected is not None and expected != count:
        raise InvalidRequest(
            f"The export says it holds {expected} records, but {count} came; it was cut off. Export again."
        )
    (end,) = connection.execute("SELECT coalesce(max(position), 0) FROM events").fetchone()
    end = max(end, _field(header, "position", int) if "position" in header else 0)
    for row in own_events:
        if row[0] > end:
            restore(transaction, event_record(*row))
            end = row[0]
    transaction.journal.restart_at(end)
    transaction.forget()
    return count


def _flush(transaction: TableTransaction) -> None:
    """Rows are held back, so the last ones that do not fit are noticed only here."""
    try:
        transaction.flush()
    except sqlite3.IntegrityError as exc:
        raise InvalidRequest(f"A record does not fit: {exc}.") from exc


def _checked(header: Record) -> int | None:
    """The number of records announced, if it is; raises InvalidRequest for what is no export we can read."""
    if header.get("record") != "rookery":
        raise InvalidRequest("These records are no export of rookery: the first one must say so.")
    if header.get("version") != FORMAT:
        raise InvalidRequest(
            f"The export has format {header.get('version')!r}, this rookery reads format {FORMAT}; use the "
            "version that wrote it, or a newer one."
        )
    return _field(header, "records", int) if "records" in header else None


def restore(transaction: TableTransaction, record: Record) -> None:
    """Store one record as it is. Raises InvalidRequest when it is of no known kind or not complete."""
    kind = record.get("record")
    restorer = _RESTORERS.get(kind) if isinstance(kind, str) else None
    if restorer is None:
        raise InvalidRequest(f"No record is of the kind {kind!r}; this rookery is older than the export.")
    try:
        restorer(transaction, record)
    except (msgspec.ValidationError, msgspec.DecodeError, KeyError, ValueError) as exc:
        raise InvalidRequest(f"A record of the kind {kind!r} cannot be read: {exc}.", record=kind) from exc
    except sqlite3.IntegrityError as exc:
        raise InvalidRequest(f"A record of the kind {kind!r} does not fit: {exc}.", record=kind) from exc


def message_in(record: Record) -> Message:
    """Raises ValueError when the digest in the record is not that of the message."""
    message = _as(record, Message)
    if message.digest() != _bytes(record, "digest"):
        raise ValueError(f"message {message.id!r} is not what was written, its digest does not match")
    return message


def _agent(transaction: TableTransaction, record: Record) -> None:
    transaction.agents.restore(_as(record, Agent), _field(record, "born", int))


def _conversation(transaction: TableTransaction, record: Record) -> None:
    row = (_field(record, "id", str), _field(record, "last_seq", int))
    transaction.connection.execute(_CONVERSATION, row)
    if transaction.changes is not None:
        transaction.changes.append(record)


def _message(transaction: TableTransaction, record: Record) -> None:
    message = message_in(record)
    transaction.messages.restore(message)
    transaction.connection.execute(_CONVERSATION, (message.conversation, message.seq))


def _delivery(transaction: TableTransaction, record: Record) -> None:
    delivery = _as(record, Delivery)
    message = transaction.messages.get(delivery.message_id)
    if message is None:
        raise ValueError(f"its message {delivery.message_id!r} is missing")
    copies = (RANKS[message.priority], message.expires_at, message.type != "broadcast")
    transaction.connection.execute(_RESTORE_DELIVERY, (delivery.message_id, *copies, *delivery_row(delivery)))
    transaction.connection.execute(_COUNT_DELIVERY, (delivery.message_id, delivery.recipient))
    if transaction.changes is not None:
        transaction.changes.append(record)


def _event(transaction: TableTransaction, record: Record) -> None:
    audience = _optional(record, "audience", list[str])
    data = msgspec.json.encode(record["data"]).decode()
    kind = _field(record, "type", str)
    fact_from(kind, data)
    row = (
        _field(record, "position", int), _field(record, "at", int), _field(record, "actor", str),
        _field(record, "token_id", str), kind, EVERYONE if audience is None else " ".join(audience),
        _optional(record, "message_id", str), data,
    )  # fmt: skip
    hold_event(transaction.pen, row, audience)
    if transaction.changes is not None:
        transaction.changes.append(record)


def _token(transaction: TableTransaction, record: Record) -> None:
    transaction.tokens.add(
        Token(
            id=_field(record, "id", str),
            digest=_bytes(record, "digest"),
            holder=_field(record, "holder", str),
            created_at=_field(record, "created_at", int),
            revoked_at=_optional(record, "revoked_at", int),
        )
    )


def _idempotency(transaction: TableTransaction, record: Record) -> None:
    sent = Sent(message_id=_field(record, "message_id", str), digest=_bytes(record, "digest"))
    transaction.messages.remember(_field(record, "sender", str), _field(record, "key", str), sent)


def _channel(transaction: TableTransaction, record: Record) -> None:
    transaction.channels.put(_as(record, Channel))


def _pacing(transaction: TableTransaction, record: Record) -> None:
    pace = Pace(_field(record, "level", int), _field(record, "accepted", tuple[int, ...]))
    transaction.pacing.put(_field(record, "sender", str), _field(record, "target", str), pace)


def _ask(transaction: TableTransaction, record: Record) -> None:
    transaction.asks.put(_as(record, Ask))


def _task(transaction: TableTransaction, record: Record) -> None:
    transaction.tasks.put(_as(record, Task))


def _rule(transaction: TableTransaction, record: Record) -> None:
    transaction.rules.put(_as(record, Rule))


def _approval(transaction: TableTransaction, record: Record) -> None:
    transaction.approvals.put(_as(record, Approval))


def _held(transaction: TableTransaction, record: Record) -> None:
    transaction.held.put(_as(record, Held))


def _trace(transaction: TableTransaction, record: Record) -> None:
    transaction.traces.put(_as(record, Trace))


def _attention(transaction: TableTransaction, record: Record) -> None:
    transaction.attention.put_many(_field(record, "given", list[Attention]))


_RESTORERS: dict[str, Callable[[TableTransaction, Record], None]] = {
    "agent": _agent,
    "conversation": _conversation,
    "message": _message,
    "delivery": _delivery,
    "event": _event,
    "token": _token,
    "idempotency": _idempotency,
    "channel": _channel,
    "pacing": _pacing,
    "ask": _ask,
    "task": _task,
    "rule": _rule,
    "approval": _approval,
    "held": _held,
    "trace": _trace,
    "attention": _attention,
}


def _as(record: Record, kind: type[T]) -> T:
    return msgspec.convert(record, kind)


def _field(record: Record, name: str, kind: type[T]) -> T:
    return msgspec.convert(record[name], kind)


def _optional(record: Record, name: str, kind: type[T]) -> T | None:
    return None if record[name] is None else msgspec.convert(record[name], kind)


def _bytes(record: Record, name: str) -> bytes:
    return bytes.fromhex(_field(record, name, str))
