"""What the tests of the stores share."""

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from rookery.domain.messages import Message
from rookery.ports import Store, Transaction
from rookery.stores.maildir import MaildirStore
from rookery.stores.sqlite import SqliteStore
from rookery.testing.stores.samples import FOX, OWL, posted, registered

KINDS: dict[str, Callable[[Path], Store]] = {"sqlite": SqliteStore, "maildir": MaildirStore}

both_kinds = pytest.mark.parametrize("make_store", KINDS.values(), ids=KINDS.keys())


@asynccontextmanager
async def opened(store: Store) -> AsyncGenerator[Store]:
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def peopled(store: Store) -> AsyncGenerator[Store]:
    """Open, with a fox and an owl."""
    async with opened(store):
        await store.write(lambda tx: registered(tx, FOX, OWL))
        yield store


def sending(content: str, **options: str) -> Callable[[Transaction], Message]:
    return lambda tx: posted(tx, content, **options)  # pyright: ignore[reportArgumentType]


@contextmanager
def small_disk(directory: Path, megabytes: int) -> Iterator[Path]:
    """A real file system of that size. Skips, visibly, where one cannot be mounted; on CI that is a failure."""
    directory.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", str(directory)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        reason = f"no small file system can be mounted here: {mounted.stderr.strip()}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    try:
        yield directory
    finally:
        subprocess.run(["umount", "-l", str(directory)], check=True)


def make_read_only(disk: Path) -> None:
    """For everybody, root included, whom permissions do not stop."""
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


def python(program: str, *arguments: object) -> subprocess.Popen[str]:
    """A program of its own, which prints what it has to say."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def copied(directory: Path, name: str) -> Path:
    """A copy of the directory beside it, as a backup or a power cut would have it."""
    target = directory.with_name(name)
    shutil.copytree(directory, target)
    return target
