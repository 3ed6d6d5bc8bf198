"""The inbox: which deliveries of one recipient are listed, in which order, and how they are counted."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import pytest

from rookery.domain.deliveries import Delivery
from rookery.domain.messages import Message
from rookery.ports import InboxQuery, InboxStats, Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.samples import BEAR, FOX, NOW, OWL, contents, posted, shouted

Order = Literal["arrival", "latest", "urgency"]

EXPECTED: dict[Order, list[str]] = {
    "arrival": ["n1", "h1", "l1", "u1", "n2", "h2", "u2", "l2"],
    "latest": ["l2", "u2", "h2", "n2", "u1", "l1", "h1", "n1"],
    "urgency": ["u1", "u2", "h1", "h2", "n1", "n2", "l1", "l2"],
}
QUERY = InboxQuery(recipient=OWL, now=NOW)


async def listed(store: Store, query: InboxQuery = QUERY) -> list[str]:
    return contents(await store.read(lambda tx: tx.deliveries.inbox(query)))


async def change(
    store: Store, message: Message, move: Callable[[Delivery], Delivery], recipient: str = OWL
) -> None:
    """Move one delivery, as its owner would."""

    def work(tx: Transaction) -> None:
        delivery = tx.deliveries.get(message.id, recipient)
        assert delivery is not None
        tx.deliveries.save(move(delivery))

    await store.write(work)


def seen(delivery: Delivery) -> Delivery:
    return delivery.seen(NOW, "rest")


def claimed(delivery: Delivery) -> Delivery:
    return delivery.claimed(NOW, OWL, "rest")


def given_back(delivery: Delivery) -> Delivery:
    return claimed(delivery).claim_expired()


def done(delivery: Delivery) -> Delivery:
    return delivery.completed(NOW, OWL, "done")


def dead(delivery: Delivery) -> Delivery:
    return delivery.completed(NOW, OWL, "dead")


def cleared(delivery: Delivery) -> Delivery:
    return delivery.cleared(NOW)


class InboxContract(StoreCase):
    @pytest.fixture
    async def mailbox(self, store: Store) -> Store:
        """Eight messages of all four priorities for the owl, and one for somebody else."""

        def work(tx: Transaction) -> None:
            posted(tx, "n1")
            posted(tx, "h1", priority="high")
            posted(tx, "not the owl's", to=BEAR, priority="urgent")
            posted(tx, "l1", sender=BEAR, priority="low")
            posted(tx, "u1", priority="urgent")
            shouted(tx, "n2", (BEAR, OWL))
            posted(tx, "h2", sender=BEAR, priority="high")
            posted(tx, "u2", priority="urgent")

        await store.write(work)
        await store.write(lambda tx: posted(tx, "l2", priority="low"))
        return store

    @pytest.mark.parametrize("order", list(EXPECTED))
    async def test_the_inbox_is_listed_in_the_order_asked_for(self, mailbox: Store, order: Order) -> None:
        assert await listed(mailbox, replace(QUERY, order=order)) == EXPECTED[order]

    @pytest.mark.parametrize("order", list(EXPECTED))
    async def test_no_more_than_the_limit_is_listed(self, mailbox: Store, order: Order) -> None:
        assert await listed(mailbox, replace(QUERY, order=order, limit=3)) == EXPECTED[order][:3]

    @pytest.mark.parametrize("order", list(EXPECTED))
    @pytest.mark.parametrize("unread_only", [True, False])
    async def test_pages_one_after_another_are_the_whole_inbox(
        self, mailbox: Store, order: Order, unread_only: bool
    ) -> None:
        query, pages = replace(QUERY, order=order, unread_only=unread_only, limit=3), list[str]()
        while page := await mailbox.read(lambda tx, query=query: tx.deliveries.inbox(query)):
            pages += contents(page)
            query = replace(query, after=page[-1].message.id)
        assert pages == EXPECTED[order]

    async def test_paging_goes_on_from_a_message_that_has_meanwhile_been_read_or_cleared(
        self, mailbox: Store
    ) -> None:
        first = await mailbox.read(lambda tx: tx.deliveries.inbox(replace(QUERY, unread_only=True, limit=2)))
        await change(mailbox, first[0].message, seen)
        await change(mailbox, first[1].message, cleared)
        rest = replace(QUERY, unread_only=True, after=first[-1].message.id)
        assert await listed(mailbox, rest) == EXPECTED["arrival"][2:]

    async def test_messages_and_their_deliveries_come_together(self, store: Store) -> None:
        message = await store.write(posted)
        await change(store, message, claimed)
        [item] = await store.read(lambda tx: tx.deliveries.inbox(QUERY))
        assert item.message == message
        assert item.delivery == claimed(Delivery(message_id=message.id, recipient=OWL, stored_at=NOW))

    async def test_an_empty_inbox_lists_nothing(self, store: Store) -> None:
        assert await listed(store) == []
        assert await store.read(lambda tx: tx.deliveries.unread_count(OWL, NOW)) == 0
        nothing = InboxStats(new=0, cur=0, done=0, dead=0, unread=0)
        assert await store.read(lambda tx: tx.deliveries.stats(OWL)) == nothing

    async def test_unread_means_new_and_not_seen(self, store: Store) -> None:
        for number, move in enumerate((seen, claimed, given_back, done, dead)):
            await change(store, await store.write(lambda tx, n=number: posted(tx, str(n))), move)
        last = await store.write(lambda tx: posted(tx, "last"))
        await change(store, last, lambda delivery: delivery.handed_off(NOW, "websocket"))
        for order in EXPECTED:
            assert await listed(store, replace(QUERY, order=order, unread_only=True)) == ["last"]
        assert await listed(store, replace(QUERY, unread_only=True, folder="done")) == []
        assert await listed(store) == ["0", "1", "2", "3", "4", "last"]
        assert await store.read(lambda tx: tx.deliveries.unread_count(OWL, NOW)) == 1

    async def test_one_folder_can_be_listed_alone(self, store: Store) -> None:
        one, two, three, _ = [await store.write(lambda tx, c=c: posted(tx, c)) for c in ("1", "2", "3", "4")]
        await change(store, one, claimed)
        await change(store, two, done)
        await change(store, three, dead)
        for folder, content in (("cur", "1"), ("done", "2"), ("dead", "3"), ("new", "4")):
            assert await listed(store, replace(QUERY, folder=folder)) == [content]
            assert await listed(store, replace(QUERY, folder=folder, unread_only=folder == "new")) == [content]
        assert await listed(store) == ["1", "2", "3", "4"]

    async def test_what_was_cleared_is_nowhere_in_the_inbox(self, store: Store) -> None:
        one, two, _ = [await store.write(lambda tx, c=c: posted(tx, c)) for c in ("1", "2", "3")]
        await change(store, one, cleared)
        await change(store, two, lambda delivery: cleared(done(delivery)))
        for order in EXPECTED:
            assert await listed(store, replace(QUERY, order=order)) == ["3"]
        assert await listed(store, replace(QUERY, folder="done")) == []
        assert await store.read(lambda tx: tx.deliveries.unread_count(OWL, NOW)) == 1
        left = InboxStats(new=1, cur=0, done=0, dead=0, unread=1)
        assert await store.read(lambda tx: tx.deliveries.stats(OWL)) == left

    async def test_what_has_outlived_its_ttl_unread_is_not_listed_or_counted(self, store: Store) -> None:
        await store.write(lambda tx: posted(tx, "brief", expires_at=NOW + 10, priority="urgent"))
        await store.write(lambda tx: posted(tx, "lasting"))
        for order in EXPECTED:
            late = replace(QUERY, order=order, now=NOW + 11)
            assert set(await listed(store, replace(late, now=NOW + 9))) == {"brief", "lasting"}
            assert await listed(store, late) == ["lasting"]
            assert await listed(store, replace(late, limit=1)) == ["lasting"]
            assert await listed(store, replace(late, unread_only=True)) == ["lasting"]
            assert await listed(store, replace(late, folder="new")) == ["lasting"]
        assert await store.read(lambda tx: tx.deliveries.unread_count(OWL, NOW + 9)) == 2
        assert await store.read(lambda tx: tx.deliveries.unread_count(OWL, NOW + 11)) == 1

    async def test_what_was_read_in_time_stays_when_its_ttl_has_passed(self, store: Store) -> None:
        for move in (seen, claimed, given_back, done, dead):
            message = await store.write(lambda tx: posted(tx, expires_at=NOW + 10))
            await change(store, message, move)
        for order in EXPECTED:
            assert len(await listed(store, replace(QUERY, order=order, now=NOW + 11))) == 5
        assert await store.read(lambda tx: list(tx.deliveries.expired(NOW + 11, 9))) == []

    async def test_the_unread_count_is_the_number_of_unread_ones_listed(self, store: Store) -> None:
        moves: list[Callable[[Delivery], Delivery]] = [
            seen, claimed, done, dead, cleared, lambda d: cleared(seen(d)), lambda d: d.handed_off(NOW, "ws"),
        ]  # fmt: skip
        for number, move in enumerate(moves):
            expires_at = NOW + 10 if number % 2 else None
            message = await store.write(lambda tx, at=expires_at: posted(tx, "text", expires_at=at))
            await change(store, message, move)
            await store.write(lambda tx, at=expires_at: shouted(tx, "all", (OWL, BEAR), at=at or NOW))
            for now in (NOW, NOW + 10, NOW + 11):
                query = replace(QUERY, unread_only=True, now=now)
                count = await store.read(lambda tx, now=now: tx.deliveries.unread_count(OWL, now))
                assert count == len(await listed(store, query))

    async def test_stats_count_each_folder_and_the_unread(self, store: Store) -> None:
        messages = [await store.write(posted) for _ in range(7)]
        for message, move in zip(messages, (claimed, claimed, done, dead, seen, cleared), strict=False):
            await change(store, message, move)
        await store.write(lambda tx: posted(tx, to=BEAR))
        stats = InboxStats(new=2, cur=2, done=1, dead=1, unread=1)  # what is finished waits for no reader
        assert await store.read(lambda tx: tx.deliveries.stats(OWL)) == stats

    async def test_queue_stats_count_over_the_whole_store(self, store: Store) -> None:
        one = await store.write(posted)
        two = await store.write(lambda tx: posted(tx, to=BEAR))
        await store.write(lambda tx: posted(tx, to=BEAR))
        await store.write(lambda tx: shouted(tx, "all", (OWL, BEAR, "bold-crow")))
        await change(store, one, lambda delivery: delivery.handed_off(NOW, "websocket"))
        await change(store, two, lambda delivery: seen(delivery).completed(NOW, BEAR, "done"), BEAR)
        stats = await store.read(lambda tx: tx.deliveries.queue_stats())
        assert (stats.total_sent, stats.broadcast_sent, stats.direct_delivered) == (4, 1, 1)
        assert stats.queued == 2
        assert (stats.total_queued_messages, stats.total_unread_messages) == (5, 5)
        assert stats.agents_with_messages == 3

    async def test_queue_stats_of_an_empty_store_are_nought(self, store: Store) -> None:
        stats = await store.read(lambda tx: tx.deliveries.queue_stats())
        assert (stats.total_sent, stats.direct_delivered, stats.queued, stats.broadcast_sent) == (0, 0, 0, 0)
        assert (stats.total_queued_messages, stats.total_unread_messages, stats.agents_with_messages) == (
            0,
            0,
            0,
        )

    async def test_the_sender_of_a_message_finds_it_in_no_inbox_of_its_own(self, mailbox: Store) -> None:
        assert await listed(mailbox, replace(QUERY, recipient=FOX)) == []
