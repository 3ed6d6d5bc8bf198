"""Export and load: a store becomes lines, and the lines become an equal store."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from rookery.domain.approvals import Held
from rookery.domain.pacing import Pace
from rookery.domain.permissions import Rule
from rookery.domain.traces import Trace
from rookery.ports import InboxQuery, Sent, Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.inbox import change, claimed, cleared, done
from rookery.testing.stores.laws import replayed, stored
from rookery.testing.stores.messages import ODD_CONTENTS
from rookery.testing.stores.samples import (
    BEAR,
    FOX,
    NOW,
    OWL,
    Mishap,
    a_channel,
    a_task,
    an_approval,
    asked,
    contents,
    founded,
    handed_over,
    held_back,
    journal,
    posted,
    registered,
    requested,
    ruled,
    said,
    shouted,
)
from rookery.testing.stores.tokens import OTHER, TOKEN

Records = list[dict[str, object]]


async def exported(store: Store) -> Records:
    return await asyncio.to_thread(lambda: list(store.export()))


async def loaded(store: Store, records: Iterable[dict[str, object]]) -> int:
    return await asyncio.to_thread(store.load, records)


def everything(tx: Transaction) -> tuple[object, ...]:
    return (
        stored(tx), list(tx.agents.all()), list(journal(tx)), tx.journal.end(),
        [tx.agents.born_at(agent_id) for agent_id in (FOX, OWL, BEAR)],
        tx.tokens.by_digest(TOKEN.digest), tx.tokens.by_digest(OTHER.digest), tx.pacing.get(FOX, OWL),
        tx.messages.sent_under(FOX, "key"), tx.deliveries.queue_stats(),
        list(tx.channels.all()), list(tx.held.of("a-1")), tx.traces.get("m-0"),
        [tx.deliveries.stats(agent_id) for agent_id in (FOX, OWL, BEAR)],
        list(tx.deliveries.inbox(InboxQuery(recipient=OWL, order="urgency"))),
    )  # fmt: skip


class ExportContract(StoreCase):
    @pytest.fixture
    async def full(self, store: Store) -> Store:
        """A store that holds something of everything, pruned numbers included."""

        def work(tx: Transaction) -> None:
            registered(tx, FOX, OWL, BEAR)
            tx.tokens.add(TOKEN)
            tx.tokens.add(OTHER)
            tx.tokens.revoke(OTHER.id, NOW + 1)
            tx.pacing.put(FOX, OWL, Pace(2, (NOW, NOW + 1)))
            for text in ODD_CONTENTS:
                posted(tx, text)
            shouted(tx, "everybody", (OWL, BEAR))
            for channel in (a_channel("ops", topic="é"), a_channel("build", FOX, BEAR)):
                founded(tx, channel)
                said(tx, "@bear, nobody else", channel, (BEAR,))
                said(tx, "nobody", channel)
            question = posted(tx, "question", to=BEAR, priority="high", expires_at=NOW + 10)
            posted(tx, "answer", sender=BEAR, to=FOX, parent=question)
            tx.messages.remember(FOX, "key", Sent(message_id=question.id, digest=b"\0\1"))
            tx.agents.touch(OWL, NOW + 77)
            asked(tx, to=BEAR)
            handed_over(tx, a_task(1), a_task(2, parent="task-1", not_before=NOW + 9))
            ruled(tx, Rule(agent=FOX, target=OWL, permission="deny"))
            requested(tx, an_approval("a-1", key="é"))
            held_back(tx, Held(message_id="m-0", approval="a-1", sender=FOX, to=OWL, content="may I?"))
            tx.traces.put(Trace(id="m-0", messages=3))

        await store.write(work)
        for move in (done, claimed, cleared):
            await change(store, await store.write(lambda tx: posted(tx, priority="urgent")), move)
        finished = await store.write(lambda tx: posted(tx, at=NOW - 9))
        await change(store, finished, done)
        await store.write(lambda tx: tx.prune(before=NOW, folders=("done",)))
        return store

    @pytest.fixture
    async def empty(self, tmp_path: Path) -> AsyncIterator[Store]:
        directory = tmp_path / "second"
        directory.mkdir()
        async with self.opened(directory) as store:
            yield store

    async def test_records_are_ready_for_json_and_say_what_they_are(self, full: Store) -> None:
        records = await exported(full)
        assert json.loads(json.dumps(records)) == records
        assert all(isinstance(record["record"], str) for record in records)

    async def test_a_loaded_store_equals_the_exported_one(self, full: Store, empty: Store) -> None:
        records = json.loads(json.dumps(await exported(full)))
        assert await loaded(empty, iter(records)) >= len(records) - 1  # a heading may not count
        assert await empty.read(everything) == await full.read(everything)
        assert await exported(empty) == records

    async def test_a_loaded_store_goes_on_where_the_other_stood(self, full: Store, empty: Store) -> None:
        end = await full.read(lambda tx: tx.journal.end())
        await loaded(empty, await exported(full))
        assert (await empty.write(posted)).seq == (await full.write(posted)).seq
        [sent, _] = await empty.read(lambda tx: tx.journal.after(end, limit=10))
        assert sent.position > end
        assert contents(await empty.read(lambda tx: tx.messages.search("quest", party=BEAR, limit=5))) == [
            "question"
        ]

    async def test_the_law_of_the_journal_holds_in_a_loaded_store(self, full: Store, empty: Store) -> None:
        await empty.write(lambda _: None)
        await full.write(lambda tx: registered(tx, "bold-crow"))
        await loaded(empty, await exported(full))
        assert (await empty.read(replayed)).messages == (await empty.read(stored)).messages
        assert (await empty.read(replayed)).agents == (await empty.read(stored)).agents

    async def test_what_was_loaded_outlives_a_crash(self, full: Store, tmp_path: Path) -> None:
        directory = tmp_path / "third"
        directory.mkdir()
        copy = self.make_store(directory)
        await copy.open()
        await loaded(copy, await exported(full))
        await self.crash(copy)
        async with self.opened(directory) as again:
            assert await again.read(everything) == await full.read(everything)

    async def test_a_load_that_breaks_off_leaves_the_store_empty(self, full: Store, empty: Store) -> None:
        records = await exported(full)

        def torn() -> Iterable[dict[str, object]]:
            yield from records[:-1]
            raise Mishap("the file ended in the middle")

        with pytest.raises(Mishap, match="in the middle"):
            await loaded(empty, torn())
        assert await empty.read(lambda tx: (tx.journal.end(), list(tx.agents.all()))) == (0, [])
        assert empty.report().messages == 0
        await loaded(empty, records)
        assert await exported(empty) == records

    async def test_a_record_of_an_unknown_kind_is_refused_and_nothing_loaded(
        self, full: Store, empty: Store
    ) -> None:
        with pytest.raises(Exception, match=r"\w"):
            await loaded(empty, [*await exported(full), {"record": "no such thing"}])
        assert await empty.read(lambda tx: (tx.journal.end(), list(tx.agents.all()))) == (0, [])

    async def test_only_an_empty_store_can_be_filled(self, full: Store) -> None:
        before = await full.read(everything)
        with pytest.raises(Exception, match=r"\w"):
            await loaded(full, await exported(full))
        assert await full.read(everything) == before

    async def test_an_export_is_one_snapshot(self, full: Store) -> None:
        whole = await exported(full)
        records = full.export()
        first = await asyncio.to_thread(next, records)
        await full.write(lambda tx: posted(tx, "after the snapshot"))
        rest = await asyncio.to_thread(list, records)
        assert [first, *rest] == whole
