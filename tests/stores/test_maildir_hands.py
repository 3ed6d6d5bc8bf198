"""Moving a file by hand is a claim or a completion, noticed while the hub runs or when it starts."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from rookery.domain.deliveries import Delivery
from rookery.domain.events import (
    ClaimExpired,
    Fact,
    MessageClaimed,
    MessageCompleted,
    MessageRead,
    MessagesCleared,
    MessageSeen,
)
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message
from rookery.domain.principals import Principal
from rookery.ports import InboxQuery, Store, Transaction
from rookery.stores.maildir import MaildirStore
from rookery.testing.stores.laws import replayed, stored
from rookery.testing.stores.samples import NOW, OWL, contents
from tests.stores.support import opened, peopled, sending

DEADLINE = 10.0

Hand = Callable[[Path, str], None]


def moved(source: str, target: str) -> Hand:
    def hand(inbox: Path, name: str) -> None:
        (inbox / source / name).rename(inbox / target / name)

    return hand


def deleted(folder: str) -> Hand:
    return lambda inbox, name: (inbox / folder / name).unlink()


def as_it_was(delivery: Delivery) -> Delivery:
    return delivery


def claimed(delivery: Delivery) -> Delivery:
    return delivery.claimed(NOW, OWL, "rest")


HANDS: dict[str, tuple[Callable[[Delivery], Delivery], Hand, type[Fact], str]] = {
    "a claim": (as_it_was, moved("new", "cur"), MessageClaimed, "cur"),
    "a completion": (as_it_was, moved("new", "done"), MessageCompleted, "done"),
    "a burial": (as_it_was, moved("new", "dead"), MessageCompleted, "dead"),
    "finishing somebody's claim": (claimed, moved("cur", "done"), MessageCompleted, "done"),
    "giving a claim back": (claimed, moved("cur", "new"), ClaimExpired, "new"),
    "clearing": (as_it_was, deleted("new"), MessagesCleared, "cleared"),
    "clearing a claim": (claimed, deleted("cur"), MessagesCleared, "cleared"),
}


async def prepared(store: Store, before: Callable[[Delivery], Delivery]) -> Message:
    message = await store.write(sending("by hand"))

    def work(tx: Transaction) -> None:
        delivery = tx.deliveries.get(message.id, OWL)
        assert delivery is not None
        if before(delivery) is not delivery:
            tx.deliveries.save(before(delivery))
            fact = MessageClaimed(message_id=message.id, recipient=OWL, by=OWL, via="rest", at=NOW)
            tx.journal.record(fact, at=NOW, by=Principal(OWL, "t"), audience=(OWL,))

    await store.write(work)
    return message


async def check(store: Store, message: Message, fact: type[Fact], place: str, directory: Path) -> None:
    def look(tx: Transaction) -> tuple[Delivery | None, list[Fact], bool]:
        delivery = tx.deliveries.get(message.id, OWL)
        entries = tx.journal.after(0, limit=1000)
        by_hand = [entry.fact for entry in entries if entry.token_id == "by-hand"]
        assert {entry.actor for entry in entries if entry.token_id == "by-hand"} == {OPERATOR}
        assert {
            entry.audience == (OWL,)
            for entry in entries
            if entry.token_id == "by-hand" and isinstance(entry.fact, MessagesCleared | MessageRead)
        } <= {True}, "what an owner does with its inbox is no news for the sender"
        return delivery, by_hand, stored(tx) == replayed(tx)

    delivery, facts, lawful = await store.read(look)
    assert delivery is not None
    assert type(facts[0]) is fact
    assert [type(each) for each in facts].count(fact) == 1
    assert lawful
    if place == "cleared":
        assert delivery.cleared_at is not None
    else:
        assert delivery.folder == place
    # Even a deleted file is there again, out of the way: the message is still part of its conversation.
    assert (directory / "inbox" / OWL / place / f"{message.id}.json").exists()


@pytest.mark.parametrize("what", HANDS)
async def test_a_move_is_noticed_while_the_store_is_open(tmp_path: Path, what: str) -> None:
    before, hand, fact, place = HANDS[what]
    heard = asyncio.Event()
    async with peopled(MaildirStore(tmp_path)) as store:
        message = await prepared(store, before)
        store.announce_to(lambda _: heard.set())
        hand(tmp_path / "inbox" / OWL, f"{message.id}.json")
        async with asyncio.timeout(DEADLINE):
            await heard.wait()
        await check(store, message, fact, place, tmp_path)


@pytest.mark.parametrize("what", HANDS)
async def test_a_move_is_noticed_on_opening(tmp_path: Path, what: str) -> None:
    before, hand, fact, place = HANDS[what]
    async with peopled(MaildirStore(tmp_path)) as store:
        message = await prepared(store, before)
    hand(tmp_path / "inbox" / OWL, f"{message.id}.json")
    async with opened(MaildirStore(tmp_path)) as store:
        await check(store, message, fact, place, tmp_path)
    async with opened(MaildirStore(tmp_path)) as store:
        await check(store, message, fact, place, tmp_path)


async def test_what_is_finished_stays_finished(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path)) as store:
        message = await store.write(sending("done"))

        def finish(tx: Transaction) -> None:
            delivery = tx.deliveries.get(message.id, OWL)
            assert delivery is not None
            tx.deliveries.save(delivery.completed(NOW, OWL, "done"))

        await store.write(finish)
    moved("done", "new")(tmp_path / "inbox" / OWL, f"{message.id}.json")
    async with opened(MaildirStore(tmp_path)) as store:
        delivery = await store.read(lambda tx: tx.deliveries.get(message.id, OWL))
        assert delivery is not None
        assert delivery.folder == "done"
        assert (tmp_path / "inbox" / OWL / "done" / f"{message.id}.json").exists()
        assert not (tmp_path / "inbox" / OWL / "new" / f"{message.id}.json").exists()


async def test_the_stores_own_moves_are_nobodys_claim(tmp_path: Path) -> None:
    """A move by hand made last is noticed after all that the store did itself."""
    heard = asyncio.Event()
    async with peopled(MaildirStore(tmp_path)) as store:
        messages = await asyncio.gather(*(store.write(sending(f"message {n}")) for n in range(50)))
        for message in messages[:40]:
            await store.write(
                lambda tx, wanted=message.id: tx.deliveries.save(
                    tx.deliveries.get(wanted, OWL).claimed(NOW, OWL, "rest")  # pyright: ignore[reportOptionalMemberAccess]
                )
            )
        store.announce_to(lambda _: heard.set())
        moved("new", "done")(tmp_path / "inbox" / OWL, f"{messages[-1].id}.json")
        async with asyncio.timeout(DEADLINE):
            await heard.wait()
        entries = await store.read(lambda tx: tx.journal.after(0, limit=1000))
        by_hand = [entry.fact for entry in entries if entry.token_id == "by-hand"]
        assert [fact.message_id for fact in by_hand if isinstance(fact, MessageCompleted)] == [messages[-1].id]
        assert [type(fact) for fact in by_hand] == [MessageCompleted, MessageSeen, MessageRead]


async def test_a_receipt_that_comes_meanwhile_does_not_undo_a_move(tmp_path: Path) -> None:
    heard = asyncio.Event()
    async with peopled(MaildirStore(tmp_path)) as store:
        message = await store.write(sending("taken"))
        store.announce_to(lambda _: heard.set())

        def seen(tx: Transaction) -> None:
            delivery = tx.deliveries.get(message.id, OWL)
            assert delivery is not None
            tx.deliveries.save(delivery.seen(NOW, "websocket"))

        moved("new", "cur")(tmp_path / "inbox" / OWL, f"{message.id}.json")
        await store.write(seen)
        async with asyncio.timeout(DEADLINE):
            await heard.wait()
        delivery = await store.read(lambda tx: tx.deliveries.get(message.id, OWL))
        assert delivery is not None
        assert (delivery.folder, delivery.claimed_by) == ("cur", OPERATOR)


async def test_what_is_no_message_is_left_alone_and_named_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with peopled(MaildirStore(tmp_path)) as store:
        await store.write(sending("a real one"))
    junk = tmp_path / "inbox" / OWL / "new" / "shopping.json"
    junk.write_text("milk")
    (tmp_path / "inbox" / OWL / "new" / ".DS_Store").write_text("junk")
    (tmp_path / "inbox" / "README").write_text("not an inbox")
    with caplog.at_level(logging.WARNING):
        async with opened(MaildirStore(tmp_path)) as store:
            inbox = await store.read(lambda tx: tx.deliveries.inbox(InboxQuery(recipient=OWL)))
            assert contents(inbox) == ["a real one"]
    assert [record.getMessage() for record in caplog.records if "shopping" in record.getMessage()] == [
        f"Ignoring the file shopping in the inbox of {OWL}: no message here"
    ]
    assert junk.read_text() == "milk"
