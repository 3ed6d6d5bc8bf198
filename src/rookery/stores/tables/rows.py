"""Rows of messages and deliveries, there and back."""

from collections.abc import Iterable
from typing import Any

from rookery.domain.deliveries import Delivery
from rookery.domain.messages import RANKS, Message, Priority
from rookery.stores.tables.faults import damaged_message

PRIORITIES: tuple[Priority, ...] = tuple(sorted(RANKS, key=lambda priority: RANKS[priority]))

MESSAGE_COLUMNS = (
    "id", "conversation", "seq", "sender", "recipient", "type", "reply_to", "thread", "pattern", "priority",
    "created_at", "expires_at", "trace", "hops", "task", "digest", "content", "metadata",
)  # fmt: skip
DIGEST = MESSAGE_COLUMNS.index("digest")
DELIVERY_COLUMNS = (
    "recipient", "folder", "stored_at", "handed_off_at", "handed_off_via", "seen_at", "seen_via",
    "claimed_at", "claimed_by", "expiries", "completed_at", "completed_by", "result", "error", "note",
    "replied_at", "reply_id", "cleared_at",
)  # fmt: skip
"""All but the message, which the row names by its rid."""

_TEXTS = frozenset({"content", "metadata", "result", "error", "note"})
MESSAGE_TEXTS = tuple(number for number, name in enumerate(MESSAGE_COLUMNS) if name in _TEXTS)
DELIVERY_TEXTS = tuple(number for number, name in enumerate(DELIVERY_COLUMNS) if name in _TEXTS)
"""The columns that hold what others wrote, at any length."""
MOST_TEXT = 2 << 20
"""A page of messages ends at this many characters: many large messages must not fill the memory at once."""


def page_of(
    rows: Iterable[tuple[Any, ...]], texts: Iterable[int] = MESSAGE_TEXTS, most_text: int = MOST_TEXT
) -> list[tuple[Any, ...]]:
    """The first rows whose texts fit on a page, at least one. `texts` are the columns that count.

    Rows are fetched as they are taken, so what does not fit is never read.
    """
    page: list[tuple[Any, ...]] = []
    room = most_text
    for row in rows:
        page.append(row)
        room -= text_in(row, texts)
        if room <= 0:
            break
    return page


def text_in(row: tuple[Any, ...], texts: Iterable[int]) -> int:
    return sum(len(row[column] or "") for column in texts)


def message_row(message: Message) -> tuple[object, ...]:
    return (
        message.id, message.conversation, message.seq, message.sender, message.recipient, message.type,
        message.reply_to, message.thread, message.pattern, RANKS[message.priority], message.created_at,
        message.expires_at, message.trace, message.hops, message.task, message.digest(), message.content,
        message.metadata,
    )  # fmt: skip


def message_from(row: tuple[Any, ...]) -> Message:
    """Raises StorageDamaged when the digest does not match, whatever the damage did to the row."""
    rank: int = row[9]
    try:
        message = Message(
            id=row[0], conversation=row[1], seq=row[2], sender=row[3], recipient=row[4], type=row[5],
            reply_to=row[6], thread=row[7], pattern=row[8], priority=PRIORITIES[rank], created_at=row[10],
            expires_at=row[11], trace=row[12], hops=row[13], task=row[14], content=row[16], metadata=row[17],
        )  # fmt: skip
    except (IndexError, TypeError) as exc:
        raise damaged_message(str(row[0])) from exc
    if message.digest() != row[DIGEST]:
        raise damaged_message(str(row[0]))
    return message


def delivery_row(delivery: Delivery) -> tuple[object, ...]:
    return (
        delivery.recipient, delivery.folder, delivery.stored_at, delivery.handed_off_at,
        delivery.handed_off_via, delivery.seen_at, delivery.seen_via, delivery.claimed_at,
        delivery.claimed_by, delivery.expiries, delivery.completed_at, delivery.completed_by,
        delivery.result, delivery.error, delivery.note, delivery.replied_at, delivery.reply_id,
        delivery.cleared_at,
    )  # fmt: skip


def delivery_from(message_id: str, row: tuple[Any, ...]) -> Delivery:
    return Delivery(
        message_id=message_id, recipient=row[0], folder=row[1], stored_at=row[2], handed_off_at=row[3],
        handed_off_via=row[4], seen_at=row[5], seen_via=row[6], claimed_at=row[7], claimed_by=row[8],
        expiries=row[9], completed_at=row[10], completed_by=row[11], result=row[12], error=row[13],
        note=row[14], replied_at=row[15], reply_id=row[16], cleared_at=row[17],
    )  # fmt: skip
