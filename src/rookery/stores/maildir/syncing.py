"""Getting files and directories onto the disk, many at once."""

import os
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_AT_ONCE = 8


class Syncing:
    """A file system commits together what is synced together, so ten at once take little longer than one."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    def sync(self, paths: Collection[Path]) -> None:
        """On disk when this returns. Raises OSError when one of them could not be."""
        if len(paths) < 2:
            for path in paths:
                sync(path)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_AT_ONCE, "rookery-sync")
        for _ in self._pool.map(sync, paths):
            pass

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
