"""Exchanges that go on without the operator: counted, paused with one question, continued or stopped."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rookery.domain.approvals import Decision
from rookery.domain.errors import TraceStopped
from rookery.domain.events import ApprovalRequested, AskOpened, MessageDropped, MessageHeld
from rookery.domain.traces import TraceRules
from rookery.services.contact import Wish
from tests.services.house import MINUTE, THE_OPERATOR, House, Member, a_house, contents

RULES = TraceRules(most_hops=4, most_messages=8)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with a_house(tmp_path / "data", traces=RULES) as house:
        yield house


async def reads(house: House, reader: Member) -> None:
    """Whatever lies there, as an agent that looks into its inbox does."""
    await house.hub.inbox.list(reader.principal, reader.id, mark_read=True)


async def exchanged(house: House, one: Member, other: Member, times: int) -> list[str | None]:
    """They write to one another in turn, each upon what it was given; what held each message back."""
    held: list[str | None] = []
    for _ in range(times):
        held.append((await house.send(one, other, "thank you")).held)
        await reads(house, other)
        one, other = other, one
    return held


async def test_messages_carry_where_they_come_from_and_how_far(house: House) -> None:
    one, other, third = await house.members("one", "other", "third")
    asked = (await house.send(THE_OPERATOR, one, "tell the others")).message
    await reads(house, one)
    told = (await house.send(one, other, "hello")).message
    await reads(house, other)
    passed_on = (await house.send(other, third, "hello")).message
    assert (asked.traced_to, asked.hops) == (asked.id, 0)
    assert [(m.traced_to, m.hops) for m in (told, passed_on)] == [(asked.id, 1), (asked.id, 2)]


async def test_who_was_given_nothing_begins_a_trace(house: House) -> None:
    one, other = await house.members("one", "other")
    message = (await house.send(one, other)).message
    assert (message.trace, message.traced_to, message.hops) == (None, message.id, 0)


async def test_a_reply_comes_of_what_it_answers_whatever_came_since(house: House) -> None:
    one, other, third = await house.members("one", "other", "third")
    first = (await house.send(one, other, "first")).message
    await house.send(third, other, "by the way")
    await reads(house, other)
    answer = (await house.send(other, one, "yes", reply_to=first.id)).message
    assert (answer.traced_to, answer.hops) == (first.id, 1)


async def test_what_was_given_long_ago_is_no_cause(house: House) -> None:
    one, other = await house.members("one", "other")
    await house.send(one, other)
    await reads(house, other)
    house.clock.move_on(RULES.remembered + 1)
    assert (await house.send(other, one)).message.trace is None


async def test_too_many_hops_are_held_under_one_question(house: House) -> None:
    one, other = await house.members("one", "other")
    held = await exchanged(house, one, other, 5)
    assert held == [None] * 5  # the first, and four hops
    last = await house.send(other, one, "no, thank you")
    assert last.held is not None
    assert "do not repeat it" in (last.told or "")
    again = await house.send(one, other, "thanks again")
    assert again.held == last.held
    (question,) = await house.hub.approvals.pending(THE_OPERATOR)
    assert (question.id, question.kind, question.agent) == (last.held, "trace", other.id)
    assert dict(question.arguments)["next"] == "no, thank you"
    assert len(await house.journal(ApprovalRequested)) == 1
    assert len(await house.journal(MessageHeld)) == 2
    assert contents(await house.inbox(one))[-1] == "thank you"


async def test_too_many_messages_are_held_however_few_the_hops(house: House) -> None:
    leader, *workers = await house.members("leader", "w1", "w2", "w3", "w4")
    plan = (await house.send(leader, workers[0], "plan")).message
    for number in range(RULES.most_messages - 1):
        sender = workers[0] if number % 2 else leader
        to = leader if number % 2 else workers[0]
        assert (await house.send(sender, to, f"note {number}", reply_to=plan.id)).held is None
    assert (await house.send(leader, workers[0], "one more", reply_to=plan.id)).held is not None


async def test_a_ring_of_three_is_noticed(house: House) -> None:
    ring = await house.members("one", "two", "three")
    held = []
    for number in range(7):
        sender, receiver = ring[number % 3], ring[(number + 1) % 3]
        held.append((await house.send(sender, receiver, "pass it on")).held is not None)
        await reads(house, receiver)
    assert held == [False] * 5 + [True] * 2


async def test_continue_lets_go_what_was_held_and_counts_anew(house: House) -> None:
    one, other = await house.members("one", "other")
    await exchanged(house, one, other, 5)
    held = await house.send(other, one, "and thank you")
    await house.hub.approvals.answer(THE_OPERATOR, held.held or "", "approve")
    (newest,) = [item for item in await house.inbox(one) if item.message.content == "and thank you"]
    assert newest.message.id == held.message.id  # the message that was promised
    await reads(house, one)
    held_again = await exchanged(house, one, other, 5)
    assert held_again[:3] == [None] * 3  # with the one that was let go, four hops
    assert held_again[3] == held_again[4] not in (None, held.held)


async def test_stop_drops_what_was_held_and_says_so(house: House) -> None:
    one, other = await house.members("one", "other")
    await exchanged(house, one, other, 5)
    held = await house.send(other, one, "and thank you")
    await house.hub.approvals.answer(THE_OPERATOR, held.held or "", "deny", note="Back to work.")
    assert "and thank you" not in contents(await house.inbox(one))
    assert contents(await house.inbox(other))[-1] == (
        "The operator stopped this exchange between agents; what you said last was not sent.\nBack to work."
    )
    assert len(await house.journal(MessageDropped)) == 1
    await reads(house, other)
    with pytest.raises(TraceStopped):
        await house.send(other, one, "but thank you")


async def test_the_operators_word_begins_anew(house: House) -> None:
    one, other = await house.members("one", "other")
    await exchanged(house, one, other, 5)
    await house.send(THE_OPERATOR, other, "go on, both of you")
    await reads(house, other)
    sent = await house.send(other, one, "so thank you")
    assert (sent.held, sent.message.hops) == (None, 1)


async def test_a_question_that_nobody_answers_stops_the_exchange(house: House) -> None:
    one, other = await house.members("one", "other")
    await exchanged(house, one, other, 5)
    held = await house.send(other, one, "and thank you")
    house.clock.move_on(16 * MINUTE)
    await house.hub.approvals.expire()
    assert (await house.hub.approvals.get(THE_OPERATOR, held.held or "")).status == "expired"
    assert "and thank you" not in contents(await house.inbox(one))


async def test_an_answer_that_is_waited_for_is_never_held(house: House) -> None:
    one, other = await house.members("one", "other")
    await exchanged(house, one, other, 4)  # the next hop is the last
    wish = Wish(action="ask", to="other", message="all well?")
    told = await _asked(house, one, other, wish)
    assert told == "Response from other: yes"


async def _asked(house: House, one: Member, other: Member, wish: Wish) -> str:
    asking = asyncio.ensure_future(house.hub.contact.contact(one.principal, wish))
    question = (await house.event(AskOpened)).fact.ask.message_id
    await reads(house, other)
    await house.send(other, one, "yes", reply_to=question)
    return (await asking).text


@pytest.mark.parametrize("decision", [None, "deny"], ids=["paused", "stopped"])
async def test_the_operator_is_told_whatever_has_become_of_the_exchange(
    house: House, decision: Decision | None
) -> None:
    one, other = await house.members("one", "other")
    await exchanged(house, one, other, 5)
    held = await house.send(other, one, "and thank you")
    if decision is not None:
        await house.hub.approvals.answer(THE_OPERATOR, held.held or "", decision)
        await reads(house, other)
    assert (await house.send(other, "operator", "we are done")).held is None
    news = Wish(action="notify", to="operator", message="really")
    assert (await house.hub.contact.contact(other.principal, news)).status == "notified"
    assert contents(await house.inbox("operator")) == ["we are done", "[Agent Notification from other]\n\nreally"]


async def test_what_the_hub_is_asked_by_contact_is_held_like_any_message(house: House) -> None:
    one, other = await house.members("one", "other")
    await exchanged(house, one, other, 5)
    told = await house.hub.contact.contact(
        other.principal, Wish(action="delegate", to="one", message="thank me again")
    )
    assert told.status == "awaiting_approval"
    await house.hub.approvals.answer(THE_OPERATOR, told.held or "", "approve")
    (task,) = await house.hub.tasks.recent(THE_OPERATOR)
    assert (task.request, task.assignee, task.status) == ("thank me again", one.id, "pending")
