"""The journal: facts in order, for those whom they concern, and announced."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from rookery.domain import events
from rookery.domain.channels import Channel
from rookery.domain.events import AgentDeleted, AgentRegistered, Entry, Fact, MessageSent
from rookery.domain.ids import BROADCAST
from rookery.domain.messages import Message
from rookery.ports import Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.papers import APPROVAL, ASK, RULE, TASK
from rookery.testing.stores.samples import (
    BEAR,
    BY_FOX,
    FOX,
    NOW,
    OWL,
    Mishap,
    an_agent,
    journal,
    posted,
    registered,
)
from rookery.testing.stores.tokens import TOKEN

M = "1" * 26
SHOUT = Message(
    id=M, conversation=BROADCAST, seq=1, sender=FOX, recipient=BROADCAST, type="broadcast", content="all",
    thread=M, created_at=NOW,
)  # fmt: skip
FACTS: list[Fact] = [
    events.AgentRegistered(agent=an_agent(FOX)),
    events.AgentRenamed(agent_id=FOX, previous_name="old", name="new"),
    events.AgentUpdated(
        agent_id=FOX,
        kind="acp",
        role="worker",
        mode="supervised",
        manager=None,
        project="/é",
        model_name=None,
    ),
    events.AgentStatusChanged(agent_id=FOX, previous_status="idle", status="awaiting_approval"),
    events.AgentStatusChanged(agent_id=FOX, previous_status="idle", status="sleeping", sleeping_until=NOW + 9),
    events.AgentDeleted(agent_id=FOX, name="new", at=NOW),
    events.MessageSent(message_id=M),
    events.MessageStored(message_id=M, sender=FOX, recipient="broadcast", recipients=(OWL, BEAR), at=NOW),
    events.MessageHandedOff(message_id=M, recipient=OWL, recipients=(OWL,), via="websocket", at=NOW),
    events.MessageSeen(message_id=M, recipient=OWL, via="rest", at=NOW),
    events.MessageRead(message_id=M, recipient=OWL, by=OWL, at=NOW),
    events.MessageClaimed(message_id=M, recipient=OWL, by=OWL, via="rest", at=NOW),
    events.ClaimExpired(message_id=M, recipient=OWL, by=OWL, at=NOW),
    events.MessageCompleted(message_id=M, recipient=OWL, by=OWL, outcome="dead", error="e", note="\n🦊", at=NOW),
    events.MessageReplied(message_id=M, recipient=OWL, reply_id="2" * 26, at=NOW),
    events.MessagesCleared(recipient=OWL, message_ids=(M, "2" * 26), at=NOW),
    events.ChannelCreated(
        channel=Channel(name="build", topic="'é' 🦊", members=(FOX, OWL), created_by=FOX, created_at=NOW)
    ),
    events.ChannelJoined(channel="build", member=BEAR),
    events.ChannelLeft(channel="build", member=OWL),
    events.ChannelArchived(channel="build", at=NOW),
    events.AskOpened(ask=ASK),
    events.AskEnded(ask=ASK),
    events.TaskOpened(task=TASK),
    events.TaskPosted(task=TASK),
    events.TaskStarted(task=TASK),
    events.TaskEnded(task=TASK),
    events.RuleSet(rule=RULE),
    events.RuleRemoved(agent=FOX, target="*"),
    events.ApprovalRequested(approval=APPROVAL),
    events.ApprovalAnswered(approval=APPROVAL),
    events.ApprovalUsed(approval=APPROVAL),
    events.MessageHeld(message_id="m-3", approval="a-1", sender=FOX, recipient="#ops"),
    events.MessageDropped(message_id="m-3", approval="a-1", sender=FOX, recipient="#ops"),
    events.TokenIssued(token_id=TOKEN.id, holder=FOX),
    events.TokenRevoked(token_id=TOKEN.id, holder="operator"),
    events.AccessRefused(action="claim", reason="'not' yours"),
    events.MessagesPruned(count=3, before=NOW),
]


def noted(tx: Transaction, text: str, audience: Sequence[str] | None) -> None:
    """A fact that is about nothing else in the store."""
    fact = events.AccessRefused(action=text, reason="a test")
    tx.journal.record(fact, at=NOW, by=BY_FOX, audience=audience)


def actions(entries: Sequence[Entry]) -> list[str]:
    return [entry.fact.action for entry in entries if isinstance(entry.fact, events.AccessRefused)]


class JournalContract(StoreCase):
    async def test_an_empty_journal_ends_at_nought(self, store: Store) -> None:
        assert await store.read(lambda tx: tx.journal.end()) == 0
        assert list(await store.read(journal)) == []

    async def test_every_kind_of_fact_comes_back_as_it_was(self, store: Store, directory: Path) -> None:
        assert {type(fact) for fact in FACTS} == set(get_args(Fact))

        def work(tx: Transaction) -> None:
            tx.messages.add(replace(SHOUT, seq=tx.messages.next_seq(SHOUT.conversation)), (OWL, BEAR))
            for number, fact in enumerate(FACTS):
                message = SHOUT if isinstance(fact, MessageSent) else None
                tx.journal.record(fact, at=NOW + number, by=BY_FOX, audience=None, message=message)

        await store.write(work)
        entries = await store.read(journal)
        assert [entry.fact for entry in entries] == FACTS
        assert [entry.at for entry in entries] == [NOW + number for number in range(len(FACTS))]
        await self.crash(store)
        async with self.opened(directory) as again:
            assert list(await again.read(journal)) == list(entries)

    async def test_an_entry_says_who_did_it_by_which_token_and_for_whom(self, store: Store) -> None:
        audiences = [None, (), (FOX,), (BEAR, FOX, OWL)]
        for audience in audiences:
            await store.write(lambda tx, audience=audience: noted(tx, "x", audience))
        entries = await store.read(journal)
        assert {(entry.actor, entry.token_id, entry.at) for entry in entries} == {(FOX, "token-of-fox", NOW)}
        assert [entry.audience for entry in entries] == audiences

    async def test_the_entry_of_a_sent_message_carries_the_message(self, store: Store) -> None:
        message = await store.write(lambda tx: posted(tx, "hello 🦊"))
        carried = {type(entry.fact): entry.message for entry in await store.read(journal)}
        assert carried.pop(MessageSent) == message
        assert set(carried.values()) == {None}

    async def test_positions_grow_and_end_names_the_newest(self, store: Store, directory: Path) -> None:
        for number in range(5):
            await store.write(lambda tx, number=number: noted(tx, str(number), None))
        entries = await store.read(journal)
        positions = [entry.position for entry in entries]
        assert actions(entries) == list("01234")
        assert positions == sorted(set(positions))
        assert positions[0] > 0
        assert await store.read(lambda tx: tx.journal.end()) == positions[-1]
        await store.close()
        async with self.opened(directory) as again:
            assert await again.read(lambda tx: tx.journal.end()) == positions[-1]
            await again.write(lambda tx: noted(tx, "5", None))
            assert await again.read(lambda tx: tx.journal.end()) > positions[-1]

    async def test_reading_goes_on_from_any_position_in_pages(self, store: Store) -> None:
        await store.write(lambda tx: [noted(tx, str(number), None) for number in range(10)])
        entries = list(await store.read(journal))
        position, pages = 0, list[Entry]()
        while page := await store.read(lambda tx, p=position: tx.journal.after(p, limit=3)):
            assert len(page) <= 3
            pages += page
            position = page[-1].position
        assert pages == entries
        for entry in entries:
            later = await store.read(lambda tx, p=entry.position: tx.journal.after(p, limit=100))
            assert list(later) == [other for other in entries if other.position > entry.position]

    async def test_nothing_above_through_is_read(self, store: Store) -> None:
        await store.write(lambda tx: registered(tx, FOX))
        await store.write(lambda tx: [noted(tx, str(number), (FOX,)) for number in range(6)])
        entries = list(await store.read(journal))
        last = entries[3].position
        for audience in (None, FOX):
            some = await store.read(
                lambda tx, who=audience: tx.journal.after(0, limit=100, audience=who, through=last)
            )
            assert list(some) == entries[:4]
        assert list(await store.read(lambda tx: tx.journal.after(last, limit=9, through=last))) == []

    async def test_an_agent_reads_what_concerns_it_and_no_more(self, store: Store) -> None:
        await store.write(lambda tx: registered(tx, FOX, OWL, BEAR))

        def work(tx: Transaction) -> None:
            noted(tx, "for everyone", None)
            noted(tx, "for the fox", (FOX,))
            noted(tx, "for owl and fox", (OWL, FOX))
            noted(tx, "for the bear", (BEAR,))
            noted(tx, "for nobody", ())
            noted(tx, "for a namesake", (f"{FOX}-2",))

        await store.write(work)

        async def heard_by(agent_id: str | None, limit: int = 100) -> list[str]:
            return actions(await store.read(lambda tx: tx.journal.after(0, limit=limit, audience=agent_id)))

        assert await heard_by(FOX) == ["for everyone", "for the fox", "for owl and fox"]
        assert await heard_by(OWL) == ["for everyone", "for owl and fox"]
        assert await heard_by(BEAR) == ["for everyone", "for the bear"]
        assert len(await heard_by(None)) == 6

    async def test_the_limit_counts_only_the_entries_that_concern_the_reader(self, store: Store) -> None:
        await store.write(lambda tx: registered(tx, FOX))
        await store.write(lambda tx: [noted(tx, str(n), (FOX,) if n % 10 == 0 else (OWL,)) for n in range(50)])
        start = await store.read(lambda tx: tx.agents.born_at(FOX))
        page = await store.read(lambda tx: tx.journal.after(start, limit=3, audience=FOX))
        assert actions(page) == ["0", "10", "20"]
        after = page[-1].position
        page = await store.read(lambda tx: tx.journal.after(after, limit=3, audience=FOX))
        assert actions(page) == ["30", "40"]

    async def test_an_agent_reads_nothing_from_before_it_existed(self, store: Store) -> None:
        await store.write(lambda tx: noted(tx, "for everyone, early", None))
        await store.write(lambda tx: noted(tx, "for the fox, early", (FOX,)))
        await store.write(lambda tx: registered(tx, FOX))
        await store.write(lambda tx: noted(tx, "for everyone", None))
        entries = await store.read(lambda tx: tx.journal.after(0, limit=100, audience=FOX))
        assert actions(entries) == ["for everyone"]
        assert isinstance(entries[0].fact, AgentRegistered)

    async def test_a_deleted_agents_share_of_the_journal_stays_its_own(self, store: Store) -> None:
        await store.write(lambda tx: registered(tx, FOX))
        await store.write(lambda tx: noted(tx, "for the fox", (FOX,)))
        gone = AgentDeleted(agent_id=FOX, name="fox", at=NOW)
        await store.write(lambda tx: tx.journal.record(gone, at=NOW, by=BY_FOX, audience=None))
        await store.write(lambda tx: registered(tx, an_agent(f"{FOX}-2")))
        heard = await store.read(lambda tx: tx.journal.after(0, limit=9, audience=f"{FOX}-2"))
        assert actions(heard) == []

    async def test_the_end_is_announced_after_a_commit_that_wrote_facts(self, store: Store) -> None:
        heard: asyncio.Queue[int] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def listener(position: int) -> None:
            assert asyncio.get_running_loop() is loop
            heard.put_nowait(position)

        store.announce_to(listener)
        await store.write(lambda tx: registered(tx, FOX))
        async with asyncio.timeout(5):
            first = await heard.get()
        assert first == await store.read(lambda tx: tx.journal.end())
        await store.write(lambda tx: tx.agents.touch(FOX, NOW + 1))
        with pytest.raises(Mishap):
            await store.write(_note_and_fail)
        await store.write(lambda tx: [noted(tx, "1", None), noted(tx, "2", None)])
        async with asyncio.timeout(5):
            second = await heard.get()
        assert second == await store.read(lambda tx: tx.journal.end())
        assert heard.empty()

    async def test_what_was_announced_can_be_read_at_once(self, store: Store) -> None:
        readings: list[asyncio.Task[tuple[int, int]]] = []

        async def read_up_to(position: int) -> tuple[int, int]:
            entries = await store.read(journal)
            return position, entries[-1].position

        def listener(position: int) -> None:
            readings.append(asyncio.create_task(read_up_to(position)))
            announced.set()

        announced = asyncio.Event()
        store.announce_to(listener)
        await asyncio.gather(*(store.write(lambda tx, n=n: noted(tx, str(n), None)) for n in range(20)))
        end = await store.read(lambda tx: tx.journal.end())
        async with asyncio.timeout(5):
            while not readings or (await readings[-1])[0] != end:
                announced.clear()
                await announced.wait()
        results = [await reading for reading in readings]
        assert all(read >= announced for announced, read in results)
        assert [announced for announced, _ in results] == sorted({announced for announced, _ in results})

    async def test_recent_entries_are_those_of_the_journal_or_unknown(self, store: Store) -> None:
        for number in range(20):
            await store.write(lambda tx, number=number: noted(tx, str(number), (FOX,)))
            await asyncio.gather(store.write(_note_and_fail), return_exceptions=True)
            await store.write(posted)
        entries = list(await store.read(journal))
        for position in (0, *(entry.position for entry in entries)):
            recent = store.recent(position)
            assert recent is None or list(recent) == [entry for entry in entries if entry.position > position]

    async def test_recent_entries_of_a_reopened_store_are_right_too(self, store: Store, directory: Path) -> None:
        await store.write(lambda tx: [noted(tx, str(number), None) for number in range(5)])
        await store.close()
        async with self.opened(directory) as again:
            await again.write(posted)
            entries = list(await again.read(journal))
            for position in (0, *(entry.position for entry in entries)):
                recent = again.recent(position)
                assert recent is None or list(recent) == [e for e in entries if e.position > position]


def _note_and_fail(tx: Transaction) -> None:
    noted(tx, "never", None)
    raise Mishap
