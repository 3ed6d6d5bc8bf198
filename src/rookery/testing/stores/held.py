"""Held messages: kept to the byte until they are sent or dropped."""

from dataclasses import replace
from pathlib import Path

import pytest

from rookery.domain.approvals import Held
from rookery.domain.messages import Message
from rookery.ports import Store, Transaction
from rookery.services.posting import Letter
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.export import exported
from rookery.testing.stores.inbox import change, done
from rookery.testing.stores.pruning import prune
from rookery.testing.stores.samples import BY_FOX, FOX, NOW, OWL, Mishap, held_back, posting

FIRST = Held(message_id="m-1", approval="a-1", sender=FOX, to=OWL, content="may I?")
SECOND = replace(FIRST, message_id="m-2", approval="a-2")
THIRD = replace(FIRST, message_id="m-0")


def sent(tx: Transaction, held: Held) -> Message:
    """Send what was held, under the id that it was promised."""
    letter = Letter(
        sender=held.sender, recipient=held.to, recipients=(held.to,), type="direct", content=held.content,
        message_id=held.message_id,
    )  # fmt: skip
    message = posting.post(tx, letter, now=NOW, by=BY_FOX)
    tx.held.remove(held.message_id)
    return message


class HeldContract(StoreCase):
    async def test_what_waits_for_an_approval_comes_in_the_order_it_was_put(
        self, store: Store, directory: Path
    ) -> None:
        def look(tx: Transaction) -> list[list[Held]]:
            return [list(tx.held.of(approval)) for approval in ("a-1", "a-2", "a-3", "")]

        await store.write(lambda tx: held_back(tx, FIRST, SECOND, THIRD))
        assert await store.read(look) == [[FIRST, THIRD], [SECOND], [], []]
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(look) == [[FIRST, THIRD], [SECOND], [], []]

    async def test_what_was_removed_is_gone_for_good(self, store: Store, directory: Path) -> None:
        def look(tx: Transaction) -> list[object]:
            return [tx.held.get("m-1"), list(tx.held.of("a-1")), tx.held.get("m-2")]

        await store.write(lambda tx: held_back(tx, FIRST, SECOND, THIRD))
        await store.write(lambda tx: tx.held.remove("m-1"))
        expected: list[object] = [None, [THIRD], SECOND]
        assert await store.read(look) == expected
        await store.rebuild(lambda _: None)
        assert await store.read(look) == expected
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(look) == expected

    async def test_removing_what_never_was_changes_nothing(self, store: Store) -> None:
        await store.write(lambda tx: held_back(tx, FIRST))
        before = await exported(store)
        await store.write(lambda tx: tx.held.remove("m-9"))
        assert await exported(store) == before

    async def test_a_work_that_fails_has_removed_nothing(self, store: Store) -> None:
        def failing(tx: Transaction) -> None:
            tx.held.remove("m-1")
            assert tx.held.get("m-1") is None
            raise Mishap

        await store.write(lambda tx: held_back(tx, FIRST))
        with pytest.raises(Mishap):
            await store.write(failing)
        assert await store.read(lambda tx: tx.held.get("m-1")) == FIRST

    async def test_nothing_is_removed_inside_a_read(self, store: Store) -> None:
        await store.write(lambda tx: held_back(tx, FIRST))
        with pytest.raises(Exception):  # noqa: B017, PT011 - any will do, so long as it is refused
            await store.read(lambda tx: tx.held.remove("m-1"))
        assert await store.read(lambda tx: tx.held.get("m-1")) == FIRST

    async def test_what_was_held_sent_and_pruned_does_not_come_back(self, store: Store, directory: Path) -> None:
        await store.write(lambda tx: held_back(tx, FIRST))
        message = await store.write(lambda tx: sent(tx, FIRST))
        assert message.id == FIRST.message_id
        await change(store, message, done)
        assert await prune(store) == 1
        await store.rebuild(lambda _: None)
        assert await store.read(lambda tx: (tx.held.get("m-1"), tx.messages.get("m-1"))) == (None, None)
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(lambda tx: list(tx.held.of("a-1"))) == []
