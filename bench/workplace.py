"""Where the benchmark writes: a directory on a real disk, gone afterwards."""

import os
import platform
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

import rookery

_HOME = Path(".bench")
_IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})


class NotOnDisk(Exception):
    """A directory in memory proves nothing about durability."""


@contextmanager
def workplace() -> Iterator[Path]:
    """A fresh directory under `.bench/` of the current one; removed whatever happens."""
    _HOME.mkdir(exist_ok=True)
    (_HOME / ".gitignore").write_text("*\n")
    _remove_what_was_killed()
    place = Path(tempfile.mkdtemp(prefix=f"run-{os.getpid()}-", dir=_HOME.resolve()))
    try:
        if filesystem(place) in _IN_MEMORY:
            raise NotOnDisk(f"{place} is on {filesystem(place)}; run the benchmark in a directory on a disk.")
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        if [path.name for path in _HOME.iterdir()] == [".gitignore"]:
            shutil.rmtree(_HOME, ignore_errors=True)


def _remove_what_was_killed() -> None:
    """A run that was killed could not clean up; its name tells whose it was."""
    for left in _HOME.glob("run-*"):
        if not psutil.pid_exists(int(left.name.split("-")[1])):
            shutil.rmtree(left, ignore_errors=True)


def filesystem(place: Path) -> str:
    """The type of the filesystem that holds the directory; `unknown` where the system does not tell."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return "unknown"
    best = ("", "unknown")
    for mount in mounts:
        fields, _, rest = mount.partition(" - ")
        point = fields.split()[4].encode().decode("unicode_escape")
        if place.is_relative_to(point) and len(point) >= len(best[0]):
            best = (point, rest.split()[0])
    return best[1]


def surroundings(place: Path) -> str:
    return (
        f"rookery {rookery.__version__} on {os.cpu_count()} CPUs, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}, {platform.system()} {platform.release()}, "
        f"data on {filesystem(place)}"
    )
