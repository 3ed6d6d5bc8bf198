"""One writer: works that come together are committed together, and cost their neighbours nothing."""

import asyncio
from pathlib import Path

import pytest

from rookery.domain.errors import InvalidRequest, Overloaded
from rookery.ports import InboxQuery, Transaction
from rookery.stores.sqlite import SqliteStore
from rookery.testing.stores.samples import OWL, contents, posted
from tests.stores.support import opened, peopled, sending


class Mishap(Exception):
    pass


async def test_works_that_queue_up_share_a_commit(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        before = store.report()
        await asyncio.gather(*(store.write(sending(f"message {number}")) for number in range(500)))
        after = store.report()
        assert after.grouped - before.grouped == 500
        assert after.commits - before.commits < 100
        assert after.waiting == 0


async def test_a_work_that_fails_without_a_change_makes_nobody_run_again(tmp_path: Path) -> None:
    runs: list[str] = []

    def counted(tx: Transaction) -> None:
        runs.append("neighbour")
        posted(tx)

    def only_looks(tx: Transaction) -> None:
        tx.agents.find("nobody")
        raise Mishap

    async with peopled(SqliteStore(tmp_path)) as store:
        end = store.report().position
        results = await asyncio.gather(
            store.write(counted), store.write(only_looks), store.write(counted), return_exceptions=True
        )
        assert [type(result) for result in results] == [type(None), Mishap, type(None)]
        assert runs == ["neighbour", "neighbour"]
        entries = await store.read(lambda tx: tx.journal.after(end, limit=10))
        assert [entry.position for entry in entries] == [end + 1, end + 2, end + 3, end + 4]
        assert store.recent(end) == entries


async def test_a_work_that_fails_after_a_change_makes_its_group_run_again_without_it(tmp_path: Path) -> None:
    first_in_line = asyncio.Event()
    runs: list[str] = []

    def counted(tx: Transaction) -> None:
        runs.append("neighbour")
        posted(tx, f"run {len(runs)}")

    def spoils(tx: Transaction) -> None:
        posted(tx, "never")
        raise Mishap

    async with peopled(SqliteStore(tmp_path)) as store:
        results = await asyncio.gather(
            store.write(lambda _: first_in_line.is_set()),  # occupies the writer until the others have queued
            *(store.write(counted) for _ in range(3)),
            store.write(spoils),
            *(store.write(counted) for _ in range(3)),
            return_exceptions=True,
        )
        assert [isinstance(result, Mishap) for result in results].count(True) == 1
        inbox = await store.read(lambda tx: tx.deliveries.inbox(InboxQuery(recipient=OWL)))
        assert len(inbox) == 6
        assert "never" not in contents(inbox)
        assert [item.message.seq for item in inbox] == [1, 2, 3, 4, 5, 6]


async def test_beyond_the_limit_works_are_refused_at_once(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path, queue_limit=10)) as store:
        waiting = [asyncio.ensure_future(store.write(sending(str(number)))) for number in range(25)]
        results = await asyncio.gather(*waiting, return_exceptions=True)
        refused = [result for result in results if isinstance(result, Overloaded)]
        assert len(refused) == 15
        assert "waiting writes" in refused[0].message
        inbox = await store.read(lambda tx: tx.deliveries.inbox(InboxQuery(recipient=OWL)))
        assert contents(inbox) == [str(number) for number in range(10)]


async def test_a_listener_that_fails_does_not_keep_the_others_from_hearing(tmp_path: Path) -> None:
    heard: list[int] = []

    def fails(_: int) -> None:
        raise Mishap

    store = SqliteStore(tmp_path)
    store.announce_to(fails)
    store.announce_to(heard.append)
    async with peopled(store):
        await store.write(sending("hello"))
    assert heard == [2, 4]


async def test_half_a_character_is_refused_with_a_reason(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        with pytest.raises(InvalidRequest, match="valid Unicode"):
            await store.write(sending("half \ud83d"))
        assert (await store.write(sending("whole 🐦"))).seq == 1


async def test_the_newest_entries_in_memory_are_bounded_by_their_size(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        for _ in range(40):
            await store.write(sending("x" * 1_000_000))
        end = store.report().position
        assert store.recent(end - 20) is not None
        assert store.recent(end - 78) is None


async def test_after_a_checkpoint_and_an_idle_moment_all_is_in_the_file_itself(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path / "data")) as store:
        message = await store.write(sending("hello"))
    assert not (tmp_path / "data" / "rookery.db-wal").exists()
    async with opened(SqliteStore(tmp_path / "data")) as store:
        assert await store.read(lambda tx: tx.messages.get(message.id)) == message
