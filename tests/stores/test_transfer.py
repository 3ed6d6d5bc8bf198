"""From one store into another, whatever their kinds."""

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from rookery.domain.errors import InvalidRequest
from rookery.domain.events import TokenIssued
from rookery.domain.ids import OPERATOR
from rookery.domain.principals import THE_HUB, Token
from rookery.domain.traces import Trace
from rookery.ports import Sent, Store, Transaction
from rookery.testing.stores.held import FIRST
from rookery.testing.stores.rules import TO_OWL
from rookery.testing.stores.samples import (
    BEAR,
    FOX,
    NOW,
    OWL,
    a_task,
    an_approval,
    asked,
    handed_over,
    held_back,
    posted,
    registered,
    requested,
    ruled,
    shouted,
)
from rookery.testing.stores.traces import attention
from tests.stores.support import KINDS, opened, peopled, sending

PAIRS = list(itertools.permutations(KINDS, 2))


def adopt_operator(digest: bytes) -> Callable[[Transaction], None]:
    def work(tx: Transaction) -> None:
        tx.tokens.add(Token(id=digest.hex()[:8], digest=digest, holder=OPERATOR, created_at=NOW))
        fact = TokenIssued(token_id=digest.hex()[:8], holder=OPERATOR)
        tx.journal.record(fact, at=NOW, by=THE_HUB, audience=())

    return work


def lived_in(tx: Transaction) -> None:
    registered(tx, FOX, OWL, BEAR)
    first = posted(tx, "first", priority="urgent")
    posted(tx, "an answer", sender=OWL, to=FOX, parent=first)
    shouted(tx, "everybody", (OWL, BEAR))
    shouted(tx, "nobody", ())
    posted(tx, "to the operator", to=OPERATOR)
    tx.messages.remember(FOX, "key", Sent(message_id=first.id, digest=b"d" * 16))
    tx.tokens.add(Token(id="of-fox", digest=b"f" * 32, holder=FOX, created_at=NOW))
    asked(tx)
    handed_over(tx, a_task(1))
    ruled(tx, TO_OWL)
    requested(tx, an_approval("a-1"))
    held_back(tx, FIRST)
    tx.traces.put(Trace(id=first.id))
    tx.attention.put_many([attention(OWL, first.id)])
    tx.deliveries.save(tx.deliveries.get(first.id, OWL).claimed(NOW, OWL, "rest"))  # pyright: ignore[reportOptionalMemberAccess]


def without_operator(records: list[dict[str, object]]) -> list[dict[str, object]]:
    return [r for r in records[1:] if not (r["record"] == "token" and r["holder"] == OPERATOR)]


@pytest.mark.parametrize(("old", "new"), PAIRS)
async def test_an_export_of_one_kind_fills_the_other(tmp_path: Path, old: str, new: str) -> None:
    async with opened(KINDS[old](tmp_path / "old")) as source, opened(KINDS[new](tmp_path / "new")) as target:
        await source.write(adopt_operator(b"old" * 8))
        await source.write(lived_in)
        await target.write(adopt_operator(b"new" * 8))
        records = list(source.export())
        assert await asyncio.to_thread(target.load, records) == len(records) - 1

        assert without_operator(list(target.export())) == without_operator(records)
        assert await target.read(lambda tx: tx.tokens.by_digest(b"old" * 8)) is None
        assert await target.read(lambda tx: tx.tokens.by_digest(b"new" * 8)) is not None
        assert target.report().position == source.report().position
        assert target.report().messages == source.report().messages
        assert await target.read(lambda tx: tx.deliveries.queue_stats()) == await source.read(
            lambda tx: tx.deliveries.queue_stats()
        )
        assert target.recent(0) is None
    async with opened(KINDS[new](tmp_path / "new")) as target:
        assert without_operator(list(target.export())) == without_operator(records)


@pytest.fixture
async def records(tmp_path: Path) -> list[dict[str, object]]:
    async with peopled(KINDS["sqlite"](tmp_path / "source")) as store:
        await store.write(sending("hello"))
        return list(store.export())


async def refused(store: Store, records: list[dict[str, object]]) -> str:
    with pytest.raises(InvalidRequest) as refusal:
        await asyncio.to_thread(store.load, records)
    assert store.report().messages == 0
    assert await store.read(lambda tx: list(tx.agents.all())) == []
    return refusal.value.message


async def test_records_of_another_format_are_refused(tmp_path: Path, records: list[dict[str, object]]) -> None:
    async with opened(KINDS["sqlite"](tmp_path / "new")) as store:
        assert "no export" in await refused(store, records[1:])
        assert "no export" in await refused(store, [])
        assert "format 2" in await refused(store, [records[0] | {"version": 2}, *records[1:]])


async def test_an_export_that_was_cut_off_is_refused(tmp_path: Path, records: list[dict[str, object]]) -> None:
    async with opened(KINDS["sqlite"](tmp_path / "new")) as store:
        assert "cut off" in await refused(store, records[:-1])


async def test_a_message_altered_on_its_way_is_refused(tmp_path: Path, records: list[dict[str, object]]) -> None:
    altered = [r | {"content": "pay the fox"} if r["record"] == "message" else r for r in records]
    async with opened(KINDS["sqlite"](tmp_path / "new")) as store:
        assert "digest" in await refused(store, altered)


async def test_a_used_store_keeps_what_it_has(tmp_path: Path, records: list[dict[str, object]]) -> None:
    async with peopled(KINDS["sqlite"](tmp_path / "new")) as store:
        before = list(store.export())
        with pytest.raises(InvalidRequest, match="holds data already"):
            await asyncio.to_thread(store.load, records)
        assert list(store.export()) == before


async def test_a_loaded_store_that_had_more_facts_of_its_own_never_goes_back(tmp_path: Path) -> None:
    """Positions that were announced once must not be given again."""
    async with opened(KINDS["sqlite"](tmp_path / "old")) as source:
        empty = list(source.export())
    async with opened(KINDS["sqlite"](tmp_path / "new")) as target:
        await target.write(adopt_operator(b"one" * 8))
        await target.write(adopt_operator(b"two" * 8))
        await asyncio.to_thread(target.load, empty)
        assert target.report().position == 2
    async with opened(KINDS["sqlite"](tmp_path / "new")) as target:
        await target.write(lambda tx: registered(tx, FOX))
        assert target.report().position == 3
