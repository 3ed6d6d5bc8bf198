"""Small real disks, to fill them up or to make them read-only. Mounting one takes root."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MEGABYTE = 1 << 20


@pytest.fixture
def disk(tmp_path: Path) -> Iterator["Disk"]:
    """An empty disk of 80 MB, gone after the test."""
    if os.geteuid() != 0:
        if os.environ.get("CI") == "true":
            pytest.fail("a disk can be mounted by root alone, and CI must run these tests as root")
        pytest.skip("a disk can be mounted by root alone")
    with mounted(tmp_path / "disk", megabytes=80) as disk:
        yield disk


class Disk:
    def __init__(self, place: Path) -> None:
        self.place = place

    @property
    def free(self) -> int:
        stats = os.statvfs(self.place)
        return stats.f_bavail * stats.f_frsize

    def make_read_only(self) -> None:
        _run("mount", "-o", "remount,ro", self.place)


@contextmanager
def mounted(place: Path, *, megabytes: int) -> Iterator[Disk]:
    place.mkdir()
    _run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "rookery-test", place)
    try:
        yield Disk(place)
    finally:
        # Lazily, so that even a file which a failed test still holds open cannot keep the mount.
        _run("umount", "-l", place)


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, capture_output=True)
