"""Whole histories: a fixed one that knows every kind of fact, and random ones beside a model."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from rookery.domain.agents import Agent
from rookery.domain.events import (
    ApprovalAnswered,
    ApprovalUsed,
    Fact,
    MessageDropped,
    MessageSent,
    TaskPosted,
    TaskStarted,
)
from rookery.domain.ids import BROADCAST
from rookery.domain.principals import Principal
from rookery.ports import Transaction
from rookery.services.agents import Change, Registration
from rookery.services.inbox import Completion
from rookery.services.messaging import Draft
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.held import FIRST
from rookery.testing.stores.laws import replayed, stored
from rookery.testing.stores.machine import StoreMachine
from rookery.testing.stores.rules import TO_ANYBODY, TO_OWL, removed
from rookery.testing.stores.samples import (
    BY_FOX,
    FOX,
    NOW,
    OWL,
    a_task,
    an_approval,
    ask_ended,
    asked,
    handed_over,
    held_back,
    journal,
    registered,
    requested,
    ruled,
    task_ended,
)
from rookery.testing.stores.switchboard import CLAIM_RULES, Switchboard
from rookery.testing.stores.world import THE_OPERATOR

EXAMPLES_PER_HISTORY = 5
"""A history of many steps is worth several examples of a plain property."""


def of(agent: Agent) -> Principal:
    return Principal(agent.id, f"token-of-{agent.id}")


def contact_is_made(tx: Transaction) -> None:
    """Each fact of contact, and the change that it tells of."""
    registered(tx, FOX, OWL)
    ask = asked(tx)
    ask_ended(tx, ask.answered(NOW, "m-2"))
    task = a_task(tx.tasks.next_number())
    handed_over(tx, task)
    posted, started = task.posted(ask.message_id), task.posted(ask.message_id).started(NOW)
    for fact in (TaskPosted(task=posted), TaskStarted(task=started)):
        tx.tasks.put(fact.task)
        tx.journal.record(fact, at=NOW, by=BY_FOX, audience=())
    task_ended(tx, started.ended(NOW, OWL, "completed", result="done"))
    ruled(tx, TO_OWL, TO_ANYBODY)
    removed(tx, TO_OWL)
    approval = an_approval("a-1")
    requested(tx, approval)
    answered = approval.answered(NOW, "operator", "denied")
    for fact in (ApprovalAnswered(approval=answered), ApprovalUsed(approval=answered.used(NOW))):
        tx.approvals.put(fact.approval)
        tx.journal.record(fact, at=NOW, by=BY_FOX, audience=())
    held_back(tx, FIRST)
    tx.held.remove(FIRST.message_id)
    dropped = MessageDropped(message_id=FIRST.message_id, approval="a-1", sender=FOX, recipient=OWL)
    tx.journal.record(dropped, at=NOW, by=BY_FOX, audience=())


class HistoryContract(StoreCase):
    def test_random_histories_agree_with_the_model(self) -> None:
        profile = settings.default
        assert profile is not None
        machine: Any = lambda: StoreMachine(self.make_store, self.crash)  # noqa: E731 - any maker of machines will do
        run_state_machine_as_test(
            machine,
            settings=settings(
                profile,
                max_examples=max(1, profile.max_examples // EXAMPLES_PER_HISTORY),
                stateful_step_count=40,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            ),
        )

    @pytest.fixture
    async def hub(self, directory: Path) -> AsyncIterator[Switchboard]:
        hub = Switchboard(self.make_store, directory)
        await hub.start()
        yield hub
        await hub.stop()

    async def test_the_journal_from_its_start_gives_the_present_state(self, hub: Switchboard) -> None:
        await self.everything_happens(hub)
        kinds = {type(entry.fact) for entry in await hub.store.read(journal)}
        assert kinds == set(get_args(Fact))
        assert await hub.store.read(replayed) == await hub.store.read(stored)

    async def test_the_law_still_holds_after_a_crash(self, hub: Switchboard) -> None:
        await self.everything_happens(hub)
        before = await hub.store.read(stored)
        await self.crash(hub.store)
        await hub.start()
        assert await hub.store.read(stored) == before
        assert await hub.store.read(replayed) == before

    async def everything_happens(self, hub: Switchboard) -> None:
        await hub.store.write(contact_is_made)  # first, for its agents have ids that a later one may draw
        fox, owl, bear = [
            (await hub.agents.register(THE_OPERATOR, Registration(name=name))).agent
            for name in ("fox", "owl", "bear")
        ]
        await hub.agents.update(of(fox), fox.id, Change(name="vixen", project="/den", status="working"))
        question = (await hub.messaging.send(of(fox), Draft(to="owl", content="question"))).message
        await hub.messaging.send(of(owl), Draft(to="vixen", content="answer", reply_to=question.id))
        await hub.channels.create(of(fox), "build", members=["owl", "bear"])
        await hub.channels.create(THE_OPERATOR, "ops")
        await hub.channels.join(of(owl), "#ops")
        asked = (await hub.messaging.send(of(fox), Draft(to="#build", content="@owl @bear?"))).message
        await hub.messaging.send(of(bear), Draft(to="#build", content="nobody", reply_to=asked.id))
        await hub.channels.leave(of(owl), "build")
        await hub.channels.archive(of(fox), "build")
        shout = (await hub.messaging.send(THE_OPERATOR, Draft(to=BROADCAST, content="all"))).message
        entries = await hub.store.read(journal)
        shouted = [entry for entry in entries if entry.message and entry.message.id == shout.id]
        assert isinstance(shouted[0].fact, MessageSent)
        hub.relay.handed_off(owl.id, shouted, "websocket")
        await hub.relay.stop()
        await hub.inbox.read(of(owl), owl.id, shout.id)
        await hub.inbox.claim(of(owl), owl.id)
        for _ in range(CLAIM_RULES.most):
            await hub.inbox.claim(of(bear), bear.id)
            hub.clock.move_on(CLAIM_RULES.silence + 1)
            assert await hub.expiry.expire_claims() > 0
        await hub.inbox.complete(of(owl), owl.id, question.id, Completion(outcome="dead", error="too hard"))
        hub.clock.move_on(1)
        finished = (await hub.messaging.send(of(owl), Draft(to=bear.id, content="old"))).message
        await hub.inbox.complete(of(bear), bear.id, finished.id, Completion())
        await hub.messaging.send(of(fox), Draft(to=bear.id, content="brief", ttl=5))
        hub.clock.move_on(6)
        assert await hub.expiry.expire_messages() == 1
        await hub.messaging.send(of(owl), Draft(to="vixen", content="unseen"))
        await hub.inbox.clear(of(fox), fox.id)
        assert await hub.inbox.prune(THE_OPERATOR, before=hub.clock.now(), folders=("done",)) > 0
        await hub.access.record_refusal(of(bear), "prune", "only the operator may")
        await hub.messaging.send(of(owl), Draft(to=bear.id, content="too late"))
        await hub.agents.delete(THE_OPERATOR, bear.id)
