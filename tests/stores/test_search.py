"""Search does not tax the sends: the index follows behind, and what it lacks is looked through."""

import asyncio
import sqlite3
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.ports import Store, Transaction
from rookery.stores.sqlite import SqliteStore
from rookery.stores.tables import search
from rookery.stores.tables.transaction import TableTransaction
from rookery.testing.stores.samples import FOX, OWL, contents, posted, registered
from tests.stores.support import opened, peopled, sending

DEADLINE = 10.0


async def found(store: Store, text: str) -> list[str]:
    return contents(await store.read(lambda tx: tx.messages.search(text, party=None, limit=100)))


async def until_indexed(store: Store, count: int) -> None:
    def indexed(tx: Transaction) -> int:
        return search.last_indexed(cast(TableTransaction, tx).connection)

    async with asyncio.timeout(DEADLINE):
        while await store.read(indexed) < count:
            pass


async def test_the_same_is_found_before_and_after_it_is_indexed(tmp_path: Path) -> None:
    texts = ["Größe zählt", "naïve café", "snake_case_name", "C++ and C#", "日本語 text", "e=mc²", "don't"]
    queries = ["grosse", "größ", "GROSSE", "cafe", "café", "case", "snake_c", "c++", "日本", "mc", "don't", "don"]
    async with peopled(SqliteStore(tmp_path)) as store:
        await store.write(lambda tx: [posted(tx, text) for text in texts])
        before = {query: sorted(await found(store, query)) for query in queries}
        await until_indexed(store, len(texts))
        after = {query: sorted(await found(store, query)) for query in queries}
        assert before == after
        assert before["cafe"] == before["café"] == ["naïve café"]
        assert before["case"] == ["snake_case_name"]


async def test_what_is_half_indexed_is_found_once(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        await store.write(sending("an early heron"))
        await until_indexed(store, 1)
        await store.write(sending("a late heron"))
        assert sorted(await found(store, "heron")) == ["a late heron", "an early heron"]


async def test_a_pruned_message_is_found_no_more_and_its_place_can_be_taken(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        await store.write(sending("an old heron"))
        await until_indexed(store, 1)
        await store.write(
            lambda tx: (
                tx.deliveries.save_many([each.cleared(5) for each in tx.deliveries.uncleared(OWL, None)]),
                tx.prune(before=2**62, folders=()),
            )
        )
        assert await found(store, "heron") == []
        await store.write(sending("a new heron"))
        assert await found(store, "heron") == ["a new heron"]
        await until_indexed(store, 1)
        assert await found(store, "heron") == ["a new heron"]
        assert await found(store, "old") == []


async def test_a_rebuild_makes_the_index_anew(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        await store.write(sending("a heron"))
        await until_indexed(store, 1)
    with sqlite3.connect(tmp_path / "rookery.db") as connection:
        connection.execute("INSERT INTO search (search) VALUES ('delete-all')")
    connection.close()
    async with opened(SqliteStore(tmp_path)) as store:
        assert await found(store, "heron") == []
        await store.rebuild(lambda _: None)
        assert await found(store, "heron") == ["a heron"]


@given(text=st.text(max_size=60))
def test_no_text_is_a_syntax_error(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE search USING fts5 (content)")
    expression = search.match_expression(text)
    if expression:
        connection.execute("SELECT rowid FROM search WHERE search MATCH ?", (expression,)).fetchall()
    connection.close()


@pytest.mark.parametrize(
    "text", ['"', "*", "a AND", "NEAR(", "content:x", "-x", "^a", "a" * 10_000, "{a}", "a OR OR b", "\0", "'"]
)
async def test_the_words_of_the_query_language_are_plain_words(tmp_path: Path, text: str) -> None:
    async with opened(SqliteStore(tmp_path)) as store:
        await store.write(lambda tx: registered(tx, FOX, OWL))
        await store.write(sending("nothing of the kind"))
        assert await found(store, text) == []
