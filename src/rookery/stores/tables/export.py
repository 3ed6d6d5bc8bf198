"""Everything in a store as records, from one snapshot."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import msgspec

from rookery.stores.tables import channels, journal
from rookery.stores.tables.agents import COLUMNS as AGENT_COLUMNS
from rookery.stores.tables.agents import agent_from
from rookery.stores.tables.approvals import APPROVAL
from rookery.stores.tables.asks import ASK
from rookery.stores.tables.attention import ATTENTION
from rookery.stores.tables.changes import (
    Record,
    agent_record,
    attention_record,
    channel_record,
    conversation_record,
    delivery_record,
    event_record,
    header_record,
    idempotency_record,
    message_record,
    pacing_record,
    paper_record,
    token_record,
)
from rookery.stores.tables.channels import channel_from
from rookery.stores.tables.held import HELD
from rookery.stores.tables.papers import Kind
from rookery.stores.tables.rows import DELIVERY_COLUMNS, MESSAGE_COLUMNS, delivery_from, message_from
from rookery.stores.tables.rules import RULE
from rookery.stores.tables.tasks import TASK
from rookery.stores.tables.tokens import token_from
from rookery.stores.tables.traces import TRACE

_AGENTS = f"SELECT {AGENT_COLUMNS}, born FROM agents ORDER BY rid"
_MESSAGES = f"SELECT {', '.join(MESSAGE_COLUMNS)} FROM messages ORDER BY rid"
_DELIVERIES = (
    f"SELECT m.id, {', '.join(f'd.{column}' for column in DELIVERY_COLUMNS)}"
    " FROM deliveries AS d CROSS JOIN messages AS m ON m.rid = d.message ORDER BY d.rid"
)
_PAPERS: tuple[Kind[Any], ...] = (ASK, TASK, RULE, APPROVAL, HELD, TRACE)
_COUNT = " + ".join(
    f"(SELECT count(*) FROM {table})"
    for table in (
        "agents", "conversations", "messages", "deliveries", "idempotency", "tokens", "channels", "pacing",
        "asks", "tasks", "rules", "approvals", "held", "traces", "attention", "events",
    )
)  # fmt: skip


def records(cursor: sqlite3.Cursor) -> Iterator[Record]:
    """The caller has begun the transaction that makes it one snapshot, and closes the cursor. Raises
    StorageDamaged at a message that is not what was written: an export that leaves something out would be taken
    for a backup."""
    rows = cursor.execute
    (count,) = rows(f"SELECT {_COUNT}").fetchone()
    (position,) = rows(journal.END).fetchone()
    yield header_record(records=count, position=position)
    yield from (agent_record(agent_from(row), row[13]) for row in rows(_AGENTS))
    yield from (conversation_record(*row) for row in rows("SELECT id, last_seq FROM conversations"))
    yield from (message_record(message_from(row)) for row in rows(_MESSAGES))
    yield from (delivery_record(delivery_from(row[0], row[1:])) for row in rows(_DELIVERIES))
    yield from (
        idempotency_record(*row) for row in rows("SELECT sender, key, message_id, digest FROM idempotency")
    )
    yield from (
        token_record(token_from(row))
        for row in rows("SELECT id, digest, holder, created_at, revoked_at FROM tokens ORDER BY rid")
    )
    yield from (channel_record(channel_from(row)) for row in rows(channels.ALL))
    yield from (_pacing(row) for row in rows("SELECT sender, target, level, accepted FROM pacing"))
    for kind in _PAPERS:
        yield from (paper_record(kind.name, kind.checked(paper)) for (paper,) in rows(kind.all))
    yield from (attention_record([ATTENTION.checked(paper)]) for (paper,) in rows(ATTENTION.all))
    yield from (
        event_record(*row)
        for row in rows(
            "SELECT position, at, actor, token_id, type, audience, message_id, data FROM events ORDER BY position"
        )
    )


def _pacing(row: tuple[Any, ...]) -> Record:
    return pacing_record(row[0], row[1], row[2], msgspec.json.decode(row[3], type=list[int]))
