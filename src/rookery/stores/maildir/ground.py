"""What an open maildir stands on: the files, the journal, and the index that is made from them."""

import logging
import sqlite3
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from rookery.domain.errors import StorageUnavailable
from rookery.stores.maildir.letters import Letters, place_in
from rookery.stores.maildir.replay import Replay, removed_in
from rookery.stores.maildir.segments import Place, Segments
from rookery.stores.maildir.truth import FilesAndJournal, remembered_place
from rookery.stores.tables.changes import Changes
from rookery.stores.tables.connection import open_reader, open_writer
from rookery.stores.tables.ground import Ground, sync_directory
from rookery.stores.tables.group import Truth
from rookery.stores.tables.migrations import migrate
from rookery.stores.tables.transaction import TableTransaction

_log = logging.getLogger(__name__)


class MaildirGround(Ground):
    """`anew` makes the index from scratch even when the one that is there would do."""

    def __init__(
        self,
        directory: Path,
        file: Path,
        *,
        accept_loss: bool,
        anew: bool,
        progress: Callable[[str], None] | None,
    ) -> None:
        # The index can be made again, so it need not be synced at every commit; in write-ahead mode NORMAL
        # never damages it, it only forgets its last commits.
        super().__init__(directory, file, synchronous="NORMAL", accept_loss=accept_loss)
        self.letters = Letters(directory)
        self.damaged: list[str] = []
        self.lost: list[str] = []
        self._segments = Segments(directory / "journal")
        self._anew = anew
        self._progress = progress
        self._indexed: Place | None = None
        self._truth: FilesAndJournal | None = None
        self._changes: Changes = []

    def before_connecting(self) -> None:
        self.letters.prepare()
        self._indexed = None if self._anew else self._place_of_index()
        if self._indexed is None:
            for suffix in ("", "-wal", "-shm"):
                file = self.file.with_name(self.file.name + suffix)
                if file.exists():
                    file.replace(self._former(suffix))

    def recover(self, transaction: TableTransaction) -> None:
        if self._indexed is None:
            last = self._replay_all(transaction)
        else:
            replay = Replay(transaction, self.letters)
            last = replay.run(self._segments.lines(self._indexed), self._tell, finish_moves=True)
            last = last if last.number else self._indexed
            self._note(replay)
        self._verify(transaction.journal.end())
        self._segments.open_after(last)
        self._finish_arrivals(transaction)
        left = self.letters.empty_tmp()
        if left:
            _log.info("Threw away %d files that were never committed", left)
        self._changes.clear()

    def take_down(self) -> None:
        if self._truth is not None:
            self._truth.close()
        self._segments.close()
        super().take_down()

    def changes(self) -> Changes | None:
        return self._changes

    def truth(self) -> Truth | None:
        self._truth = FilesAndJournal(self.letters, self._segments)
        return self._truth

    def _replay_all(self, transaction: TableTransaction) -> Place:
        files: dict[str, list[Path]] = defaultdict(list)
        for path, message_id in self.letters.files():
            files[message_id].append(path)
        former = self._former_index()
        try:
            replay = Replay(
                transaction,
                self.letters,
                removed_later=removed_in(self._segments.lines(None)),
                known_files=files,
                former=former,
            )
            last = replay.run(self._segments.lines(None), self._tell, finish_moves=False)
        finally:
            if former is not None:
                former.close()
        self._note(replay)
        for suffix in ("", "-wal", "-shm"):
            self._former(suffix).unlink(missing_ok=True)
        return last

    def _finish_arrivals(self, transaction: TableTransaction) -> None:
        """A crash between the commit and the moves leaves committed files in `tmp`."""
        for recipient, message_id, path in self.letters.in_tmp():
            if recipient is None:
                known = transaction.messages.get(message_id) is not None
                place = ""
            else:
                delivery = transaction.deliveries.get(message_id, recipient)
                known = delivery is not None
                place = place_in(delivery) if delivery is not None else ""
            if known and self.letters.copies(recipient, message_id) == [path]:
                target = self.letters.destination(recipient, place, message_id)
                path.rename(target)
                sync_directory(target.parent)

    def _place_of_index(self) -> Place | None:
        """How much of the journal the index has, or None when it is missing, damaged or not of this journal."""
        if not self.file.exists():
            return None
        try:
            connection = open_reader(self.file)
            try:
                place = remembered_place(connection)
            finally:
                connection.close()
        except sqlite3.Error as error:
            _log.warning("The index %s cannot be read and is made anew: %s", self.file, error)
            return None
        if not self._segments.holds(place):
            _log.warning("The index %s is not of this journal and is made anew", self.file)
            return None
        return place

    def _former_index(self) -> sqlite3.Connection | None:
        """With the schema of today: it may be older than the last step."""
        if not self._former("").exists():
            return None
        connection = None
        try:
            connection = open_writer(self._former(""), synchronous="NORMAL")
            migrate(connection, self.directory)
        except (sqlite3.Error, StorageUnavailable) as error:
            _log.warning("The former index %s is no help: %s", self._former(""), error)
            if connection is not None:
                connection.close()
            return None
        return connection

    def _former(self, suffix: str) -> Path:
        return self.file.with_name(f"{self.file.name}.former{suffix}")

    def _note(self, replay: Replay) -> None:
        self.damaged, self.lost = replay.damaged, replay.lost
        for message_id in self.damaged:
            _log.warning("The file of message %s is damaged", message_id)
        for message_id in self.lost:
            _log.warning("No intact file of message %s is left; it is gone from its conversation", message_id)

    def _tell(self, lines: int) -> None:
        if self._progress is not None:
            self._progress(f"{lines:,} lines of the journal read ...")
