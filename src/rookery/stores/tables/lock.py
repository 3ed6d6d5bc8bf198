"""One hub for one data directory."""

import fcntl
import os
from pathlib import Path

from rookery.domain.errors import StorageUnavailable


class DirectoryLock:
    """Held by the kernel for as long as the process lives, so that a crash leaves nothing to clean up."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._file = -1

    def acquire(self) -> None:
        """Raises StorageUnavailable when another process, or another store of this one, holds it."""
        file = os.open(self._directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            holder = os.pread(file, 32, 0).decode("ascii", "replace").strip()
            os.close(file)
            who = f"process {holder}" if holder else "another process"
            raise StorageUnavailable(
                f"The data in {self._directory} is in use by {who}; stop that hub (Ctrl-C, or "
                f"`kill {holder or '<pid>'}`), or choose another directory with --data.",
                holder=holder,
                place=str(self._directory),
            ) from exc
        except BaseException:
            os.close(file)
            raise
        os.fchmod(file, 0o600)
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        self._file = file

    def release(self) -> None:
        # The file stays: removing it would let two holders lock two different files of one name.
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
