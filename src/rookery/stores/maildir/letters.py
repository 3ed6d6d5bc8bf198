"""Message files: `inbox/<recipient>/<folder>/<message id>.json`, one for each delivery.

A file never changes; it is moved. The copies of one message are names of the same file, so a broadcast to a
hundred agents is written and synced once. Besides the folders of the work there are `tmp`, for what is not
committed yet, and `cleared`, for what its owner has taken out of the inbox.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec

from rookery.domain.deliveries import FOLDERS, Delivery
from rookery.domain.errors import StorageDamaged
from rookery.domain.messages import Message
from rookery.stores.tables.changes import message_record
from rookery.stores.tables.faults import damaged_message
from rookery.stores.tables.ground import sync_directory

TMP = "tmp"
CLEARED = "cleared"
PLACES = (*FOLDERS, CLEARED)
_SUFFIX = ".json"


class Letters:
    """The tree of files. Knows where things are, not why."""

    def __init__(self, directory: Path) -> None:
        self.inboxes = directory / "inbox"
        self._unaddressed = directory / "messages"
        self._made: set[Path] = set()

    def prepare(self) -> None:
        for folder in (self.inboxes, self._unaddressed, self._unaddressed / TMP):
            self._make(folder)

    def write(self, content: bytes, message_id: str, recipients: Sequence[str]) -> list[Path]:
        """Put a file for each recipient into its `tmp`; the first of them has to be synced.
        Without recipients there is one file, outside the inboxes."""
        name = _file_name(message_id)
        for recipient in recipients:
            self._make_inbox(recipient)
        folders = [self._folder(recipient, TMP) for recipient in recipients] or [self._unaddressed / TMP]
        first = folders[0] / name
        handle = os.open(first, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        written = [first]
        try:
            os.fchmod(handle, 0o600)
            _write_all(handle, content)
            for folder in folders[1:]:
                other = folder / name
                other.unlink(missing_ok=True)
                other.hardlink_to(first)
                written.append(other)
        except BaseException:
            remove(written)
            raise
        finally:
            os.close(handle)
        return written

    def destination(self, recipient: str | None, place: str, message_id: str) -> Path:
        if recipient is None:
            return self._unaddressed / _file_name(message_id)
        self._make_inbox(recipient)
        return self._folder(recipient, place) / _file_name(message_id)

    def locate(self, recipient: str, message_id: str) -> str | None:
        """The folder in which the file lies, `tmp` left aside; None when it is gone."""
        name = _file_name(message_id)
        for place in PLACES:
            if (self.inboxes / _file_safe(recipient) / place / name).exists():
                return place
        return None

    def tmp(self, recipient: str | None, message_id: str) -> Path:
        folder = self._unaddressed / TMP if recipient is None else self._folder(recipient, TMP)
        return folder / _file_name(message_id)

    def copies(self, recipient: str | None, message_id: str) -> list[Path]:
        """Where the recipient's file is; usually one place. For a message without recipients, its file."""
        name = _file_name(message_id)
        if recipient is None:
            folders = [self._unaddressed, self._unaddressed / TMP]
        else:
            folders = [self._folder(recipient, place) for place in (*PLACES, TMP)]
        return [folder / name for folder in folders if (folder / name).exists()]

    def put_back(self, delivery: Delivery) -> None:
        """Move the file to where it belongs, from wherever it is."""
        target = self.destination(delivery.recipient, place_in(delivery), delivery.message_id)
        for path in self.copies(delivery.recipient, delivery.message_id):
            if path != target:
                path.rename(target)

    def listing(self) -> Iterator[tuple[str, str, str]]:
        """Recipient, folder and message id of every file in the inboxes, by names alone."""
        for inbox in sorted(_entries(self.inboxes)):
            for place in PLACES:
                for message_id in _ids(self.inboxes / inbox / place):
                    yield unquote(inbox), place, message_id

    def in_tmp(self) -> Iterator[tuple[str | None, str, Path]]:
        """Recipient, message id and path of every file that was not moved to its folder."""
        for inbox in _entries(self.inboxes):
            for message_id in _ids(self.inboxes / inbox / TMP):
                yield unquote(inbox), message_id, self.tmp(unquote(inbox), message_id)
        for message_id in _ids(self._unaddressed / TMP):
            yield None, message_id, self.tmp(None, message_id)

    def files(self) -> Iterator[tuple[Path, str]]:
        """Every message file there is, with the id it is named after."""
        for recipient, place, message_id in self.listing():
            yield self._folder(recipient, place) / _file_name(message_id), message_id
        for message_id in _ids(self._unaddressed):
            yield self._unaddressed / _file_name(message_id), message_id
        for _, message_id, path in self.in_tmp():
            yield path, message_id

    def empty_tmp(self) -> int:
        """Remove what was never committed. Returns how many files that were."""
        left = [path for _, _, path in self.in_tmp()]
        remove(left)
        return len(left)

    def place_of(self, path: str) -> tuple[str, str] | None:
        """Recipient and message id, if the path is that of a delivery's file in one of its folders."""
        parts = path.rsplit("/", 3)  # plain text: this is called for each of the store's own moves as well
        if len(parts) != 4 or parts[2] not in PLACES or not parts[3].endswith(_SUFFIX):
            return None
        return unquote(parts[1]), unquote(parts[3].removesuffix(_SUFFIX))

    def _folder(self, recipient: str, place: str) -> Path:
        return self.inboxes / _file_safe(recipient) / place

    def _make_inbox(self, recipient: str) -> None:
        """With all its folders, so that there is somewhere to move a file by hand."""
        inbox = self.inboxes / _file_safe(recipient)
        if inbox not in self._made:
            for place in (*PLACES, TMP):
                self._make(inbox / place)
            self._made.add(inbox)

    def _make(self, folder: Path) -> None:
        if folder in self._made:
            return
        if not folder.is_dir():
            if not folder.parent.is_dir():
                self._make(folder.parent)
            folder.mkdir(mode=0o700, exist_ok=True)
            sync_directory(folder.parent)
        self._made.add(folder)


def letter(message: Message, recipients: list[str], key: dict[str, object] | None) -> bytes:
    """The file's text: the message with its digest, whom it reached, and the sender's idempotency key."""
    record = message_record(message)
    del record["record"]
    record["recipients"] = recipients
    if key is not None:
        record["idempotency"] = {"key": key["key"], "digest": key["digest"]}
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def read_letter(path: Path) -> Message:
    """Raises StorageDamaged when the file is not what was written."""
    try:
        record = msgspec.json.decode(path.read_bytes(), type=dict[str, object])
        message = msgspec.convert(record, Message)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise damaged_message(unquote(path.name.removesuffix(_SUFFIX))) from exc
    if message.digest().hex() != record.get("digest") or _file_name(message.id) != path.name:
        raise damaged_message(unquote(path.name.removesuffix(_SUFFIX)))
    return message


def first_intact(paths: Iterable[Path]) -> Message | None:
    for path in paths:
        try:
            return read_letter(path)
        except StorageDamaged:
            continue
    return None


def remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def place_in(delivery: Delivery) -> str:
    """The folder in which a delivery's file belongs."""
    return CLEARED if delivery.cleared_at is not None else delivery.folder


def _ids(folder: Path) -> list[str]:
    return [unquote(name.removesuffix(_SUFFIX)) for name in _entries(folder) if name.endswith(_SUFFIX)]


def _file_name(message_id: str) -> str:
    return _file_safe(message_id) + _SUFFIX


def _file_safe(name: str) -> str:
    """Ids are plain words; anything else must not become a path."""
    return quote(name, safe="").replace(".", "%2E")


def _entries(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _write_all(handle: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]
