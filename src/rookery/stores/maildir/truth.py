"""Making a group of works durable in files and journal, before the index takes it."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import msgspec

from rookery.domain.errors import StorageUnavailable
from rookery.domain.messages import Message
from rookery.stores.maildir.letters import CLEARED, Letters, letter, remove
from rookery.stores.maildir.segments import Place, Segments
from rookery.stores.maildir.syncing import Syncing
from rookery.stores.tables.changes import Changes, Record
from rookery.stores.tables.rows import MESSAGE_COLUMNS, message_from
from rookery.stores.tables.transaction import TableTransaction

_SET = "INSERT INTO state (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
_NAMES = ("line", "line_segment", "line_start", "line_end", "line_check")
_MESSAGE = f"SELECT {', '.join(MESSAGE_COLUMNS)} FROM messages WHERE id = ?"

Files = dict[tuple[str, str], str]
"""Message id and recipient of each delivery that changed, and the folder its file belongs in."""


@dataclass(slots=True)
class Difference:
    """What a group changes, as far as files are concerned."""

    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    keys: dict[str, Record] = field(default_factory=dict[str, Record])
    files: Files = field(default_factory=Files)
    removed: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def recipients(self) -> dict[str, list[str]]:
        """Of the new messages, in the order they were given."""
        found: dict[str, list[str]] = {message_id: [] for message_id in self.messages}
        for message_id, recipient in self.files:
            if message_id in found:
                found[message_id].append(recipient)
        return found


class FilesAndJournal:
    """The truth of the maildir store; used by the writer's thread alone.

    Order matters. First the files, in `tmp`; then the line of the journal, which is the commit; then the
    moves. A crash before the line leaves files in `tmp`, which are thrown away; a crash after it is made good
    on opening, where the line tells which moves to finish. So no file lies in a folder without a line.
    """

    def __init__(self, letters: Letters, segments: Segments) -> None:
        self._syncing = Syncing()
        self._letters = letters
        self._segments = segments
        self._undo: list[Callable[[], object]] = []
        self._discarded: list[Path] = []
        self._stuck = False

    def before_commit(self, transaction: TableTransaction) -> None:
        changes = transaction.changes
        if self._stuck:
            raise StorageUnavailable(
                "A write could be neither finished nor undone, so nothing more is written; restart the hub, "
                "which makes it good from the journal."
            )
        if not changes:
            return
        difference = difference_in(changes)
        unsynced: list[Path] = []
        for message_id, recipients in difference.recipients().items():
            content = letter(difference.messages[message_id], recipients, difference.keys.get(message_id))
            written = self._letters.write(content, message_id, recipients)
            self._undo.append(lambda files=written: remove(files))
            unsynced.append(written[0])
        self._syncing.sync(unsynced)
        place = self._segments.append(transaction.journal.end(), [for_journal(record) for record in changes])
        self._undo.append(self._segments.take_back)
        moves = Moves(self._letters, transaction.connection, self._undo)
        self._discarded = moves.make(difference)
        self._syncing.sync(moves.touched)
        remember_place(transaction.connection, place)

    def after_commit(self) -> None:
        self._undo.clear()
        with suppress(OSError):  # what stays in tmp is thrown away on the next opening
            remove(self._discarded)
        self._discarded = []

    def close(self) -> None:
        self._syncing.close()

    def after_rollback(self) -> None:
        self._stuck = True
        while self._undo:
            self._undo.pop()()
        self._stuck = False
        self._discarded = []


class Moves:
    """Brings files to where they belong. Done again, it changes nothing."""

    def __init__(self, letters: Letters, connection: sqlite3.Connection, undo: list[Callable[[], object]]) -> None:
        self._letters = letters
        self._connection = connection
        self._undo = undo
        self.touched: set[Path] = set()

    def make(self, difference: Difference) -> list[Path]:
        """Returns the files of removed messages: they are in `tmp` now, to be deleted after the commit."""
        for (message_id, recipient), place in difference.files.items():
            if message_id in difference.removed:
                continue
            target = self._letters.destination(recipient, place, message_id)
            if message_id in difference.messages:
                sources = [self._letters.tmp(recipient, message_id)]
            else:
                sources = self._letters.copies(recipient, message_id)
            if not sources:
                sources = self._written_anew(message_id, recipient)
                self.touched.update(target for _ in sources)
            for source in sources:
                self._rename(source, target)
        for message_id, recipients in difference.recipients().items():
            if not recipients and message_id not in difference.removed:
                self._rename(self._letters.tmp(None, message_id), self._letters.destination(None, "", message_id))
        return [path for each in difference.removed.items() for path in self._discard(*each)]

    def _discard(self, message_id: str, recipients: list[str]) -> list[Path]:
        discarded: list[Path] = []
        for recipient in (*recipients, None):
            tmp = self._letters.tmp(recipient, message_id)
            for path in self._letters.copies(recipient, message_id):
                self._rename(path, tmp)
                discarded.append(tmp)
        return discarded

    def _written_anew(self, message_id: str, recipient: str) -> list[Path]:
        """A file that somebody deleted comes back: its message is still part of a conversation."""
        row = self._connection.execute(_MESSAGE, (message_id,)).fetchone()
        if row is None:
            return []
        return self._letters.write(letter(message_from(row), [recipient], None), message_id, [recipient])

    def _rename(self, source: Path, target: Path) -> None:
        if source == target:
            return
        try:
            source.rename(target)
        except FileNotFoundError:
            return  # done before the crash that this makes good
        self._undo.append(lambda: target.rename(source))
        # A rename is one change of the file system: syncing where the file went takes it along from where it was.
        self.touched.add(target.parent)


def difference_in(changes: Changes) -> Difference:
    found = Difference()
    for record in changes:
        match record["record"]:
            case "message":
                message = msgspec.convert(record, Message)
                found.messages[message.id] = message
            case "delivery":
                # A file that need not move is not looked at: somebody may just have moved it by hand, which is
                # to be noticed and not undone.
                if _place(record) != _place(cast(Record, record.get("before", {}))):
                    key = (cast(str, record["message_id"]), cast(str, record["recipient"]))
                    found.files[key] = _place(record)
            case "idempotency":
                found.keys[cast(str, record["message_id"])] = record
            case "removed":
                found.removed |= cast(dict[str, list[str]], record["messages"])
            case _:
                pass
    return found


def _place(record: Record) -> str:
    """The folder in which the file of a delivery belongs; none, when the record is empty."""
    return CLEARED if record.get("cleared_at") is not None else cast(str, record.get("folder", ""))


def for_journal(record: Record) -> Record:
    """The text of a message is in its file, and what is not set need not be said."""
    if record["record"] == "message":
        return {"record": "message", "id": record["id"], "digest": record["digest"]}
    if record["record"] == "delivery":
        return {name: value for name, value in record.items() if value is not None and name != "before"}
    return record


def remember_place(connection: sqlite3.Connection, place: Place) -> None:
    """In the index, so that it knows how much of the journal it has."""
    values = (place.number, place.segment, place.start, place.end, place.check)
    connection.executemany(_SET, list(zip(_NAMES, values, strict=True)))


def remembered_place(connection: sqlite3.Connection) -> Place:
    """How much of the journal the index has; raises sqlite3.Error when it is no index."""
    found = dict(connection.execute("SELECT name, value FROM state").fetchall())
    return Place(*(found.get(name, 0) for name in _NAMES))
