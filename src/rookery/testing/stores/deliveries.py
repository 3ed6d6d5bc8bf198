"""Deliveries: kept per recipient, claimed in order, swept when time has passed."""

from dataclasses import replace
from pathlib import Path

from rookery.domain.deliveries import Delivery
from rookery.domain.messages import Message
from rookery.ports import Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.inbox import change, claimed, cleared, dead, done, seen
from rookery.testing.stores.samples import BEAR, FOX, NOW, OWL, an_agent, posted, registered, shouted


async def next_open(store: Store, now: int = NOW, recipient: str = OWL) -> str | None:
    delivery = await store.write(lambda tx: tx.deliveries.next_open(recipient, now))
    return None if delivery is None else delivery.message_id


async def claim(store: Store, message: Message, by: str, at: int) -> None:
    await change(store, message, lambda delivery: delivery.claimed(at, by, "rest"))


class DeliveryContract(StoreCase):
    async def test_a_message_has_a_new_delivery_for_each_recipient_in_the_order_given(self, store: Store) -> None:
        recipients = ("z-owl", "a-bear", "operator", "m-crow")
        message = await store.write(lambda tx: shouted(tx, "all", recipients))
        deliveries = await store.read(lambda tx: tx.deliveries.of_message(message.id))
        assert list(deliveries) == [
            Delivery(message_id=message.id, recipient=recipient, stored_at=NOW) for recipient in recipients
        ]

    async def test_a_message_to_nobody_has_no_deliveries(self, store: Store) -> None:
        message = await store.write(lambda tx: shouted(tx, "is anybody there?", ()))
        assert list(await store.read(lambda tx: tx.deliveries.of_message(message.id))) == []
        assert await store.read(lambda tx: tx.messages.get(message.id)) == message

    async def test_a_delivery_that_never_was_is_none(self, store: Store) -> None:
        message = await store.write(posted)
        assert await store.read(lambda tx: tx.deliveries.get(message.id, BEAR)) is None
        assert await store.read(lambda tx: tx.deliveries.get("0" * 26, OWL)) is None
        assert list(await store.read(lambda tx: tx.deliveries.of_message("0" * 26))) == []

    async def test_saving_replaces_every_field_of_that_delivery_alone(self, store: Store, directory: Path) -> None:
        message = await store.write(lambda tx: shouted(tx, "all", (OWL, BEAR)))
        full = Delivery(
            message_id=message.id, recipient=OWL, folder="dead", stored_at=NOW, handed_off_at=NOW + 1,
            handed_off_via="websocket", seen_at=NOW + 2, seen_via="rest", claimed_at=NOW + 3, claimed_by=FOX,
            expiries=4, completed_at=NOW + 5, completed_by=BEAR, result="r\n", error="", note="🦊",
            replied_at=NOW + 6, reply_id="1" * 26, cleared_at=NOW + 7,
        )  # fmt: skip
        fresh = Delivery(message_id=message.id, recipient=BEAR, stored_at=NOW)
        await store.write(lambda tx: tx.deliveries.save(full))
        assert list(await store.read(lambda tx: tx.deliveries.of_message(message.id))) == [full, fresh]
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(lambda tx: tx.deliveries.get(message.id, OWL)) == full
            await again.write(lambda tx: tx.deliveries.save(replace(fresh, recipient=OWL)))
            kept = await again.read(lambda tx: tx.deliveries.of_message(message.id))
            assert list(kept) == [replace(fresh, recipient=OWL), fresh]

    async def test_many_are_saved_as_one_by_one(self, store: Store) -> None:
        messages = [await store.write(posted) for _ in range(3)]
        moved = [seen(Delivery(message_id=message.id, recipient=OWL, stored_at=NOW)) for message in messages]
        await store.write(lambda tx: tx.deliveries.save_many(moved))
        await store.write(lambda tx: tx.deliveries.save_many([]))
        kept = await store.read(lambda tx: [tx.deliveries.get(message.id, OWL) for message in messages])
        assert kept == moved

    async def test_the_most_urgent_is_claimed_first_and_the_oldest_within(self, store: Store) -> None:
        def work(tx: Transaction) -> dict[str, str]:
            posted(tx, "not the owl's", to=BEAR, priority="urgent")
            first = {"n1": posted(tx).id, "l1": posted(tx, priority="low").id}
            second = {"u1": posted(tx, sender=BEAR, priority="urgent").id, "n2": posted(tx, sender=BEAR).id}
            return first | second | {"u2": posted(tx, priority="urgent").id, "h1": posted(tx, priority="high").id}

        ids = await store.write(work)
        order: list[str] = []
        while message_id := await next_open(store):
            order.append(next(name for name, known in ids.items() if known == message_id))
            message = await store.read(lambda tx, m=message_id: tx.messages.get(m))
            assert message is not None
            await change(store, message, claimed)
        assert order == ["u1", "u2", "h1", "n1", "n2", "l1"]

    async def test_only_what_is_new_uncleared_and_in_time_is_open(self, store: Store) -> None:
        for move in (claimed, done, dead, cleared):
            await change(store, await store.write(posted), move)
        await store.write(lambda tx: posted(tx, expires_at=NOW + 10, priority="urgent"))
        assert await next_open(store, NOW + 11) is None
        last = await store.write(lambda tx: posted(tx, priority="low"))
        await change(store, last, seen)
        assert await next_open(store, NOW + 11) == last.id

    async def test_what_was_read_in_time_stays_open_after_its_ttl(self, store: Store) -> None:
        message = await store.write(lambda tx: posted(tx, expires_at=NOW + 10))
        await change(store, message, seen)
        assert await next_open(store, NOW + 11) == message.id

    async def test_a_claim_that_was_given_back_is_open_again_in_its_old_place(self, store: Store) -> None:
        first, second = await store.write(posted), await store.write(posted)
        await change(store, first, claimed)
        assert await next_open(store) == second.id
        await change(store, first, lambda delivery: delivery.claim_expired())
        assert await next_open(store) == first.id

    async def test_a_claim_is_lost_when_it_and_its_owners_last_sign_are_older_than_the_moment(
        self, store: Store
    ) -> None:
        await store.write(
            lambda tx: registered(tx, an_agent(FOX, last_active=NOW), an_agent(OWL, last_active=NOW))
        )
        lost, alive, young, _ = [await store.write(posted) for _ in range(4)]
        await store.write(lambda tx: tx.agents.touch(OWL, NOW + 5_000))
        await claim(store, lost, FOX, NOW)
        await claim(store, alive, OWL, NOW)
        await claim(store, young, FOX, NOW + 2_000)

        async def without_life(moment: int, limit: int = 10) -> list[str]:
            found = await store.read(lambda tx: tx.deliveries.claims_without_life_since(moment, limit))
            return [delivery.message_id for delivery in found]

        assert await without_life(NOW) == []
        assert await without_life(NOW + 1_000) == [lost.id]
        assert set(await without_life(NOW + 3_000)) == {lost.id, young.id}
        assert len(await without_life(NOW + 3_000, limit=1)) == 1
        assert set(await without_life(NOW + 6_000)) == {lost.id, young.id, alive.id}
        await change(store, lost, lambda delivery: delivery.claim_expired())
        await change(store, young, lambda delivery: delivery.completed(NOW, FOX, "done"))
        assert await without_life(NOW + 6_000) == [alive.id]

    async def test_what_is_found_without_life_is_the_whole_delivery(self, store: Store) -> None:
        await store.write(lambda tx: registered(tx, FOX))
        message = await store.write(posted)
        await claim(store, message, FOX, NOW)
        found = await store.read(lambda tx: tx.deliveries.claims_without_life_since(NOW + 1, 5))
        assert list(found) == [await store.read(lambda tx: tx.deliveries.get(message.id, OWL))]

    async def test_what_is_unread_after_its_ttl_has_expired(self, store: Store) -> None:
        async def sent(expires_at: int | None) -> Message:
            return await store.write(lambda tx: posted(tx, expires_at=expires_at))

        brief, other, read, taken, finished = [await sent(NOW + 10) for _ in range(5)]
        await sent(NOW + 50)
        await sent(None)
        await change(store, read, seen)
        await change(store, taken, claimed)
        await change(store, finished, done)

        async def expired(now: int, limit: int = 10) -> set[str]:
            found = await store.read(lambda tx: tx.deliveries.expired(now, limit))
            return {delivery.message_id for delivery in found}

        assert await expired(NOW + 9) == set()
        assert await expired(NOW + 11) == {brief.id, other.id}
        assert len(await expired(NOW + 11, limit=1)) == 1

    async def test_at_every_moment_an_unread_delivery_is_either_open_or_expired(self, store: Store) -> None:
        await store.write(lambda tx: posted(tx, expires_at=NOW + 10))
        for now in range(NOW + 8, NOW + 13):
            is_open = await next_open(store, now) is not None
            is_expired = bool(await store.read(lambda tx, now=now: tx.deliveries.expired(now, 5)))
            is_counted = await store.read(lambda tx, now=now: tx.deliveries.unread_count(OWL, now)) == 1
            assert (is_open, is_counted) == (not is_expired, not is_expired)

    async def test_clearing_takes_out_what_has_not_been_cleared(self, store: Store) -> None:
        one, two, three = [await store.write(posted) for _ in range(3)]
        other = await store.write(lambda tx: posted(tx, to=BEAR))
        await change(store, one, cleared)
        await change(store, two, done)

        async def uncleared(*message_ids: str) -> set[str]:
            found = await store.read(lambda tx: tx.deliveries.uncleared(OWL, message_ids or None))
            return {delivery.message_id for delivery in found}

        assert await uncleared() == {two.id, three.id}
        assert await uncleared(one.id, two.id, other.id, "0" * 26) == {two.id}
        assert list(await store.read(lambda tx: tx.deliveries.uncleared(OWL, []))) == []
        assert await uncleared(*[f"{number:026d}" for number in range(2_000)], three.id) == {three.id}

    async def test_an_id_named_twice_is_cleared_once(self, store: Store) -> None:
        message = await store.write(posted)
        found = await store.read(lambda tx: tx.deliveries.uncleared(OWL, [message.id, message.id]))
        assert len(found) == 1
