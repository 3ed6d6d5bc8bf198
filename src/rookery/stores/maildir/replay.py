"""Bringing the index up to date from the journal and the files."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import cast

import msgspec

from rookery.domain.agents import Agent
from rookery.domain.deliveries import Delivery
from rookery.domain.messages import Message
from rookery.stores.maildir.letters import Letters, first_intact, remove
from rookery.stores.maildir.segments import Line, Place
from rookery.stores.maildir.syncing import sync
from rookery.stores.maildir.truth import Moves, difference_in, remember_place
from rookery.stores.tables import prune, search
from rookery.stores.tables.changes import Record
from rookery.stores.tables.load import restore
from rookery.stores.tables.rows import DIGEST, MESSAGE_COLUMNS, message_from
from rookery.stores.tables.transaction import TableTransaction

_TELL_EVERY = 5_000
_FORMER = f"SELECT {', '.join(MESSAGE_COLUMNS)} FROM messages WHERE id = ?"


class Replay:
    """Applies lines in order. `former` is the index that is being replaced: where a file is gone or damaged,
    its copy of the message is used if it is intact."""

    def __init__(
        self,
        transaction: TableTransaction,
        letters: Letters,
        *,
        removed_later: frozenset[str] = frozenset(),
        known_files: Mapping[str, list[Path]] | None = None,
        former: sqlite3.Connection | None = None,
    ) -> None:
        self._transaction = transaction
        self._letters = letters
        self._removed_later = removed_later
        self._files = known_files
        self._former = former
        self.lost: list[str] = []
        self.damaged: list[str] = []

    def run(
        self, lines: Iterable[tuple[Place, Line]], progress: Callable[[int], None], *, finish_moves: bool
    ) -> Place:
        """Returns the place of the last line. With `finish_moves`, files that a crash left behind follow.

        All in one transaction: half an index would be taken for one that merely lags behind.
        """
        last = Place(0, 0, 0, 0, 0)
        transaction = self._transaction
        transaction.begin()
        for last, line in lines:
            for record in line.records:
                self._apply(record, line)
            if finish_moves:
                self._finish_moves(line.records)
            transaction.journal.restart_at(line.position)
            if transaction.changes is not None:
                transaction.changes.clear()
            if last.number % _TELL_EVERY == 0:
                progress(last.number)
        self._forget_the_lost()
        self._commit(last)
        return last

    def _commit(self, place: Place) -> None:
        transaction = self._transaction
        transaction.flush()
        if place.number:
            remember_place(transaction.connection, place)
        transaction.connection.execute("COMMIT")
        transaction.committed()
        transaction.forget()

    def _apply(self, record: Record, line: Line) -> None:
        transaction = self._transaction
        connection = transaction.connection
        about = _message_it_goes_with(record)
        if about in self._removed_later or about in self.lost:
            return
        match record["record"]:
            case "message":
                self._message(record, line)
            case "agent" if transaction.agents.get(cast(str, record["id"])) is not None:
                transaction.agents.update(msgspec.convert(record, Agent))
            case "delivery" if transaction.deliveries.get(
                cast(str, record["message_id"]), cast(str, record["recipient"])
            ):
                transaction.deliveries.save(msgspec.convert(record, Delivery))
            case "token":
                connection.execute("DELETE FROM tokens WHERE id = ?", (record["id"],))
                restore(transaction, record)
            case "sign_of_life":
                transaction.agents.touch(cast(str, record["id"]), cast(int, record["last_active"]))
            case "removed":
                transaction.remove(list(cast(dict[str, object], record["messages"])))
            case "rule_removed":
                transaction.rules.remove(cast(str, record["agent"]), cast(str, record["target"]))
            case "held_removed":
                transaction.held.remove(cast(str, record["message_id"]))
            case "journal_emptied":
                connection.execute("DELETE FROM events")
                connection.execute("DELETE FROM audiences")
            case _:
                restore(transaction, record)

    def _message(self, record: Record, line: Line) -> None:
        message_id, digest = cast(str, record["id"]), cast(str, record["digest"])
        paths = self._paths(message_id, line)
        message = first_intact(paths)
        if message is None or message.digest().hex() != digest:
            if paths:
                self.damaged.append(message_id)
            message = self._remembered(message_id, digest)
        if message is None:
            self.lost.append(message_id)
        else:
            self._transaction.messages.restore(message)

    def _paths(self, message_id: str, line: Line) -> list[Path]:
        if self._files is not None:
            return self._files.get(message_id, [])
        recipients = [
            cast(str, record["recipient"])
            for record in line.records
            if record["record"] == "delivery" and record["message_id"] == message_id
        ]
        return [path for each in (*recipients, None) for path in self._letters.copies(each, message_id)]

    def _remembered(self, message_id: str, digest: str) -> Message | None:
        if self._former is None:
            return None
        try:
            row = self._former.execute(_FORMER, (message_id,)).fetchone()
            return message_from(row) if row is not None and bytes(row[DIGEST]).hex() == digest else None
        except Exception:  # the old index may be damaged in any way; then it is no help
            return None

    def _finish_moves(self, records: list[Record]) -> None:
        difference = difference_in([record for record in records if record["record"] != "message"])
        for record in records:
            if record["record"] == "message" and (stored := self._stored(cast(str, record["id"]))):
                difference.messages[stored.id] = stored
        moves = Moves(self._letters, self._transaction.connection, [])
        remove(moves.make(difference))
        for path in moves.touched:
            sync(path)

    def _stored(self, message_id: str) -> Message | None:
        return self._transaction.messages.get(message_id)

    def _forget_the_lost(self) -> None:
        """Facts about messages that are gone would tell of what nobody can see."""
        if self.lost:
            prune.remove_contact(self._transaction.connection, self.lost)
            prune.remove_events(self._transaction.connection, self.lost)
            prune.forget_clearings(self._transaction.connection, frozenset(self.lost))
            search.rids_may_repeat(self._transaction.connection)


def _message_it_goes_with(record: Record) -> object:
    """The message without which the record is not kept. A task outlives its request."""
    match record["record"]:
        case "message":
            return record["id"]
        case "task":
            return None
        case _:
            return record.get("message_id")


def removed_in(lines: Iterable[tuple[Place, Line]]) -> frozenset[str]:
    """The messages that were removed at some time: their files are not missing, they are gone for good."""
    return frozenset(
        message_id
        for _, line in lines
        for record in line.records
        if record["record"] == "removed"
        for message_id in cast(dict[str, object], record["messages"])
    )
