"""Reading: beside the writer, at one moment, and changing nothing."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from rookery.domain.deliveries import Delivery
from rookery.domain.events import MessageSent
from rookery.ports import Store, Transaction
from rookery.testing.stores.messages import DM
from rookery.testing.stores.samples import Mishap, journal, posted
from rookery.testing.stores.transactions import CHANGES, FurnishedCase, everything


class ReadingContract(FurnishedCase):
    @pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
    async def test_a_change_inside_a_read_raises(
        self, store: Store, delivery: Delivery, change: Callable[[Transaction, Delivery], object]
    ) -> None:
        before = await store.read(everything)
        with pytest.raises(Exception):  # noqa: B017, PT011 - any will do, so long as it is refused
            await store.read(lambda tx: change(tx, delivery))
        assert await store.read(everything) == before
        await store.write(posted)

    async def test_a_read_sees_every_write_answered_before_it(self, store: Store) -> None:
        for _ in range(50):
            message = await store.write(posted)
            reads = [store.read(lambda tx, m=message.id: tx.messages.get(m)) for _ in range(4)]
            assert await asyncio.gather(*reads) == [message] * 4

    async def test_a_change_and_its_fact_are_never_seen_apart(self, store: Store) -> None:
        def look(tx: Transaction) -> None:
            kept = [message.id for message in tx.messages.history(DM, before=None, limit=1000)]
            told = [entry.fact.message_id for entry in journal(tx) if isinstance(entry.fact, MessageSent)]
            assert kept == told

        async def write(number: int) -> None:
            await store.write(lambda tx: posted(tx, str(number)))

        async def watch() -> None:
            while len(done) < 100:
                await store.read(look)

        done: list[None] = []
        watching = asyncio.create_task(watch())
        for start in range(0, 100, 10):
            done += await asyncio.gather(*(write(start + number) for number in range(10)))
        await watching

    async def test_a_read_stays_at_its_moment_while_others_write(self, store: Store) -> None:
        began, written = threading.Event(), threading.Event()
        await store.write(posted)

        def look(tx: Transaction) -> tuple[int, int]:
            first = len(tx.messages.history(DM, before=None, limit=10))
            began.set()
            written.wait(timeout=2)
            return first, len(tx.messages.history(DM, before=None, limit=10))

        reading = asyncio.create_task(store.read(look))
        await asyncio.to_thread(began.wait, 2)
        await store.write(posted)
        written.set()
        assert await reading == (1, 1)

    async def test_a_read_that_raises_gives_its_error_to_its_caller(self, store: Store) -> None:
        def look(tx: Transaction) -> None:
            tx.journal.end()
            raise Mishap

        with pytest.raises(Mishap):
            await store.read(look)
        assert await store.read(lambda tx: tx.journal.end()) == 0
