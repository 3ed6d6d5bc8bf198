"""Random histories: the real services over a real store, step by step beside a plain model of it.

After every step, and after every crash, three things must be one: the model, the state in the store, and the
state that follows from the journal alone. That is also what "a change and its fact are seen together" means.
"""

import asyncio
from collections import Counter

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from rookery.domain.deliveries import Delivery
from rookery.domain.events import MessageSent
from rookery.domain.ids import HUB, OPERATOR
from rookery.domain.messages import Message
from rookery.ports import InboxItem, Transaction
from rookery.services.messaging import Receipt
from rookery.services.posting import Letter
from rookery.testing.stores.contact_traffic import ContactTraffic
from rookery.testing.stores.samples import Mishap, a_task, asked, handed_over, journal
from rookery.testing.stores.switchboard import CLAIM_RULES
from rookery.testing.stores.world import THE_OPERATOR, picks


class StoreMachine(ContactTraffic):
    """The day's traffic, and what befalls it: time, haste, failures, pruning, crashes."""

    # -- time ------------------------------------------------------------------------------------------

    @rule(milliseconds=st.sampled_from([1, 3_000]))
    def time_passes(self, milliseconds: int) -> None:
        self.hub.clock.move_on(milliseconds)

    @rule(after=st.sampled_from([0, 11_000, 11_000]))
    def silent_agents_lose_their_claims(self, after: int) -> None:
        self.hub.clock.move_on(after)
        lost = self.model.silent_claims(self.now() - CLAIM_RULES.silence)
        assert self.run(self.hub.expiry.expire_claims()) == len(lost)
        buried: list[Delivery] = []
        for delivery in lost:
            reopened = delivery.claim_expired()
            self.model.save(reopened)
            if reopened.expiries >= CLAIM_RULES.most:
                holder = self.model.agents[delivery.claimed_by or ""].name
                reason = f"claimed and lost {reopened.expiries} times, last by {holder}"
                buried.append(reopened.completed(self.now(), HUB, "dead", error=reason))
        self.bury(buried)

    @rule(after=st.sampled_from([0, 6_000]))
    def late_messages_die(self, after: int) -> None:
        self.hub.clock.move_on(after)
        late = self.model.late(self.now())
        assert self.run(self.hub.expiry.expire_messages()) == len(late)
        reason = "its time to live passed before anybody took it"
        self.bury([delivery.completed(self.now(), HUB, "dead", error=reason) for delivery in late])

    def bury(self, dead: list[Delivery]) -> None:
        """The sender of each, if it is still there, must have been told; of a broadcast it is not."""
        for delivery in dead:
            self.model.save(delivery)
        told = self.unknown()
        parents = [self.model.messages[delivery.message_id] for delivery in dead]
        assert Counter(notice.reply_to for notice in told) == Counter(
            parent.id for parent in parents if parent.type != "broadcast" and self.hears(parent.sender)
        )
        for notice in told:
            assert (notice.type, notice.sender) == ("notice", HUB)
            assert notice.recipient == self.model.messages[notice.reply_to or ""].sender
            self.model.sent(notice, [notice.recipient])

    def hears(self, party: str) -> bool:
        agent = self.model.agents.get(party)
        return party == OPERATOR or (agent is not None and agent.living)

    # -- haste -----------------------------------------------------------------------------------------

    @rule(who=picks, hands=st.integers(2, 4))
    def several_claim_at_once_and_each_message_has_one_winner(self, who: int, hands: int) -> None:
        agent = self.agent(who)
        claimers = [(THE_OPERATOR, self.principal(agent.id))[hand % 2] for hand in range(hands)]

        async def claim() -> list[InboxItem | None]:
            return await asyncio.gather(*(self.claim(by, agent.id) for by in claimers))

        for by, item in zip(claimers, self.run(claim()), strict=True):
            expected = self.model.next_open(agent.id, self.now())
            if expected is not None:
                expected = expected.claimed(self.now(), by.id, "rest")
            self.same_item(item, expected)

    @precondition(lambda self: self.model.deliveries)
    @rule(which=picks)
    def a_socket_is_given_a_message(self, which: int) -> None:
        message_id, recipient = list(self.model.deliveries)[which % len(self.model.deliveries)]
        entries = [
            entry
            for entry in self.run(self.hub.store.read(journal))
            if isinstance(entry.fact, MessageSent) and entry.fact.message_id == message_id
        ]

        async def hand_off() -> None:
            self.hub.relay.handed_off(recipient, entries, "websocket")
            await self.hub.relay.stop()  # which writes down what is still in memory

        self.run(hand_off())
        self.model.save(self.model.deliveries[message_id, recipient].handed_off(self.now(), "websocket"))

    # -- failures --------------------------------------------------------------------------------------

    @rule(sender=picks, to=picks, changes=st.integers(0, 5))
    def a_work_fails_half_way_between_two_sends(self, sender: int, to: int, changes: int) -> None:
        by, target = self.speaker(sender), self.agent(to).id
        target = OPERATOR if by.id == target else target
        drafts = [self.draft(target), self.draft(target)]

        async def send() -> tuple[Receipt, object, Receipt]:
            send = self.hub.messaging.send
            work = self.hub.store.write(lambda tx: self.break_off(tx, changes))
            before, broken, after = await asyncio.gather(
                send(by, drafts[0]), work, send(by, drafts[1]), return_exceptions=True
            )
            assert isinstance(before, Receipt)
            assert isinstance(after, Receipt)
            return before, broken, after

        before, broken, after = self.run(send())
        assert isinstance(broken, Mishap)
        self.accepted(before, by.id, [target])
        self.accepted(after, by.id, [target])

    def break_off(self, tx: Transaction, changes: int) -> None:
        """Raise after the given number of changes, none of which may be found later."""
        agent = self.agent(changes)
        if changes > 0:
            tx.agents.touch(agent.id, self.now() + 99_999)
        if changes > 1:
            letter = Letter(sender=HUB, recipient=agent.id, recipients=(agent.id,), type="notice", content="never")
            self.hub.posting.post(tx, letter, now=self.now(), by=THE_OPERATOR)
        if changes > 2 and (delivery := tx.deliveries.next_open(agent.id, self.now())):
            tx.deliveries.save(delivery.claimed(self.now(), agent.id, "rest"))
        if changes > 3:
            asked(tx, to=agent.id)
            handed_over(tx, a_task(tx.tasks.next_number()))
        if changes > 4:
            tx.prune(before=self.now() + 1, folders=("new", "cur", "done", "dead"))
        raise Mishap

    # -- pruning ---------------------------------------------------------------------------------------

    @rule(age=st.sampled_from([0, 0, 3_000]))
    def the_operator_prunes(self, age: int) -> None:
        before = self.now() - age
        count = self.run(self.hub.inbox.prune(THE_OPERATOR, before=before, folders=("done", "dead")))
        assert count == self.model.pruned(before)

    # -- crashes ---------------------------------------------------------------------------------------

    @rule()
    def the_hub_is_restarted(self) -> None:
        self.run(self.hub.stop())
        self.run(self.hub.start())

    @rule(sender=picks, to=picks, sends=st.integers(0, 5), turns=st.integers(1, 3))
    def the_hub_dies_in_the_middle(self, sender: int, to: int, sends: int, turns: int) -> None:
        """What was answered is there; what was not is there as a whole or not at all, and in order."""
        by, target = self.speaker(sender), self.agent(to).id
        target = OPERATOR if by.id == target else target
        drafts = [self.draft(target) for _ in range(sends)]

        async def die() -> list[Message]:
            tasks = [asyncio.create_task(self.hub.messaging.send(by, draft)) for draft in drafts]
            for _ in range(turns):
                await asyncio.sleep(0)
            await self.crash(self.hub.store)
            if tasks:
                await asyncio.wait(tasks, timeout=5)
            for task in tasks:
                task.cancel()
            await asyncio.gather(self.hub.relay.stop(), return_exceptions=True)
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            return [outcome.message for outcome in outcomes if isinstance(outcome, Receipt)]

        answered = self.run(die())
        self.run(self.hub.start())
        kept = self.unknown()
        assert kept[: len(answered)] == answered
        assert [message.content for message in kept] == [draft.content for draft in drafts][: len(kept)]
        for message in kept:
            self.model.sent(message, [target])
