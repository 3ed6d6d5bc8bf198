"""Works: all or nothing, in order of arrival, each for itself; and reading beside them."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from rookery.domain.asks import Ask
from rookery.domain.deliveries import Delivery
from rookery.domain.errors import Overloaded
from rookery.domain.events import MessageSent
from rookery.domain.messages import Message
from rookery.domain.pacing import Pace
from rookery.domain.traces import Trace
from rookery.ports import Sent, Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.held import FIRST, SECOND
from rookery.testing.stores.journal import noted
from rookery.testing.stores.messages import DM
from rookery.testing.stores.rules import TO_ANYBODY, TO_OWL
from rookery.testing.stores.samples import (
    BEAR,
    FOX,
    NOW,
    OWL,
    Mishap,
    a_channel,
    a_task,
    an_agent,
    an_approval,
    contents,
    journal,
    posted,
    registered,
    shouted,
)
from rookery.testing.stores.tokens import OTHER, TOKEN
from rookery.testing.stores.traces import attention

MOST_TRIED = 50_000
"""Works to pile up in front of a writer that stands still: some bound must show before that many."""

PRESENT_ASK = Ask(message_id="m-1", asker=FOX, target=OWL, depth=1, asked_at=NOW, deadline=NOW + 9)
ASK = Ask(message_id="m-2", asker=OWL, target=OWL, depth=2, asked_at=NOW, deadline=NOW + 9)

CHANGES: dict[str, Callable[[Transaction, Delivery], object]] = {
    "agents.add": lambda tx, _: tx.agents.add(an_agent(BEAR)),
    "agents.update": lambda tx, _: tx.agents.update(an_agent(FOX, "renamed")),
    "agents.touch": lambda tx, _: tx.agents.touch(FOX, NOW + 9),
    "messages.add": lambda tx, _: posted(tx, "never"),
    "messages.remember": lambda tx, d: tx.messages.remember(FOX, "k", Sent(message_id=d.message_id, digest=b"d")),
    "deliveries.save": lambda tx, d: tx.deliveries.save(d.seen(NOW, "rest")),
    "deliveries.save_many": lambda tx, d: tx.deliveries.save_many([d.seen(NOW, "rest")]),
    "journal.record": lambda tx, _: noted(tx, "never", None),
    "tokens.add": lambda tx, _: tx.tokens.add(OTHER),
    "tokens.revoke": lambda tx, _: tx.tokens.revoke(TOKEN.id, NOW),
    "channels.put": lambda tx, _: tx.channels.put(a_channel("build", FOX, BEAR)),
    "asks.put": lambda tx, _: tx.asks.put(ASK),
    "asks.put again": lambda tx, _: tx.asks.put(PRESENT_ASK.timed_out(NOW)),
    "tasks.put": lambda tx, _: tx.tasks.put(a_task(2)),
    "tasks.put again": lambda tx, _: tx.tasks.put(a_task(1).started(NOW)),
    "rules.put": lambda tx, _: tx.rules.put(TO_OWL),
    "rules.remove": lambda tx, _: tx.rules.remove(FOX, "*"),
    "approvals.put": lambda tx, _: tx.approvals.put(an_approval("a-2", key="k")),
    "approvals.put again": lambda tx, _: tx.approvals.put(an_approval("a-1").answered(NOW, FOX, "denied")),
    "held.put": lambda tx, _: tx.held.put(SECOND),
    "held.remove": lambda tx, _: tx.held.remove(FIRST.message_id),
    "traces.put": lambda tx, _: tx.traces.put(Trace(id="m-2")),
    "traces.put again": lambda tx, _: tx.traces.put(Trace(id="m-1", messages=9)),
    "attention.put_many": lambda tx, _: tx.attention.put_many([attention(OWL)]),
    "attention.put_many again": lambda tx, _: tx.attention.put_many([attention(FOX, "m-9")]),
    "pacing.put": lambda tx, _: tx.pacing.put(FOX, OWL, Pace(1, (NOW,))),
    "prune": lambda tx, _: tx.prune(before=NOW + 1, folders=("new",)),
}


def everything(tx: Transaction) -> dict[str, object]:
    """All that the changes above could have touched."""
    messages = list(tx.messages.history(DM, before=None, limit=1000))
    return {
        "agents": list(tx.agents.all()),
        "found": [tx.agents.find(name) for name in (FOX, BEAR, "swift.fox", "renamed")],
        "messages": messages,
        "deliveries": [list(tx.deliveries.of_message(message.id)) for message in messages],
        "journal": list(journal(tx)),
        "end": tx.journal.end(),
        "tokens": [tx.tokens.by_digest(token.digest) for token in (TOKEN, OTHER)],
        "channels": list(tx.channels.all()),
        "channel": tx.channels.get("build"),
        "asks": [list(tx.asks.all()), list(tx.asks.open_to(OWL)), list(tx.asks.overdue(NOW + 90_000, 9))],
        "tasks": [list(tx.tasks.all()), list(tx.tasks.recent(party=OWL, open_only=True, limit=9))],
        "number": tx.tasks.next_number(),
        "rules": [list(tx.rules.all()), list(tx.rules.of(FOX))],
        "approvals": [list(tx.approvals.all()), list(tx.approvals.pending()), tx.approvals.under_key(FOX, "k")],
        "held": [tx.held.get(held.message_id) for held in (FIRST, SECOND)],
        "traces": [tx.traces.get(trace_id) for trace_id in ("m-1", "m-2")],
        "attention": [tx.attention.of(agent) for agent in (FOX, OWL)],
        "pace": tx.pacing.get(FOX, OWL),
        "key": tx.messages.sent_under(FOX, "k"),
        "stats": tx.deliveries.stats(OWL),
        "queues": tx.deliveries.queue_stats(),
        "search": contents(tx.messages.search("never", party=None, limit=5)),
    }


class FurnishedCase(StoreCase):
    @pytest.fixture
    async def delivery(self, store: Store) -> Delivery:
        """One of everything in the store."""

        def work(tx: Transaction) -> Delivery:
            registered(tx, FOX, OWL)
            tx.channels.put(a_channel("build", FOX))
            tx.tokens.add(TOKEN)
            tx.asks.put(PRESENT_ASK)
            tx.tasks.put(a_task(1))
            tx.rules.put(TO_ANYBODY)
            tx.approvals.put(an_approval("a-1"))
            tx.held.put(FIRST)
            tx.traces.put(Trace(id="m-1"))
            tx.attention.put_many([attention(FOX)])
            delivery = tx.deliveries.get(posted(tx).id, OWL)
            assert delivery is not None
            return delivery

        return await store.write(work)


class TransactionContract(FurnishedCase):
    @pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
    async def test_a_work_that_raises_after_a_change_leaves_nothing(
        self,
        store: Store,
        delivery: Delivery,
        directory: Path,
        change: Callable[[Transaction, Delivery], object],
    ) -> None:
        mishap = Mishap("on purpose")

        def work(tx: Transaction) -> None:
            change(tx, delivery)
            raise mishap

        before = await store.read(everything)
        with pytest.raises(Mishap) as raised:
            await store.write(work)
        assert raised.value is mishap
        assert await store.read(everything) == before
        assert await store.write(everything) == before
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(everything) == before

    @pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
    async def test_neighbours_of_a_failed_work_find_nothing_of_it(
        self, store: Store, delivery: Delivery, change: Callable[[Transaction, Delivery], object]
    ) -> None:
        def failing(tx: Transaction) -> None:
            change(tx, delivery)
            raise Mishap

        def neighbour(tx: Transaction) -> dict[str, object]:
            found = everything(tx)
            tx.agents.touch(OWL, NOW + 1)
            posted(tx, "a neighbour's", sender=BEAR)
            return found

        before = await store.read(everything)
        first, failed, second = await asyncio.gather(
            store.write(neighbour), store.write(failing), store.write(neighbour), return_exceptions=True
        )
        assert isinstance(failed, Mishap)
        assert first == before
        assert isinstance(second, dict)
        touched = {"agents", "journal", "end", "stats", "queues"}  # by the first neighbour
        assert {name: second[name] for name in second.keys() - touched} == {
            name: before[name] for name in before.keys() - touched
        }
        assert (await store.read(lambda tx: tx.deliveries.stats(OWL))).new == 3
        assert [agent.id for agent in await store.read(lambda tx: tx.agents.living())] == [FOX, OWL]

    async def test_what_a_failed_work_read_of_its_own_changes_is_forgotten(self, store: Store) -> None:
        def look(tx: Transaction) -> list[object]:
            return [
                tx.agents.get(FOX),
                tx.agents.get(BEAR),
                *map(tx.agents.find, (FOX, BEAR, "renamed", "swift.fox")),
            ]

        def failing(tx: Transaction) -> None:
            registered(tx, BEAR)
            tx.agents.update(an_agent(FOX, "renamed"))
            assert look(tx)[4] == an_agent(FOX, "renamed")
            raise Mishap

        await store.write(lambda tx: registered(tx, FOX))
        before = await store.write(look)
        outcomes = await asyncio.gather(
            store.write(look), store.write(failing), store.write(look), return_exceptions=True
        )
        assert [outcomes[0], outcomes[2]] == [before, before]

    @pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
    async def test_a_change_is_kept_through_a_crash(
        self,
        store: Store,
        delivery: Delivery,
        directory: Path,
        change: Callable[[Transaction, Delivery], object],
    ) -> None:
        before = await store.read(everything)
        await store.write(lambda tx: change(tx, delivery) and None)
        changed = await store.read(everything)
        assert changed != before
        assert await store.write(everything) == changed
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(everything) == changed

    async def test_a_work_sees_its_own_changes(self, store: Store) -> None:
        def work(tx: Transaction) -> tuple[object, ...]:
            registered(tx, FOX)
            message = posted(tx)
            return (
                tx.agents.find(FOX),
                tx.messages.get(message.id),
                len(tx.deliveries.of_message(message.id)),
                message,
            )

        agent, message, deliveries, sent = await store.write(work)
        assert (agent, message, deliveries) == (an_agent(FOX), sent, 1)

    async def test_a_write_gives_back_what_its_work_returned(self, store: Store) -> None:
        result = object()
        assert await store.write(lambda _: result) is result
        assert await store.read(lambda _: result) is result

    async def test_works_that_arrive_together_are_done_in_order_of_arrival(self, store: Store) -> None:
        def numbered(number: int) -> Callable[[Transaction], Message]:
            return lambda tx: posted(tx, str(number), to=(OWL, BEAR)[number % 2])

        await asyncio.gather(*(store.write(numbered(number)) for number in range(200)))
        entries = await store.read(journal)
        sent = [
            entry.message.content for entry in entries if isinstance(entry.fact, MessageSent) and entry.message
        ]
        assert sent == [str(number) for number in range(200)]

    async def test_a_work_that_fails_does_not_disturb_its_neighbours(self, store: Store) -> None:
        def failing(tx: Transaction) -> None:
            registered(tx, BEAR)
            shouted(tx, "never", (OWL,))
            posted(tx, "never")
            raise Mishap

        works: list[Callable[[Transaction], Message | None]] = [
            failing if n % 3 == 1 else (lambda tx, n=n: posted(tx, str(n))) for n in range(60)
        ]
        outcomes = await asyncio.gather(*(store.write(work) for work in works), return_exceptions=True)
        assert [isinstance(outcome, Mishap) for outcome in outcomes] == [n % 3 == 1 for n in range(60)]
        kept = await store.read(lambda tx: tx.messages.history(DM, before=None, limit=1000))
        assert list(kept) == [outcome for outcome in outcomes if isinstance(outcome, Message)]
        assert await store.read(lambda tx: tx.agents.get(BEAR)) is None
        assert len(await store.read(journal)) == 2 * len(kept)

    async def test_each_work_has_its_effect_once_however_often_it_is_run(self, store: Store) -> None:
        def counted(tx: Transaction) -> int:
            level = tx.pacing.get(FOX, OWL).level + 1
            tx.pacing.put(FOX, OWL, Pace(level, ()))
            return level

        def failing(tx: Transaction) -> int:
            counted(tx)
            raise Mishap

        works = [failing if n % 5 == 0 else counted for n in range(50)]
        outcomes = await asyncio.gather(*(store.write(work) for work in works), return_exceptions=True)
        assert [outcome for outcome in outcomes if isinstance(outcome, int)] == list(range(1, 41))
        assert (await store.read(lambda tx: tx.pacing.get(FOX, OWL))).level == 40

    async def test_a_caller_who_gives_up_does_not_disturb_the_others(self, store: Store) -> None:
        tasks = [asyncio.create_task(store.write(posted)) for _ in range(20)]
        await asyncio.sleep(0)
        for task in tasks[::4]:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        answered = [outcome for outcome in outcomes if isinstance(outcome, Message)]
        assert len(answered) >= 15
        kept = await store.read(lambda tx: tx.messages.history(DM, before=None, limit=1000))
        assert {message.id for message in answered} <= {message.id for message in kept}
        assert [message.seq for message in kept] == list(range(1, len(kept) + 1))

    async def test_only_one_of_many_claimers_gets_a_message(self, store: Store) -> None:
        await store.write(posted)

        def claim(tx: Transaction) -> bool:
            delivery = tx.deliveries.next_open(OWL, NOW)
            if delivery is not None:
                tx.deliveries.save(delivery.claimed(NOW, OWL, "rest"))
            return delivery is not None

        assert sum(await asyncio.gather(*(store.write(claim) for _ in range(50)))) == 1

    async def test_too_many_waiting_works_are_refused_and_the_others_done(self, store: Store) -> None:
        stand_still = threading.Event()
        blocked = asyncio.create_task(store.write(lambda _: stand_still.wait(30) and None))
        waiting: list[asyncio.Task[None]] = []
        refused: list[asyncio.Task[None]] = []
        try:
            while not refused and len(waiting) < MOST_TRIED:
                batch = [asyncio.create_task(store.write(lambda _: None)) for _ in range(500)]
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                refused += [task for task in batch if task.done()]
                waiting += [task for task in batch if not task.done()]
        finally:
            stand_still.set()
        assert refused, "the store let works pile up without a bound"
        assert all(isinstance(task.exception(), Overloaded) for task in refused)
        await asyncio.gather(blocked, *waiting)
        await store.write(posted)
