"""Pruning: what is finished goes without a trace, what is not stays, and nothing is ever numbered twice."""

from pathlib import Path

from rookery.domain.events import MessagesCleared, MessageSent
from rookery.domain.messages import Message
from rookery.ports import InboxStats, Sent, Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.inbox import change, claimed, cleared, dead, done
from rookery.testing.stores.laws import replayed, stored
from rookery.testing.stores.messages import DM
from rookery.testing.stores.samples import (
    BEAR,
    BY_FOX,
    FOX,
    NOW,
    OWL,
    contents,
    journal,
    posted,
    registered,
    shouted,
)


async def prune(store: Store, before: int = NOW + 1_000) -> int:
    return await store.write(lambda tx: tx.prune(before=before, folders=("done", "dead")), frees=True)


async def history(store: Store) -> list[Message]:
    return list(await store.read(lambda tx: tx.messages.history(DM, before=None, limit=100)))


class PruningContract(StoreCase):
    async def test_a_pruned_message_is_gone_with_its_deliveries_key_and_facts(self, store: Store) -> None:
        def work(tx: Transaction) -> Message:
            message = posted(tx, "finished")
            tx.messages.remember(FOX, "key", Sent(message_id=message.id, digest=b"d"))
            return message

        message = await store.write(work)
        kept = await store.write(lambda tx: posted(tx, "open"))
        await change(store, message, done)
        assert await prune(store) == 1
        assert await store.read(lambda tx: tx.messages.get(message.id)) is None
        assert list(await store.read(lambda tx: tx.deliveries.of_message(message.id))) == []
        assert await store.read(lambda tx: tx.deliveries.get(message.id, OWL)) is None
        assert await store.read(lambda tx: tx.messages.sent_under(FOX, "key")) is None
        assert await store.read(lambda tx: contents(tx.messages.search("finished", party=None, limit=5))) == []
        told = [getattr(entry.fact, "message_id", None) for entry in await store.read(journal)]
        assert told == [kept.id, kept.id]
        assert await history(store) == [kept]

    async def test_search_does_not_take_a_newcomer_for_what_was_pruned(self, store: Store) -> None:
        sent = [await store.write(lambda tx: posted(tx, "finished")) for _ in range(3)]
        await store.rebuild(lambda _: None)  # whatever is indexed behind the sends is indexed now
        for message in sent:
            await change(store, message, done)
        assert await prune(store) == 3
        for _ in range(3):
            await store.write(lambda tx: posted(tx, "newcomer"))
        for party in (None, OWL):
            for word, hits in (("finished", 0), ("newcomer", 3)):
                found = await store.read(lambda tx, w=word, who=party: tx.messages.search(w, party=who, limit=9))
                assert contents(found) == [word] * hits

    async def test_counts_follow(self, store: Store) -> None:
        for move in (done, dead, cleared):
            await change(store, await store.write(posted), move)
        await store.write(posted)
        assert await prune(store) == 3
        left = InboxStats(new=1, cur=0, done=0, dead=0, unread=1)
        assert await store.read(lambda tx: tx.deliveries.stats(OWL)) == left
        stats = await store.read(lambda tx: tx.deliveries.queue_stats())
        assert (stats.total_queued_messages, stats.total_unread_messages) == (1, 1)
        assert stats.total_sent == 4  # what was ever sent, pruned or not
        assert store.report().messages == 1

    async def test_what_is_unfinished_or_young_stays(self, store: Store) -> None:
        fresh, taken, young = [
            await store.write(lambda tx, at=at: posted(tx, at=at)) for at in (NOW, NOW, NOW + 1_000)
        ]
        await change(store, taken, claimed)
        await change(store, young, done)
        assert await prune(store, before=NOW + 1_000) == 0
        assert await history(store) == [fresh, taken, young]
        assert await prune(store, before=NOW + 1_001) == 1
        assert await history(store) == [fresh, taken]

    async def test_only_the_folders_named_are_pruned(self, store: Store) -> None:
        finished, failed, hidden = (
            await store.write(posted),
            await store.write(posted),
            await store.write(posted),
        )
        await change(store, finished, done)
        await change(store, failed, dead)
        await change(store, hidden, lambda delivery: cleared(claimed(delivery)))
        assert await store.write(lambda tx: tx.prune(before=NOW + 1, folders=("done",))) == 2
        assert await history(store) == [failed]

    async def test_every_delivery_of_a_message_must_be_finished(self, store: Store) -> None:
        message = await store.write(lambda tx: shouted(tx, "all", (OWL, BEAR)))
        await change(store, message, done)
        assert await prune(store) == 0
        assert len(await store.read(lambda tx: tx.deliveries.of_message(message.id))) == 2
        await change(store, message, cleared, BEAR)
        assert await prune(store) == 1

    async def test_numbers_of_pruned_messages_are_never_given_again(self, store: Store, directory: Path) -> None:
        for _ in range(3):
            await change(store, await store.write(posted), done)
        assert await prune(store) == 3
        assert (await store.write(posted)).seq == 4
        await change(store, (await history(store))[0], done)
        assert await prune(store) == 1
        await self.crash(store)
        async with self.opened(directory) as again:
            assert (await again.write(posted)).seq == 5

    async def test_a_cursor_misses_nothing_after_pruning(self, store: Store, directory: Path) -> None:
        await change(store, await store.write(posted), done)
        cursor = await store.read(lambda tx: tx.journal.end())
        assert await prune(store) == 1
        one = await store.write(posted)
        await change(store, one, done)
        assert await prune(store) == 1
        await self.crash(store)
        async with self.opened(directory) as again:
            two = await again.write(posted)
            entries = await again.read(lambda tx: tx.journal.after(cursor, limit=10))
        assert [entry.message for entry in entries if isinstance(entry.fact, MessageSent)] == [two]

    async def test_order_and_place_of_the_others_are_kept(self, store: Store) -> None:
        sent = [await store.write(lambda tx, n=n: posted(tx, str(n))) for n in range(6)]
        before = await store.read(journal)
        for message in sent[::2]:
            await change(store, message, done)
        assert await prune(store) == 3
        assert await history(store) == sent[1::2]
        kept = {message.id for message in sent[1::2]}
        after = await store.read(journal)
        assert list(after) == [entry for entry in before if getattr(entry.fact, "message_id", None) in kept]

    async def test_what_is_left_of_the_journal_still_tells_the_state(self, store: Store) -> None:
        def work(tx: Transaction) -> None:
            registered(tx, FOX, OWL)
            one, two = posted(tx, at=NOW), posted(tx, at=NOW + 2_000)
            reply = posted(tx, "re", sender=OWL, to=FOX, parent=two, at=NOW)
            for message, recipient in ((one, OWL), (two, OWL), (reply, FOX)):
                delivery = tx.deliveries.get(message.id, recipient)
                assert delivery is not None
                tx.deliveries.save(delivery.cleared(NOW + 5))
            for recipient, ids in ((OWL, (one.id, two.id)), (FOX, (reply.id,))):
                fact = MessagesCleared(recipient=recipient, message_ids=ids, at=NOW + 5)
                tx.journal.record(fact, at=NOW + 5, by=BY_FOX, audience=(recipient,))

        await store.write(work)
        assert await store.read(replayed) == await store.read(stored)
        assert await prune(store) == 2
        view = await store.read(replayed)
        assert len(view.messages) == 1
        assert view == await store.read(stored)
        named = [e.fact.message_ids for e in await store.read(journal) if isinstance(e.fact, MessagesCleared)]
        assert named == [tuple(view.messages)]

    async def test_recent_entries_are_free_of_what_was_pruned(self, store: Store) -> None:
        for move in (done, claimed, done):
            await change(store, await store.write(posted), move)
        assert await prune(store) == 2
        await store.write(posted)
        entries = await store.read(journal)
        for position in range(entries[-1].position + 1):
            recent = store.recent(position)
            assert recent is None or list(recent) == [entry for entry in entries if entry.position > position]

    async def test_pruning_nothing_changes_nothing(self, store: Store) -> None:
        await store.write(posted)
        before = await store.read(journal)
        assert await prune(store) == 0
        assert await store.read(journal) == before
