"""A hub and the model of it, side by side; after every step they must agree."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from rookery.domain.agents import Agent
from rookery.domain.errors import RookeryError
from rookery.domain.events import MessageSent
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message
from rookery.domain.principals import Principal
from rookery.ports import InboxQuery, Store, Transaction
from rookery.services.messaging import Draft
from rookery.testing.stores.laws import replayed, stored
from rookery.testing.stores.model import Model
from rookery.testing.stores.samples import journal
from rookery.testing.stores.switchboard import Switchboard

T = TypeVar("T")
THE_OPERATOR = Principal(OPERATOR, "token-of-operator")
ORDERS: tuple[Literal["arrival", "latest", "urgency"], ...] = ("arrival", "latest", "urgency")

picks = st.integers(0, 40)
"""Agents and messages are picked by number, counted round what there is: their ids differ from run to run."""


class World(RuleBasedStateMachine):
    def __init__(self, make_store: Callable[[Path], Store], crash: Callable[[Store], Awaitable[None]]) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._directory = Path(tempfile.mkdtemp(prefix="rookery-machine-"))
        self.crash = crash
        self.hub = Switchboard(make_store, self._directory)
        self.model = Model()
        self.texts = 0
        self.run(self.hub.start())

    def teardown(self) -> None:
        try:
            self.run(self.hub.stop())
        finally:
            self._runner.close()
            shutil.rmtree(self._directory, ignore_errors=True)

    def run(self, steps: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(steps)

    def refusal(self, steps: Coroutine[Any, Any, T]) -> T | type[RookeryError]:
        """What a call gives, or the kind of its refusal."""
        try:
            return self.run(steps)
        except RookeryError as refusal:
            return type(refusal)

    # -- whom and what the numbers mean ----------------------------------------------------------------

    def agent(self, pick: int) -> Agent:
        living = self.model.living()
        return living[pick % len(living)]

    def speaker(self, pick: int) -> Principal:
        """An agent, now and then the operator."""
        return THE_OPERATOR if pick % 5 == 4 else self.principal(self.agent(pick).id)

    def principal(self, agent_id: str) -> Principal:
        return Principal(agent_id, f"token-of-{agent_id}")

    def message(self, pick: int) -> Message:
        messages = list(self.model.messages.values())
        return messages[pick % len(messages)]

    def now(self) -> int:
        return self.hub.clock.now()

    def draft(self, to: str, **more: Any) -> Draft:
        self.texts += 1
        return Draft(to=to, content=f"text {self.texts}", **more)

    def unknown(self) -> list[Message]:
        """The messages in the store that the model has not heard of, in order of their facts."""
        entries = self.run(self.hub.store.read(journal))
        sent = [entry.message for entry in entries if isinstance(entry.fact, MessageSent) and entry.message]
        return [message for message in sent if message.id not in self.model.messages]

    # -- what must hold after every step -----------------------------------------------------------------

    @invariant()
    def the_model_the_state_and_the_journal_are_one(self) -> None:
        def look(tx: Transaction) -> None:
            expected, state = self.model.view(), stored(tx)
            assert state == expected
            assert replayed(tx) == state
            assert {agent.id: agent for agent in tx.agents.all()} == self.model.agents
            assert tx.tasks.next_number() == len(self.model.tasks) + 1

        self.run(self.hub.store.read(look))
        assert self.hub.store.report().messages == len(self.model.messages)

    @invariant()
    def every_inbox_is_listed_and_counted_as_it_should(self) -> None:
        def look(tx: Transaction) -> None:
            now = self.now()
            for owner in (OPERATOR, *(agent.id for agent in self.model.living())):
                query = InboxQuery(recipient=owner, now=now)
                for order in ORDERS:
                    ordered = replace(query, order=order)
                    assert list(tx.deliveries.inbox(ordered)) == self.model.inbox(ordered)
                unread = self.model.inbox(replace(query, unread_only=True))
                assert list(tx.deliveries.inbox(replace(query, unread_only=True))) == unread
                assert tx.deliveries.unread_count(owner, now) == len(unread)
                assert tx.deliveries.stats(owner) == self.model.stats(owner)
                assert tx.deliveries.next_open(owner, now) == self.model.next_open(owner, now)

        self.run(self.hub.store.read(look))
        self.hub.clock.move_on(1)  # no two steps in one millisecond
