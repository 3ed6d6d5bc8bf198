"""The driver's errors in the words of the domain. This is the one place where they are translated."""

import errno
import os
import sqlite3
from pathlib import Path

from rookery.domain.errors import Conflict, InvalidRequest, StorageDamaged, StorageFull, StorageUnavailable

_PRIMARY = 0xFF  # the low byte of an extended result code
_HARDLY_ANYTHING = 256 * 1024


class ReadOnly(RuntimeError):
    """A work given to `Store.read` tried to change something; give it to `Store.write`."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)


def translated(error: BaseException, place: Path) -> BaseException:
    """What the caller should see instead; an error that is not the driver's is returned as it is."""
    match error:
        case sqlite3.Error():
            return _of_sqlite(error, place)
        case UnicodeEncodeError():
            return InvalidRequest(
                "The text holds half a character (a lone surrogate) and cannot be stored; send valid Unicode."
            )
        case OSError():
            return _of_system(error, place)
        case StopIteration():
            return RuntimeError("A work ended with StopIteration.")  # which a future would not accept
        case _:
            return error


def is_about_the_place(error: BaseException, place: Path) -> bool:
    """Whether the error is the disk's or the file's, so that the next work would meet it as well."""
    fault = translated(error, place)
    return fault is not error and isinstance(fault, StorageFull | StorageUnavailable)


def _of_sqlite(error: sqlite3.Error, place: Path) -> BaseException:
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
    if code == 0 and "decode to UTF-8" in str(error):
        return damaged(place, str(error))
    match code:
        case sqlite3.SQLITE_FULL:
            return StorageFull(str(place))
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return damaged(place, str(error))
        case sqlite3.SQLITE_CONSTRAINT:
            return Conflict(f"Something by that name is stored already ({error}); look it up and try again.")
        case sqlite3.SQLITE_TOOBIG:
            return InvalidRequest("The text is larger than the store can hold; send less, or send a path.")
        case sqlite3.SQLITE_READONLY if "attempt to write" in str(error):
            return ReadOnly()
        case sqlite3.SQLITE_IOERR if _free_bytes(place) < _HARDLY_ANYTHING:
            # SQLite reports a full disk under the name of whatever it was doing, not always as SQLITE_FULL.
            return StorageFull(str(place))
        case (
            sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_READONLY
            | sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL | sqlite3.SQLITE_NOMEM
        ):  # fmt: skip
            return unavailable(place, str(error))
        case _:
            return error


def _of_system(error: OSError, place: Path) -> BaseException:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(str(place))
    return unavailable(place, error.strerror or str(error))


def damaged(place: Path, what: str) -> StorageDamaged:
    return StorageDamaged(
        f"The data in {place} is damaged ({what}); nothing of it is served. Stop the hub, run "
        "`rook index rebuild` to see what is lost, and restore a backup if there is one.",
        place=str(place),
    )


def damaged_message(message_id: str) -> StorageDamaged:
    return StorageDamaged(
        f"Message {message_id!r} is not what was written: its digest does not match. It is not served; "
        "`rook index rebuild` lists all damaged messages, and a backup can bring them back.",
        message_id=message_id,
    )


def damaged_paper(kind: str, why: str) -> StorageDamaged:
    return StorageDamaged(
        f"A stored {kind} is not what was written ({why}). It is not served; a backup can bring it back.",
        kind=kind,
    )


def unavailable(place: Path, why: str) -> StorageUnavailable:
    return StorageUnavailable(
        f"The data in {place} cannot be used ({why}); check that the directory exists, is yours and can be "
        "written, or choose another with --data.",
        place=str(place),
    )


def _free_bytes(place: Path) -> int:
    try:
        stats = os.statvfs(place)
    except OSError:
        return 0
    return stats.f_bavail * stats.f_frsize
