"""The journal in SQL."""

from collections.abc import Sequence
from typing import Any

from rookery.domain.events import Entry, Fact
from rookery.domain.messages import Message
from rookery.domain.principals import Principal
from rookery.stores.tables.changes import Changes, event_record
from rookery.stores.tables.facts import fact_from, fact_row
from rookery.stores.tables.faults import ReadOnly
from rookery.stores.tables.pen import Form, Pen
from rookery.stores.tables.rows import MESSAGE_COLUMNS, MESSAGE_TEXTS, MOST_TEXT, message_from, page_of

EVERYONE = "*"

_MESSAGE = ", ".join(f"m.{column}" for column in MESSAGE_COLUMNS)
_ENTRY = f"e.at, e.actor, e.token_id, e.type, e.audience, e.data, {_MESSAGE}"
_WITH_MESSAGE = "LEFT JOIN messages AS m ON e.type = 'message_sent' AND m.id = e.message_id"
_TEXTS = (6, *(7 + column for column in MESSAGE_TEXTS))
_RANGE = "> :after AND {0}.position <= :through"

AFTER = (
    f"SELECT e.position, {_ENTRY} FROM events AS e {_WITH_MESSAGE}"
    f" WHERE e.position {_RANGE.format('e')} ORDER BY e.position LIMIT :limit"
)
# Both arms are ranges in order of position, so SQLite merges them and stops at the limit.
AFTER_FOR = (
    f"SELECT a.position, {_ENTRY} FROM audiences AS a CROSS JOIN events AS e ON e.position = a.position"
    f" {_WITH_MESSAGE}"
    f" WHERE a.agent = :agent AND a.position {_RANGE.format('a')}"
    " UNION ALL"
    f" SELECT e.position, {_ENTRY} FROM events AS e INDEXED BY events_for_everyone {_WITH_MESSAGE}"
    f" WHERE e.audience = '*' AND e.position {_RANGE.format('e')}"
    " ORDER BY 1 LIMIT :limit"
)
_BORN = "SELECT born FROM agents WHERE id = ?"
# The floor is where a journal that was loaded goes on when its newest facts are not in it.
END = "SELECT max(coalesce((SELECT max(position) FROM events), 0), (SELECT value FROM state WHERE name = 'floor'))"
_SET_FLOOR = "UPDATE state SET value = ? WHERE name = 'floor'"
EVENTS = Form("events", ("position", "at", "actor", "token_id", "type", "audience", "message_id", "data"))
AUDIENCES = Form("audiences", ("agent", "position"))

_LAST = 2**63 - 1

Row = tuple[int, int, str, str, str, str, str | None, str]


class JournalTable:
    """`entries` and `bytes` tell of what the present group recorded; only a writer's journal has any."""

    def __init__(self, pen: Pen, changes: Changes | None, *, writable: bool) -> None:
        self._pen = pen
        self._changes = changes
        self._writable = writable
        self._committed: int = pen.execute(END).fetchone()[0] if writable else 0
        self.entries: list[Entry] = []
        self.sizes: list[int] = []

    def record(
        self,
        fact: Fact,
        *,
        at: int,
        by: Principal,
        audience: Sequence[str] | None,
        message: Message | None = None,
    ) -> None:
        if not self._writable:
            raise ReadOnly
        entries = self.entries
        position = self._committed + len(entries) + 1
        kind, data, message_id = fact_row(fact)
        reached = None if audience is None else tuple(audience)
        text = EVERYONE if reached is None else " ".join(reached)
        actor, token_id = by.id, by.token_id
        row = (position, at, actor, token_id, kind, text, message_id, data)
        hold_event(self._pen, row, reached)
        entries.append(
            Entry(
                position=position, at=at, actor=actor, token_id=token_id, audience=reached, fact=fact,
                message=message,
            )
        )  # fmt: skip
        size = len(data) + len(text)
        self.sizes.append(size if message is None else size + len(message.content) + len(message.metadata))
        if self._changes is not None:
            self._changes.append(event_record(*row))

    def after(
        self,
        position: int,
        *,
        limit: int,
        audience: str | None = None,
        through: int | None = None,
        most_text: int | None = None,
    ) -> Sequence[Entry]:
        bounds: dict[str, object] = {
            "after": position,
            "through": _LAST if through is None else through,
            "limit": limit,
        }
        if audience is None:
            rows = self._pen.execute(AFTER, bounds)
        else:
            born = self._pen.execute(_BORN, (audience,)).fetchone()
            bounds["after"] = max(position, 0 if born is None else born[0] - 1)
            bounds["agent"] = audience
            rows = self._pen.execute(AFTER_FOR, bounds)
        room = MOST_TEXT if most_text is None else most_text
        return [entry_from(row) for row in page_of(rows, texts=_TEXTS, most_text=room)]

    def end(self) -> int:
        if self._writable:
            return self._committed + len(self.entries)
        return self._pen.execute(END).fetchone()[0]

    def committed(self) -> None:
        self._committed += len(self.entries)
        self.entries, self.sizes = [], []

    def rolled_back(self) -> None:
        self.entries, self.sizes = [], []

    def keep_end(self) -> None:
        """The newest facts may be about to go; their positions are not given again."""
        self._pen.execute(_SET_FLOOR, (self.end(),))

    def restart_at(self, position: int) -> None:
        """The journal was replaced; go on from that position."""
        self._committed = position
        self._pen.execute(_SET_FLOOR, (position,))


def hold_event(pen: Pen, row: Row, audience: Sequence[str] | None) -> None:
    pen.hold(EVENTS, row)
    for agent in dict.fromkeys(audience or ()):
        pen.hold(AUDIENCES, (agent, row[0]))


def entry_from(row: tuple[Any, ...]) -> Entry:
    audience: str = row[5]
    return Entry(
        position=row[0], at=row[1], actor=row[2], token_id=row[3],
        audience=None if audience == EVERYONE else tuple(audience.split()),
        fact=fact_from(row[4], row[6]),
        message=None if row[7] is None else message_from(row[7:]),
    )  # fmt: skip
