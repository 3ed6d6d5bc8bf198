"""What all records of contact have in common, from asks to attention."""

from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

from rookery.domain.approvals import Approval, Held
from rookery.domain.asks import Ask
from rookery.domain.permissions import Rule
from rookery.domain.tasks import Task
from rookery.domain.traces import Attention, Trace
from rookery.ports import Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.export import exported, loaded
from rookery.testing.stores.samples import BEAR, FOX, NOW, OWL

ODD = "what breaks: 'é' \"🦊\"\n\t\0 %s {} --"

ASK = Ask(
    message_id="m-1", asker=FOX, target=OWL, depth=2, asked_at=NOW, deadline=NOW + 9, state="failed",
    answer_id="m-2", error=ODD, ended_at=NOW + 8,
)  # fmt: skip
TASK = Task(
    id="task-1", requester=FOX, assignee=OWL, request=ODD, context=ODD, parent="task-0", priority="urgent",
    status="failed", origin="dm:x:y", trace="m-1", hops=3, request_id="m-2", message_id="m-2", not_before=NOW + 1,
    created_at=NOW, started_at=NOW + 2, ended_at=NOW + 3, ended_by=BEAR, result=ODD, error=ODD,
)  # fmt: skip
RULE = Rule(agent=FOX, target="*", permission="allow", requires_approval=True)
APPROVAL = Approval(
    id="a-1", kind="tool", agent=FOX, tool=ODD, arguments=(("to", OWL), (ODD, ODD)), nonce="n", digest="d",
    created_at=NOW, expires_at=NOW + 9, status="denied", key=ODD, answered_at=NOW + 1, answered_by="operator",
    note=ODD, used_at=NOW + 2, previous_status="working",
)  # fmt: skip
HELD = Held(
    message_id="m-3", approval="a-1", sender=FOX, to="#ops", content=ODD, pattern="ask", context=ODD,
    priority="high", metadata='{"a": "é"}', reply_to="m-1", ttl=5, trace="m-1", hops=4, task="task-1", depth=2,
    timeout=60, origin="dm:x:y",
)  # fmt: skip
TRACE = Trace(id="m-1", messages=51, hops=17, granted_messages=50, granted_hops=16, state="paused", question="a-1")
ATTENTION = Attention(
    agent=FOX, message_id="m-1", conversation="dm:x:y", trace="m-0", hops=3, task="task-1", at=NOW
)


@dataclass(frozen=True, slots=True)
class Noun:
    """How to put a record of one kind, and how to find it again. `full` has every field set, `bare` none that
    need not be; `changed` replaces `full`."""

    full: Any
    bare: Any
    changed: Any
    put: Callable[[Transaction, Any], None]
    get: Callable[[Transaction, Any], Any]


def _rule(tx: Transaction, rule: Rule) -> Rule | None:
    return next((each for each in tx.rules.of(rule.agent) if each.target == rule.target), None)


NOUNS: dict[str, Noun] = {
    "ask": Noun(
        ASK,
        Ask(message_id="m-9", asker=OWL, target=BEAR, depth=1, asked_at=NOW, deadline=NOW),
        replace(ASK, state="open", error=None, deadline=NOW + 99),
        lambda tx, ask: tx.asks.put(ask),
        lambda tx, ask: tx.asks.get(ask.message_id),
    ),
    "task": Noun(
        TASK,
        Task(id="task-9", requester=OWL, assignee=BEAR, request="r", origin="o", created_at=NOW),
        replace(TASK, status="active", assignee=BEAR, not_before=None, parent=None),
        lambda tx, task: tx.tasks.put(task),
        lambda tx, task: tx.tasks.get(task.id),
    ),
    "rule": Noun(
        RULE,
        Rule(agent=FOX, target=OWL, permission="deny"),
        Rule(agent=FOX, target="*", permission="deny"),
        lambda tx, rule: tx.rules.put(rule),
        _rule,
    ),
    "approval": Noun(
        APPROVAL,
        Approval(
            id="a-9", kind="trace", agent=OWL, tool="t", arguments=(), nonce="n", digest="d", created_at=NOW,
            expires_at=NOW,
        ),
        replace(APPROVAL, status="pending", key=None, expires_at=NOW + 99),
        lambda tx, approval: tx.approvals.put(approval),
        lambda tx, approval: tx.approvals.get(approval.id),
    ),
    "held": Noun(
        HELD,
        Held(message_id="m-9", approval="a-9", sender=OWL, to=FOX, content=""),
        replace(HELD, approval="a-2", content="other"),
        lambda tx, held: tx.held.put(held),
        lambda tx, held: tx.held.get(held.message_id),
    ),
    "trace": Noun(
        TRACE,
        Trace(id="m-9"),
        replace(TRACE, state="open", question=None, messages=52),
        lambda tx, trace: tx.traces.put(trace),
        lambda tx, trace: tx.traces.get(trace.id),
    ),
    "attention": Noun(
        ATTENTION,
        replace(ATTENTION, agent=OWL, task=None),
        replace(ATTENTION, message_id="m-2", task=None, at=NOW + 1),
        lambda tx, attention: tx.attention.put_many([attention]),
        lambda tx, attention: tx.attention.of(attention.agent),
    ),
}  # fmt: skip
LISTINGS: dict[str, Callable[[Transaction], Sequence[Any]]] = {
    "ask": lambda tx: tx.asks.all(),
    "task": lambda tx: tx.tasks.all(),
    "rule": lambda tx: tx.rules.all(),
    "approval": lambda tx: tx.approvals.all(),
}

each_noun = pytest.mark.parametrize("noun", NOUNS.values(), ids=list(NOUNS))
each_listing = pytest.mark.parametrize(
    ("noun", "listed"), [(NOUNS[name], listed) for name, listed in LISTINGS.items()], ids=list(LISTINGS)
)


class PaperContract(StoreCase):
    @each_noun
    async def test_it_is_kept_with_every_field(self, store: Store, directory: Path, noun: Noun) -> None:
        defaults = {each.name: each.default for each in fields(noun.full) if each.default is not MISSING}
        unset = [name for name, default in defaults.items() if getattr(noun.full, name) == default]
        assert unset == [], "the sample has to set every field, or else it proves little"

        def look(tx: Transaction) -> list[Any]:
            return [noun.get(tx, each) for each in (noun.full, noun.bare)]

        await store.write(lambda tx: [noun.put(tx, each) for each in (noun.full, noun.bare)])
        assert await store.read(look) == [noun.full, noun.bare]
        await store.close()
        async with self.opened(directory) as again:
            assert await again.read(look) == [noun.full, noun.bare]

    @each_noun
    async def test_what_never_was_is_none(self, store: Store, noun: Noun) -> None:
        assert await store.read(lambda tx: noun.get(tx, noun.full)) is None
        await store.write(lambda tx: noun.put(tx, noun.bare))
        assert await store.read(lambda tx: noun.get(tx, noun.full)) is None
        assert await store.write(lambda tx: noun.get(tx, noun.full)) is None

    @each_noun
    async def test_putting_it_again_replaces_it(self, store: Store, directory: Path, noun: Noun) -> None:
        def look(tx: Transaction) -> list[Any]:
            return [noun.get(tx, each) for each in (noun.full, noun.bare)]

        for each in (noun.full, noun.bare, noun.changed):
            await store.write(lambda tx, each=each: noun.put(tx, each))
        for at_work in (store.read, store.write):
            assert await at_work(look) == [noun.changed, noun.bare]
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(look) == [noun.changed, noun.bare]

    @each_noun
    async def test_it_is_read_back_within_the_work_that_put_it(self, store: Store, noun: Noun) -> None:
        def work(tx: Transaction) -> list[Any]:
            noun.put(tx, noun.full)
            first = noun.get(tx, noun.full)
            noun.put(tx, noun.changed)
            return [first, noun.get(tx, noun.full)]

        assert await store.write(work) == [noun.full, noun.changed]

    @each_noun
    async def test_it_cannot_be_put_inside_a_read(self, store: Store, noun: Noun) -> None:
        await store.write(lambda tx: noun.put(tx, noun.full))
        for each in (noun.bare, noun.changed):
            with pytest.raises(Exception):  # noqa: B017, PT011 - any will do, so long as it is refused
                await store.read(lambda tx, each=each: noun.put(tx, each))
        assert await store.read(lambda tx: noun.get(tx, noun.full)) == noun.full
        assert await store.read(lambda tx: noun.get(tx, noun.bare)) is None

    @each_noun
    async def test_a_rebuild_leaves_it_as_it_is(self, store: Store, noun: Noun) -> None:
        for each in (noun.full, noun.bare, noun.changed):
            await store.write(lambda tx, each=each: noun.put(tx, each))
        before = await exported(store)
        await store.rebuild(lambda _: None)
        assert await exported(store) == before

    @each_noun
    async def test_an_export_carries_it(self, store: Store, tmp_path: Path, noun: Noun) -> None:
        await store.write(lambda tx: [noun.put(tx, each) for each in (noun.full, noun.bare)])
        records = await exported(store)
        (tmp_path / "second").mkdir()
        async with self.opened(tmp_path / "second") as copy:
            await loaded(copy, records)
            for each in (noun.full, noun.bare):
                assert await copy.read(lambda tx, each=each: noun.get(tx, each)) == each
            assert await exported(copy) == records

    @each_noun
    async def test_a_store_that_holds_nothing_else_is_not_empty(self, store: Store, noun: Noun) -> None:
        records = await exported(store)
        await store.write(lambda tx: noun.put(tx, noun.full))
        with pytest.raises(Exception, match=r"\w"):
            await loaded(store, records)
        assert await store.read(lambda tx: noun.get(tx, noun.full)) == noun.full

    @each_listing
    async def test_all_of_them_are_listed_in_the_order_they_came(
        self, store: Store, directory: Path, noun: Noun, listed: Callable[[Transaction], Sequence[Any]]
    ) -> None:
        assert list(await store.read(listed)) == []
        for each in (noun.full, noun.bare, noun.changed):  # the last one takes the place of the first
            await store.write(lambda tx, each=each: noun.put(tx, each))
        assert list(await store.read(listed)) == [noun.changed, noun.bare]
        await self.crash(store)
        async with self.opened(directory) as again:
            assert list(await again.read(listed)) == [noun.changed, noun.bare]
