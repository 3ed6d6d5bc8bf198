"""Pages of an inbox.

Two indexes serve every listing, because each costs every send something: `deliveries_by_folder` and
`deliveries_unread`, both ordered by priority and then arrival. A page in order of arrival is therefore a
merge of one range per priority (and folder, when all are wanted), which SQLite does without sorting: it reads
as many rows as it answers, whatever the inbox holds.
"""

import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import Any

from rookery.domain.deliveries import FOLDERS, Folder
from rookery.domain.errors import MessageNotFound
from rookery.ports import InboxItem, InboxQuery
from rookery.stores.tables.rows import (
    DELIVERY_COLUMNS,
    DELIVERY_TEXTS,
    MESSAGE_COLUMNS,
    MESSAGE_TEXTS,
    MOST_TEXT,
    PRIORITIES,
    delivery_from,
    message_from,
    page_of,
    text_in,
)

_RANKS = range(len(PRIORITIES))
_FIRST, _LAST = -1, 2**63 - 1
_SPLIT = 1 + len(MESSAGE_COLUMNS)
_TEXTS = (*(1 + column for column in MESSAGE_TEXTS), *(_SPLIT + column for column in DELIVERY_TEXTS))
_ITEM = ", ".join(
    (
        "page.rid",
        *(f"m.{column}" for column in MESSAGE_COLUMNS),
        *(f"d.{column}" for column in DELIVERY_COLUMNS),
    )
)
_PLACE = (
    "SELECT d.priority, d.rid FROM messages AS m CROSS JOIN deliveries AS d ON d.message = m.rid"
    " WHERE m.id = ? AND d.recipient = ?"
)

_Row = tuple[Any, ...]


def page(connection: sqlite3.Connection, query: InboxQuery) -> Sequence[InboxItem]:
    if query.limit <= 0:
        return []
    bounds = _bounds(connection, query)
    if query.order != "urgency":
        return _items(_rows(connection, query, tuple(_RANKS), bounds, query.limit))
    rows: list[_Row] = []
    for rank in reversed(_RANKS):
        if bounds[f"from{rank}"] != _LAST:
            rows += _rows(connection, query, (rank,), bounds, query.limit - len(rows))
        # A page that ended early for its size must not go on with what is less urgent.
        if len(rows) >= query.limit or sum(text_in(row, _TEXTS) for row in rows) >= MOST_TEXT:
            break
    return _items(rows)


def _items(rows: list[_Row]) -> list[InboxItem]:
    return [InboxItem(message_from(row[1:_SPLIT]), delivery_from(row[1], row[_SPLIT:])) for row in rows]


def _rows(
    connection: sqlite3.Connection,
    query: InboxQuery,
    ranks: tuple[int, ...],
    bounds: dict[str, int],
    limit: int,
) -> list[_Row]:
    sql = statement(query.unread_only, query.folder, ranks, newest_first=query.order == "latest")
    wanted = {"recipient": query.recipient, "now": query.now, "limit": limit}
    rows = connection.execute(sql, wanted | {name: bounds[name] for name in (f"from{rank}" for rank in ranks)})
    # The order of a subquery is not promised to survive the joins around it. It does, and a page may end
    # early only because it does: the nested loops follow the merged ranges.
    found = page_of(rows, _TEXTS)
    return sorted(found, key=lambda row: row[0], reverse=query.order == "latest")


@cache
def statement(unread: bool, folder: Folder | None, ranks: tuple[int, ...], *, newest_first: bool) -> str:
    """The SQL of one page of the given priorities, in order of arrival."""
    arms = [
        _arm(unread, each, rank, newest_first=newest_first)
        for rank in ranks
        for each in ((folder,) if unread or folder else FOLDERS)
    ]
    merged = f"{' UNION ALL '.join(arms)} ORDER BY 1 {'DESC' if newest_first else 'ASC'} LIMIT :limit"
    return (
        f"SELECT {_ITEM} FROM ({merged}) AS page"
        " CROSS JOIN deliveries AS d ON d.rid = page.rid CROSS JOIN messages AS m ON m.rid = d.message"
    )


def _arm(unread: bool, folder: Folder | None, rank: int, *, newest_first: bool) -> str:
    index = "deliveries_unread" if unread else "deliveries_by_folder"
    conditions = [f"recipient = :recipient AND priority = {rank} AND cleared_at IS NULL"]
    if unread:
        conditions.append("folder = 'new' AND seen_at IS NULL")
    if folder is not None:
        conditions.append(f"folder = '{folder}'")
    conditions.append(f"rid {'<' if newest_first else '>'} :from{rank}")
    if folder is None or folder == "new":
        conditions.append("(expires_at IS NULL OR expires_at > :now OR folder <> 'new' OR seen_at IS NOT NULL)")
    return f"SELECT rid FROM deliveries INDEXED BY {index} WHERE {' AND '.join(conditions)}"


def _bounds(connection: sqlite3.Connection, query: InboxQuery) -> dict[str, int]:
    """For each priority, the rid from which on (not included) the page goes."""
    start = _LAST if query.order == "latest" else _FIRST
    if query.after is None:
        return {f"from{rank}": start for rank in _RANKS}
    place = connection.execute(_PLACE, (query.after, query.recipient)).fetchone()
    if place is None:
        raise MessageNotFound(query.after)
    priority, rid = place
    if query.order != "urgency":
        return {f"from{rank}": rid for rank in _RANKS}
    # More urgent ones were on earlier pages, less urgent ones are all to come.
    return {f"from{r}": _LAST if r > priority else rid if r == priority else _FIRST for r in _RANKS}
