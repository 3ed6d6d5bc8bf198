"""Channels in SQL."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from rookery.domain.channels import Channel
from rookery.stores.tables.changes import Changes, channel_record
from rookery.stores.tables.faults import ReadOnly

_COLUMNS = "name, topic, members, created_by, created_at, archived_at"
_GET = f"SELECT {_COLUMNS} FROM channels WHERE name = ?"
ALL = f"SELECT {_COLUMNS} FROM channels ORDER BY rid"
_PUT = (
    f"INSERT INTO channels ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
    " topic = excluded.topic, members = excluded.members, archived_at = excluded.archived_at"
)
_members = msgspec.json.Decoder(tuple[str, ...]).decode


class ChannelTable:
    def __init__(self, connection: sqlite3.Connection, changes: Changes | None, *, writable: bool) -> None:
        self._connection = connection
        self._changes = changes
        self._writable = writable

    def get(self, name: str) -> Channel | None:
        row = self._connection.execute(_GET, (name,)).fetchone()
        return None if row is None else channel_from(row)

    def all(self) -> Sequence[Channel]:
        return [channel_from(row) for row in self._connection.execute(ALL)]

    def put(self, channel: Channel) -> None:
        if not self._writable:
            raise ReadOnly
        members = msgspec.json.encode(channel.members).decode()
        row = (
            channel.name, channel.topic, members, channel.created_by, channel.created_at, channel.archived_at,
        )  # fmt: skip
        self._connection.execute(_PUT, row)
        if self._changes is not None:
            self._changes.append(channel_record(channel))


def channel_from(row: tuple[Any, ...]) -> Channel:
    name, topic, members, created_by, created_at, archived_at = row
    return Channel(
        name=name,
        topic=topic,
        members=_members(members),
        created_by=created_by,
        created_at=created_at,
        archived_at=archived_at,
    )
