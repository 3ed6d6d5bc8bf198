"""Traces and attention: what every send by an agent looks up, and changes."""

import asyncio
from dataclasses import replace
from pathlib import Path

from rookery.domain.traces import Attention, Trace
from rookery.ports import Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.samples import FOX, NOW, OWL, Mishap, posted

MANY = 1_000
"""As many as are handed off at once."""


def attention(agent: str, message_id: str = "m-1") -> Attention:
    return Attention(agent=agent, message_id=message_id, conversation="broadcast", trace="m-1", hops=0, task=None,
                     at=NOW)  # fmt: skip


def grown(tx: Transaction) -> int:
    trace = (tx.traces.get("m-1") or Trace(id="m-1", messages=0)).grown(1)
    tx.traces.put(trace)
    posted(tx, "another")
    return trace.messages


def failing(tx: Transaction) -> int:
    grown(tx)
    tx.attention.put_many([attention(FOX, "never")])
    raise Mishap


class TraceContract(StoreCase):
    async def test_each_message_counts_once_however_often_a_work_is_run(
        self, store: Store, directory: Path
    ) -> None:
        works = [failing if number % 5 == 0 else grown for number in range(50)]
        outcomes = await asyncio.gather(*(store.write(work) for work in works), return_exceptions=True)
        assert [outcome for outcome in outcomes if isinstance(outcome, int)] == list(range(1, 41))

        def look(tx: Transaction) -> tuple[Trace | None, Attention | None]:
            return tx.traces.get("m-1"), tx.attention.of(FOX)

        assert await store.read(look) == (Trace(id="m-1", messages=40, hops=1), None)
        assert await store.write(look) == (Trace(id="m-1", messages=40, hops=1), None)
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.write(look) == (Trace(id="m-1", messages=40, hops=1), None)

    async def test_a_work_finds_what_the_one_before_it_noted(self, store: Store) -> None:
        def noting(tx: Transaction) -> Attention | None:
            tx.attention.put_many([attention(FOX, "first"), attention(OWL), attention(FOX, "second")])
            return tx.attention.of(FOX)

        noted, found = await asyncio.gather(store.write(noting), store.write(lambda tx: tx.attention.of(FOX)))
        assert noted == found == await store.read(lambda tx: tx.attention.of(FOX)) == attention(FOX, "second")

    async def test_many_are_noted_at_once_each_for_its_agent(self, store: Store, directory: Path) -> None:
        given = [attention(f"agent-{number}", f"m-{number}") for number in range(MANY)]
        later = [replace(each, message_id="later") for each in given[::2]]

        def look(tx: Transaction) -> list[Attention | None]:
            return [tx.attention.of(each.agent) for each in given]

        expected = [replace(each, message_id="later") if n % 2 == 0 else each for n, each in enumerate(given)]
        await store.write(lambda tx: tx.attention.put_many(given))
        await store.write(lambda tx: tx.attention.put_many(later))
        assert await store.read(look) == expected
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(look) == expected

    async def test_noting_nothing_changes_nothing(self, store: Store) -> None:
        before = store.report().commits
        await store.write(lambda tx: tx.attention.put_many([]))
        assert await store.read(lambda tx: tx.attention.of(FOX)) is None
        assert store.report().commits == before
