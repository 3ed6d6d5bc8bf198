"""Asks: found by who waits and for whom, as long as they are open; gone with their question."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rookery.domain.asks import Ask
from rookery.ports import Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.inbox import change, done
from rookery.testing.stores.laws import replayed, stored
from rookery.testing.stores.pruning import prune
from rookery.testing.stores.samples import BEAR, FOX, NOW, OWL, ask_ended, asked, journal, posted, registered

ENDS: dict[str, Callable[[Ask], Ask]] = {
    "answered": lambda ask: ask.answered(NOW + 1, "m-2"),
    "failed": lambda ask: ask.failed(NOW + 1, "no idea"),
    "timed out": lambda ask: ask.timed_out(NOW + 1),
    "abandoned": lambda ask: ask.abandoned(NOW + 1),
}


class AskContract(StoreCase):
    async def test_asks_are_open_to_their_target_and_by_their_asker(self, store: Store, directory: Path) -> None:
        pairs = [(FOX, OWL), (BEAR, OWL), (OWL, FOX), (FOX, OWL), (FOX, "operator")]
        asks = [await store.write(lambda tx, by=by, to=to: asked(tx, by=by, to=to)) for by, to in pairs]

        def look(tx: Transaction) -> list[list[Ask]]:
            to = [list(tx.asks.open_to(party)) for party in (OWL, FOX, "operator", BEAR, "")]
            return to + [list(tx.asks.open_by(party)) for party in (FOX, BEAR, OWL, "operator")]

        first, second, third, fourth, fifth = asks
        expected = [
            [first, second, fourth],
            [third],
            [fifth],
            [],
            [],
            [first, fourth, fifth],
            [second],
            [third],
            [],
        ]
        assert await store.read(look) == expected
        assert await store.write(look) == expected
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(look) == expected

    @pytest.mark.parametrize("end", ENDS.values(), ids=list(ENDS))
    async def test_an_ask_that_has_ended_is_kept_and_no_longer_open(
        self, store: Store, end: Callable[[Ask], Ask]
    ) -> None:
        await store.write(lambda tx: registered(tx, FOX, OWL))
        ask, other = await store.write(asked), await store.write(asked)

        def look(tx: Transaction) -> list[Sequence[Ask]]:
            return [
                list(found)
                for found in (tx.asks.open_to(OWL), tx.asks.open_by(FOX), tx.asks.overdue(NOW + 90_000, 9))
            ]

        def work(tx: Transaction) -> list[Sequence[Ask]]:
            ask_ended(tx, end(ask))
            return look(tx)

        assert await store.read(look) == [[ask, other]] * 3
        assert await store.write(work) == [[other]] * 3
        assert await store.read(look) == [[other]] * 3
        assert await store.read(lambda tx: tx.asks.get(ask.message_id)) == end(ask)
        assert list(await store.read(lambda tx: tx.asks.all())) == [end(ask), other]
        assert await store.read(replayed) == await store.read(stored)

    async def test_asks_are_overdue_from_their_deadline_on_the_earliest_first(self, store: Store) -> None:
        deadlines = (NOW + 30, NOW + 10, NOW + 20, NOW + 10)
        asks = [await store.write(lambda tx, d=deadline: asked(tx, deadline=d)) for deadline in deadlines]
        for now, limit, expected in (
            (NOW + 9, 9, []),
            (NOW + 10, 9, [1, 3]),
            (NOW + 10, 1, [1]),
            (NOW + 29, 9, [1, 3, 2]),
            (NOW + 99, 9, [1, 3, 2, 0]),
            (NOW + 99, 3, [1, 3, 2]),
            (NOW + 99, 0, []),
        ):
            found = await store.read(lambda tx, now=now, limit=limit: tx.asks.overdue(now, limit))
            assert list(found) == [asks[number] for number in expected]

    async def test_an_ask_goes_with_its_question_and_its_facts_with_it(
        self, store: Store, directory: Path
    ) -> None:
        await store.write(lambda tx: registered(tx, FOX, OWL))
        gone, kept = await store.write(asked), await store.write(asked)
        await store.write(lambda tx: ask_ended(tx, gone.answered(NOW, "m-2")))
        question = await store.read(lambda tx: tx.messages.get(gone.message_id))
        assert question is not None
        await change(store, question, done)
        assert await prune(store) == 1

        def look(tx: Transaction) -> tuple[object, ...]:
            told = [getattr(entry.fact, "message_id", None) for entry in journal(tx)]
            asks = tx.asks.get(gone.message_id), list(tx.asks.all()), list(tx.asks.open_by(FOX))
            return *asks, told[2:], replayed(tx) == stored(tx)

        expected = (None, [kept], [kept], [kept.message_id] * 3, True)
        assert await store.read(look) == expected
        await store.rebuild(lambda _: None)
        assert await store.read(look) == expected
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(look) == expected

    async def test_an_ask_outlives_its_answer(self, store: Store) -> None:
        ask = await store.write(asked)

        def work(tx: Transaction) -> None:
            answer = posted(tx, "because", sender=OWL, to=FOX)
            ask_ended(tx, ask.answered(NOW, answer.id))
            delivery = tx.deliveries.get(answer.id, FOX)
            assert delivery is not None
            tx.deliveries.save(done(delivery))

        await store.write(work)
        ended = await store.read(lambda tx: tx.asks.get(ask.message_id))
        assert await prune(store) == 1
        await store.rebuild(lambda _: None)
        assert await store.read(lambda tx: tx.asks.get(ask.message_id)) == ended
