"""Opening, closing, crashing: what was answered is there again."""

import asyncio
from pathlib import Path

import pytest

from rookery.domain.errors import StorageUnavailable
from rookery.domain.messages import Message
from rookery.ports import Store
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.inbox import change, claimed, done, seen
from rookery.testing.stores.laws import replayed, stored
from rookery.testing.stores.messages import DM
from rookery.testing.stores.samples import BEAR, FOX, OWL, contents, journal, posted, registered, shouted


class LifecycleContract(StoreCase):
    async def test_closing_twice_is_fine(self, store: Store) -> None:
        await store.write(posted)
        await store.close()
        await store.close()

    async def test_a_reopened_store_holds_all_that_was_answered(self, store: Store, directory: Path) -> None:
        await store.write(lambda tx: registered(tx, FOX, OWL))
        for move in (seen, claimed, done):
            await change(store, await store.write(posted), move)
        await store.write(lambda tx: shouted(tx, "everybody", (OWL,)))
        before, entries = await store.read(stored), await store.read(journal)
        await self.crash(store)
        for _ in range(2):  # after a crash, then after a farewell
            async with self.opened(directory) as again:
                assert await again.read(stored) == before
                assert await again.read(journal) == entries

    async def test_what_was_answered_before_a_crash_is_there_and_in_order(
        self, store: Store, directory: Path
    ) -> None:
        tasks = [asyncio.create_task(store.write(lambda tx, n=n: posted(tx, str(n)))) for n in range(300)]
        await tasks[100]
        await self.crash(store)
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        answered = [outcome for outcome in outcomes if isinstance(outcome, Message)]
        async with self.opened(directory) as again:
            kept = await again.read(lambda tx: tx.messages.history(DM, before=None, limit=1000))
            assert list(kept[: len(answered)]) == answered
            assert [message.seq for message in kept] == list(range(1, len(kept) + 1))
            assert contents(kept) == [str(number) for number in range(len(kept))]
            assert (await again.read(replayed)).messages == {message.id: message for message in kept}

    async def test_closing_finishes_the_works_that_wait(self, store: Store, directory: Path) -> None:
        tasks = [asyncio.create_task(store.write(posted)) for _ in range(50)]
        await asyncio.sleep(0)
        await store.close()
        sent = await asyncio.gather(*tasks)
        async with self.opened(directory) as again:
            assert list(await again.read(lambda tx: tx.messages.history(DM, before=None, limit=100))) == sent

    async def test_data_that_a_hub_holds_cannot_be_opened_by_a_second(self, store: Store, directory: Path) -> None:
        second = self.make_store(directory)
        with pytest.raises(StorageUnavailable):
            await second.open()
        message = await store.write(posted)
        assert await store.read(lambda tx: tx.messages.get(message.id)) == message
        await store.close()
        async with self.opened(directory) as third:
            assert await third.read(lambda tx: tx.messages.get(message.id)) == message

    async def test_an_empty_store_can_be_closed_and_reopened(self, store: Store, directory: Path) -> None:
        await store.close()
        async with self.opened(directory) as again:
            assert await again.read(lambda tx: (tx.journal.end(), list(tx.agents.all()))) == (0, [])

    async def test_two_stores_over_two_directories_know_nothing_of_each_other(
        self, store: Store, tmp_path: Path
    ) -> None:
        other = tmp_path / "other"
        other.mkdir()
        await store.write(posted)
        async with self.opened(other) as stranger:
            assert await stranger.read(lambda tx: tx.journal.end()) == 0

    async def test_the_report_says_where_the_store_stands(self, store: Store, directory: Path) -> None:
        await store.write(lambda tx: registered(tx, FOX))
        await store.write(posted)
        await store.write(lambda tx: shouted(tx, "all", (OWL, BEAR)))
        report = store.report()
        assert report.kind
        assert str(directory) in report.place
        assert report.position == await store.read(lambda tx: tx.journal.end())
        assert (report.messages, report.waiting, report.full) == (2, 0, False)
        assert report.bytes > 0
        assert report.commits >= 1

    async def test_rebuilding_a_sound_store_changes_nothing(self, store: Store) -> None:
        await store.write(lambda tx: registered(tx, FOX, OWL))
        for move in (seen, claimed, done):
            await change(store, await store.write(lambda tx: posted(tx, "findable")), move)
        before, entries = await store.read(stored), await store.read(journal)
        counts = await store.read(lambda tx: (tx.deliveries.stats(OWL), tx.deliveries.queue_stats()))
        progress: list[str] = []
        report = await store.rebuild(progress.append)
        assert (report.messages, list(report.damaged)) == (3, [])
        assert await store.read(stored) == before
        assert await store.read(journal) == entries
        assert await store.read(lambda tx: (tx.deliveries.stats(OWL), tx.deliveries.queue_stats())) == counts
        found = await store.read(lambda tx: tx.messages.search("find", party=None, limit=9))
        assert contents(found) == ["findable"] * 3
        assert (await store.write(posted)).seq == 4
