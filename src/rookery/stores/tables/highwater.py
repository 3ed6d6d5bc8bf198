"""The position up to which writes were acknowledged, outside the database.

A flipped bit in the write-ahead log makes its last transactions vanish without an error, and every check that
SQLite has still says "ok". This mark notices.
"""

import hashlib
import os
import struct
from contextlib import suppress
from pathlib import Path

from rookery.domain.errors import StorageDamaged


class HighWaterMark:
    """Written after each commit and never synced: the commit was, so the mark can only lag behind it."""

    def __init__(self, file: Path) -> None:
        self._path = file
        self._file = -1

    def open(self) -> None:
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def read(self) -> int:
        """0 when there is none, or when what is there was half written."""
        data = os.pread(self._file, 16, 0)
        if len(data) < 16 or _check(data[:8]) != data[8:]:
            return 0
        return struct.unpack(">q", data[:8])[0]

    def write(self, position: int) -> None:
        """Never raises: a mark that could not be written lags behind, which is safe."""
        data = struct.pack(">q", position)
        with suppress(OSError):
            os.pwrite(self._file, data + _check(data), 0)

    def verify(self, position: int, place: Path) -> None:
        """Raises StorageDamaged when the database ends before what was acknowledged."""
        mark = self.read()
        if position < mark:
            raise StorageDamaged(
                f"The data in {place} was acknowledged up to position {mark}, but the file ends at "
                f"{position}: {mark - position} facts are missing. Restore a backup, or run `rook index rebuild`, "
                "which accepts the loss.",
                acknowledged=mark,
                found=position,
            )


def _check(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8).digest()
