"""Data that an older version wrote is taken over as it is."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rookery.domain.messages import Message
from rookery.ports import Store, Transaction
from rookery.stores.maildir import MaildirStore
from rookery.stores.maildir.segments import Segments
from rookery.stores.sqlite import SqliteStore
from rookery.stores.tables.connection import open_writer
from rookery.stores.tables.migrations import steps
from rookery.testing.stores.export import exported, loaded
from rookery.testing.stores.inbox import change, done
from rookery.testing.stores.laws import replayed, stored
from rookery.testing.stores.pruning import prune
from rookery.testing.stores.samples import FOX, OWL, an_agent, asked, contents, posted, registered, shouted
from tests.stores.support import both_kinds, opened

LAST_BEFORE_CONTACT = 4
NEWER_FIELDS = {"message": {"trace", "hops", "task"}, "agent": {"sleeping_until"}}


def lived_in(tx: Transaction) -> list[Message]:
    registered(tx, an_agent(FOX), an_agent(OWL))
    first = posted(tx, "findable words, and many of them " + "é" * 100_000, priority="urgent")
    second = posted(tx, "findable, too", sender=OWL, to=FOX, parent=first)
    return [first, second, shouted(tx, "findable by everybody", (OWL,)), posted(tx, "to be pruned")]


async def populated(store: Store) -> list[Message]:
    """Messages with a gap between them; the words of some are in the index, those of others not yet."""
    *kept, gone = await store.write(lived_in)
    await change(store, gone, done)
    await store.write(lambda tx: posted(tx, "after the gap"))
    assert await prune(store) == 1
    await store.rebuild(lambda _: None)
    return [*kept, await store.write(lambda tx: posted(tx, "findable at the end"))]


def set_back(file: Path, version: int) -> None:
    """Make the closed database what that version would have written: its schema, with the same rows."""
    newer = file.rename(file.with_name("newer.db"))
    old = open_writer(file, synchronous="FULL")
    for _, sql in steps()[:version]:
        old.executescript(sql)
    old.execute("ATTACH ? AS newer", (str(newer),))
    tables = old.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search%'")
    for (table,) in tables.fetchall():
        columns = ", ".join(name for (name,) in old.execute(f"SELECT name FROM pragma_table_info('{table}')"))
        old.execute(f"DELETE FROM main.{table}")
        old.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newer.{table}")
    old.execute(
        "INSERT INTO search (rowid, content) SELECT rid, content FROM messages"
        " WHERE rid <= (SELECT value FROM state WHERE name = 'indexed')"
    )
    old.execute(f"PRAGMA user_version = {version}")
    old.execute("DETACH newer")
    old.close()
    newer.unlink()


def file_of(store: Store) -> Path:
    assert isinstance(store, SqliteStore | MaildirStore)
    return store.file


@both_kinds
async def test_what_an_older_version_wrote_is_read_searched_and_exported(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    async with opened(make_store(tmp_path / "data")) as store:
        messages = await populated(store)
        before = await exported(store)
    set_back(file_of(store), LAST_BEFORE_CONTACT)
    async with opened(make_store(tmp_path / "data")) as store:
        assert await store.read(lambda tx: [tx.messages.get(each.id) for each in messages]) == messages
        found = await store.read(lambda tx: tx.messages.search("findable", party=None, limit=9))
        assert set(contents(found)) == {message.content for message in messages}
        assert await exported(store) == before
        assert await store.read(lambda tx: stored(tx) == replayed(tx))
        assert list((await store.rebuild(lambda _: None)).damaged) == []


@both_kinds
async def test_life_goes_on_where_an_older_version_stopped(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    async with opened(make_store(tmp_path / "data")) as store:
        first, *_ = await populated(store)
    set_back(file_of(store), LAST_BEFORE_CONTACT)
    async with opened(make_store(tmp_path / "data")) as store:
        sleeping = replace(an_agent(OWL), status="sleeping", sleeping_until=5)
        await store.write(lambda tx: tx.agents.update(sleeping))
        assert (await store.write(lambda tx: posted(tx, "findable as well"))).seq == 6
        await store.write(asked)
        await change(store, first, done)
        assert await prune(store) == 1
        found = await store.read(lambda tx: tx.messages.search("findable", party=None, limit=9))
        assert first.id not in {message.id for message in found}
        assert len(found) == 4
    async with opened(make_store(tmp_path / "data")) as store:
        assert await store.read(lambda tx: tx.agents.get(OWL)) == sleeping
        assert len(await store.read(lambda tx: tx.asks.all())) == 1


def older(record: dict[str, object]) -> dict[str, object]:
    newer = NEWER_FIELDS.get(str(record["record"]), set())
    return {name: value for name, value in record.items() if name not in newer}


@both_kinds
async def test_an_export_of_an_older_version_is_loaded(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    async with opened(make_store(tmp_path / "old")) as source:
        await populated(source)
        records = await exported(source)
    assert [older(record) for record in records] != records
    async with opened(make_store(tmp_path / "new")) as store:
        await loaded(store, [older(record) for record in records])
        assert await exported(store) == records


async def test_letters_and_lines_of_an_older_version_make_the_same_index(tmp_path: Path) -> None:
    async with opened(MaildirStore(tmp_path / "data")) as store:
        await populated(store)
        before = await exported(store)
    for file in (tmp_path / "data" / "inbox").rglob("*.json"):
        letter = json.loads(file.read_text())
        assert letter.keys() >= NEWER_FIELDS["message"]
        file.write_text(json.dumps({n: v for n, v in letter.items() if n not in NEWER_FIELDS["message"]}))
    journal = tmp_path / "data" / "journal"
    lines = [line for _, line in Segments(journal).lines(None)]
    for file in journal.iterdir():
        file.unlink()
    rewritten = Segments(journal)
    for line in lines:
        rewritten.append(line.position, [older(record) for record in line.records])
    rewritten.close()
    for file in (tmp_path / "data").glob("index.db*"):
        file.unlink()
    async with opened(MaildirStore(tmp_path / "data")) as store:
        assert await exported(store) == before


async def test_an_older_index_still_helps_where_a_file_is_damaged(tmp_path: Path) -> None:
    async with opened(MaildirStore(tmp_path / "data")) as store:
        message, *_ = await populated(store)
    set_back(file_of(store), LAST_BEFORE_CONTACT)
    (file,) = (tmp_path / "data" / "inbox" / OWL / "new").glob(f"{message.id}.json")
    file.write_text("not what was written")
    report = await MaildirStore(tmp_path / "data").rebuild(lambda _: None)
    assert report.damaged == [message.id]
    async with opened(MaildirStore(tmp_path / "data")) as store:
        assert await store.read(lambda tx: tx.messages.get(message.id)) == message
