"""Disk space kept back, so that a full disk can still be cleaned up: even deleting needs room to write."""

import os
from contextlib import suppress
from pathlib import Path

from rookery.stores.tables.connection import LOG_LIMIT

_SIZE = 2 * LOG_LIMIT + 2 * 1024 * 1024
"""When the disk is full, the whole log must still fit into the database file. The log is as long as its limit,
and longer by what it grew after the last room for a checkpoint was gone, which is less than its limit again."""

_MARGIN = 1024 * 1024


class Reserve:
    """Present while there is room; given back when the disk is full; made again once there is room for it and
    some to spare. `spent` means that only what frees space may write."""

    def __init__(self, file: Path, *, size: int = _SIZE, margin: int = _MARGIN) -> None:
        self._path = file
        self._size = size
        self._margin = margin
        self.spent = False

    def make(self) -> None:
        """Make sure that it is there, or be `spent` when there is no room for it."""
        try:
            if self._path.stat().st_size == self._size:
                self.spent = False
                return
        except FileNotFoundError:
            pass
        if self._free() < self._size + self._margin:
            self.spent = True
            return
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(file, 0, self._size)
            self.spent = False
        except OSError:
            self.spend()
        finally:
            os.close(file)

    def spend(self) -> None:
        self.spent = True
        with suppress(FileNotFoundError):
            self._path.unlink()

    def _free(self) -> int:
        stats = os.statvfs(self._path.parent)
        return stats.f_bavail * stats.f_frsize
