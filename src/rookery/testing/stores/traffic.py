"""What agents and the operator do all day: come and go, write, claim, complete, read, clear."""

import asyncio
from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from rookery.domain.deliveries import Delivery, Outcome
from rookery.domain.errors import MessageNotFound, RookeryError
from rookery.domain.ids import BROADCAST, HUB, OPERATOR
from rookery.domain.messages import Message, Priority
from rookery.domain.principals import Principal
from rookery.ports import InboxItem
from rookery.services.agents import Change, Registration
from rookery.services.inbox import Completion
from rookery.services.messaging import Receipt
from rookery.testing.stores.world import THE_OPERATOR, World, picks

MOST_AGENTS = 4
priorities: st.SearchStrategy[Priority] = st.sampled_from(["normal", "low", "high", "urgent"])
outcomes: st.SearchStrategy[Outcome] = st.sampled_from(["done", "dead"])


class Traffic(World):
    # -- agents ----------------------------------------------------------------------------------------

    @initialize()
    def two_agents_come_and_write(self) -> None:
        self.an_agent_comes()
        self.an_agent_comes()
        for sender, priority, ttl in ((0, "normal", None), (1, "high", None), (4, "low", 5_000)):
            self.somebody_writes(sender, sender + 1, priority, ttl)
            self.hub.clock.move_on(1)
        self.somebody_tells_everybody(4)

    @precondition(lambda self: len(self.model.living()) < MOST_AGENTS)
    @rule()
    def an_agent_comes(self) -> None:
        name = f"builder{len(self.model.agents)}x"
        agent = self.run(self.hub.agents.register(THE_OPERATOR, Registration(name=name))).agent
        assert agent.id not in self.model.agents
        self.model.agents[agent.id] = agent

    @rule(who=picks, name=st.sampled_from(["Mason", "mason", "carver"]))
    def an_agent_changes(self, who: int, name: str) -> None:
        agent = self.agent(who)
        taken = {other.name.casefold() for other in self.model.living() if other.id != agent.id}
        change = Change(name=None if name.casefold() in taken else name, project=f"/den/{who}", status="working")
        self.model.agents[agent.id] = self.run(self.hub.agents.update(THE_OPERATOR, agent.id, change))

    @rule(who=picks)
    def an_agent_gives_a_sign_of_life(self, who: int) -> None:
        agent = self.agent(who)
        self.model.agents[agent.id] = self.run(self.hub.agents.heartbeat(self.principal(agent.id), agent.id))

    @precondition(lambda self: len(self.model.living()) > 2)
    @rule(who=picks)
    def an_agent_goes(self, who: int) -> None:
        agent = self.agent(who)
        self.run(self.hub.agents.delete(THE_OPERATOR, agent.name.upper()))
        self.model.deleted(agent, self.now())

    # -- messages --------------------------------------------------------------------------------------

    @rule(sender=picks, to=picks, priority=priorities, ttl=st.sampled_from([None, None, 5_000]))
    def somebody_writes(self, sender: int, to: int, priority: Priority, ttl: int | None) -> None:
        by, target = self.speaker(sender), self.agent(to).id
        if by.id == target:
            target = OPERATOR
        receipt = self.run(self.hub.messaging.send(by, self.draft(target, priority=priority, ttl=ttl)))
        self.accepted(receipt, by.id, [target])

    @rule(sender=picks)
    def somebody_tells_everybody(self, sender: int) -> None:
        by = self.speaker(sender)
        receipt = self.run(self.hub.messaging.send(by, self.draft(BROADCAST)))
        self.accepted(receipt, by.id, [agent.id for agent in self.model.living() if agent.id != by.id])

    @precondition(lambda self: self.model.deliveries)
    @rule(which=picks)
    def a_recipient_replies(self, which: int) -> None:
        message_id, recipient = list(self.model.deliveries)[which % len(self.model.deliveries)]
        message = self.model.messages[message_id]
        to = self.model.agents.get(message.sender)
        answerer = self.model.agents.get(recipient)
        if (to and not to.living) or (answerer and not answerer.living) or message.sender == HUB:
            return
        receipt = self.run(
            self.hub.messaging.send(self.principal(recipient), self.draft(message.sender, reply_to=message_id))
        )
        assert (receipt.message.reply_to, receipt.message.thread) == (message_id, message.thread)
        self.accepted(receipt, recipient, [message.sender])

    @rule(sender=picks, to=picks)
    def a_send_is_repeated_under_its_key(self, sender: int, to: int) -> None:
        by, target = self.speaker(sender), self.agent(to).id
        if by.id == target:
            return
        draft = self.draft(target, idempotency_key=f"key {self.texts}")

        async def twice() -> tuple[Receipt, Receipt]:
            one, other = await asyncio.gather(*(self.hub.messaging.send(by, draft) for _ in range(2)))
            return one, other

        first, second = self.run(twice())
        assert first.message == second.message
        assert sorted((first.repeated, second.repeated)) == [False, True]
        self.accepted(first, by.id, [target])

    def accepted(self, receipt: Receipt, sender: str, recipients: list[str]) -> None:
        assert receipt.message.sender == sender
        assert list(receipt.recipients) == recipients
        assert receipt.message.created_at == self.now()
        self.model.sent(receipt.message, recipients)

    # -- the inbox -------------------------------------------------------------------------------------

    @rule(who=picks, operated=st.booleans())
    def the_next_message_is_claimed(self, who: int, operated: bool) -> None:
        agent = self.agent(who)
        by = THE_OPERATOR if operated else self.principal(agent.id)
        expected = self.model.next_open(agent.id, self.now())
        if expected is not None:
            expected = expected.claimed(self.now(), by.id, "rest")
        self.same_item(self.refusal(self.claim(by, agent.id)), expected)

    @precondition(lambda self: self.model.messages)
    @rule(who=picks, which=picks, operated=st.booleans())
    def a_message_is_claimed_by_its_id(self, who: int, which: int, operated: bool) -> None:
        agent, message = self.agent(who), self.message(which)
        by = THE_OPERATOR if operated else self.principal(agent.id)
        expected = self.moved(message, agent.id, lambda delivery: delivery.claimed(self.now(), by.id, "rest"))
        self.same_item(self.refusal(self.claim(by, agent.id, message.id)), expected)

    @precondition(lambda self: self.model.messages)
    @rule(who=picks, which=picks, outcome=outcomes)
    def a_message_is_completed(self, who: int, which: int, outcome: Outcome) -> None:
        agent, message = self.agent(who), self.message(which)

        def complete(delivery: Delivery) -> Delivery:
            if delivery.folder == outcome and (delivery.result, delivery.error) == ("fine", None):
                return delivery  # saying the same twice is fine
            seen = delivery.seen(self.now(), "rest")
            return seen.completed(self.now(), agent.id, outcome, result="fine")

        expected = self.moved(message, agent.id, complete)
        how = Completion(outcome=outcome, result="fine")
        self.same_item(
            self.refusal(self.hub.inbox.complete(self.principal(agent.id), agent.id, message.id, how)),
            expected,
        )

    @precondition(lambda self: self.model.messages)
    @rule(who=picks, which=picks)
    def a_message_is_read(self, who: int, which: int) -> None:
        agent, message = self.agent(who), self.message(which)
        expected = self.moved(message, agent.id, lambda delivery: delivery.seen(self.now(), "rest"))
        found = self.refusal(self.hub.inbox.read(self.principal(agent.id), agent.id, message.id))
        self.same_item(found, expected)

    async def claim(self, by: Principal, agent: str, message_id: str | None = None) -> InboxItem | None:
        owner, item = await self.hub.inbox.claim(by, agent, message_id)
        assert owner == agent
        return item

    def moved(
        self, message: Message, recipient: str, move: Callable[[Delivery], Delivery]
    ) -> Delivery | type[RookeryError]:
        """What the model says a move leads to."""
        delivery = self.model.deliveries.get((message.id, recipient))
        if delivery is None or delivery.cleared_at is not None:
            return MessageNotFound
        try:
            return move(delivery)
        except RookeryError as refusal:
            return type(refusal)

    def same_item(
        self, found: InboxItem | type[RookeryError] | None, expected: Delivery | type[RookeryError] | None
    ) -> None:
        if isinstance(expected, Delivery):
            self.model.save(expected)
            assert found == InboxItem(self.model.messages[expected.message_id], expected)
        else:
            assert found == expected

    @rule(who=picks, which=st.one_of(st.none(), st.lists(picks, max_size=3)))
    def an_inbox_is_cleared(self, who: int, which: list[int] | None) -> None:
        agent = self.agent(who)
        if which is None:
            ids = None
        else:
            ids = [self.message(pick).id for pick in which] if self.model.messages else ["0" * 26]
        taken = [d for d in self.model.of(agent.id) if ids is None or d.message_id in ids]
        _, count = self.run(self.hub.inbox.clear(self.principal(agent.id), agent.id, ids))
        assert count == len(taken)
        for delivery in taken:
            self.model.save(delivery.cleared(self.now()))
