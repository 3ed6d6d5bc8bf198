"""What opening a store does to its directory, and when it refuses."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from rookery.domain.errors import StorageDamaged, StorageUnavailable
from rookery.ports import Store
from rookery.stores.sqlite import SqliteStore
from rookery.testing.stores.samples import OWL
from tests.stores.support import both_kinds, make_read_only, opened, peopled, python, sending, small_disk

HOLDER = """
import asyncio, sys
from pathlib import Path
from rookery.stores.{kind} import {name}

async def main():
    store = {name}(Path(sys.argv[1]))
    await store.open()
    print("open", flush=True)
    await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main())
"""


@both_kinds
async def test_a_directory_held_by_another_process_is_refused_by_its_number(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    name = getattr(make_store, "__name__", "")
    holder = python(HOLDER.format(kind=name.removesuffix("Store").lower(), name=name), tmp_path / "data")
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StorageUnavailable) as refusal:
            await make_store(tmp_path / "data").open()
        assert f"process {holder.pid}" in refusal.value.message
        assert str(tmp_path / "data") in refusal.value.message
    finally:
        holder.kill()
        holder.communicate()
    async with opened(make_store(tmp_path / "data")) as store:
        assert store.report().position == 0


@both_kinds
async def test_everything_is_for_its_owner_alone_whatever_the_umask(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    before = os.umask(0)
    try:
        async with peopled(make_store(tmp_path / "data")) as store:
            await store.write(sending("hello"))
            modes = {
                path.relative_to(tmp_path): stat.S_IMODE(path.stat().st_mode)
                for path in [tmp_path / "data", *(tmp_path / "data").rglob("*")]
                if path.exists()
            }
    finally:
        os.umask(before)
    assert modes == {path: 0o700 if (tmp_path / path).is_dir() else 0o600 for path in modes}


@both_kinds
async def test_a_file_in_the_way_of_the_directory_is_named(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    (tmp_path / "data").write_text("I was here first")
    with pytest.raises(StorageUnavailable) as refusal:
        await make_store(tmp_path / "data").open()
    assert str(tmp_path / "data") in refusal.value.message
    assert (tmp_path / "data").read_text() == "I was here first"


@both_kinds
async def test_a_read_only_disk_is_refused(tmp_path: Path, make_store: Callable[[Path], Store]) -> None:
    with small_disk(tmp_path / "disk", 56) as disk:
        async with peopled(make_store(disk / "data")):
            pass
        make_read_only(disk)
        with pytest.raises(StorageUnavailable) as refusal:
            await make_store(disk / "data").open()
        assert "--data" in refusal.value.message


async def test_what_is_no_database_is_damage(tmp_path: Path) -> None:
    (tmp_path / "rookery.db").write_bytes(b"not a database, though long enough to be looked at" * 100)
    with pytest.raises(StorageDamaged):
        await SqliteStore(tmp_path).open()


@both_kinds
async def test_a_store_that_failed_to_open_can_be_opened_later(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    (tmp_path / "data").write_text("in the way")
    store = make_store(tmp_path / "data")
    with pytest.raises(StorageUnavailable):
        await store.open()
    await store.close()
    (tmp_path / "data").unlink()
    async with peopled(store):
        assert await store.read(lambda tx: tx.agents.get(OWL)) is not None


@both_kinds
async def test_a_closed_store_says_so(tmp_path: Path, make_store: Callable[[Path], Store]) -> None:
    store = make_store(tmp_path / "data")
    async with opened(store):
        pass
    with pytest.raises(StorageUnavailable, match="not open"):
        await store.write(sending("too late"))
    with pytest.raises(StorageUnavailable, match="not open"):
        await store.read(lambda tx: tx.journal.end())
