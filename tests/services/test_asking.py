"""Questions: answered once, by whoever was asked, and then no longer in the way."""

import asyncio

import pytest

from rookery.domain.errors import Overloaded
from rookery.domain.events import AskEnded, AskOpened, MessageSeen
from rookery.services.contact import Told, Wish
from rookery.services.waiting import CallerGone
from tests.services.house import THE_OPERATOR, House, Member


async def asked(house: House, one: Member, other: Member, *, after: int = 0) -> "tuple[asyncio.Task[Told], str]":
    wish = Wish(action="ask", to=other.id, message="ready?")
    asking = asyncio.ensure_future(house.hub.contact.contact(one.principal, wish, via="mcp"))
    return asking, (await house.event(AskOpened, after=after)).fact.ask.message_id


async def test_who_answers_has_seen_the_question(house: House) -> None:
    """A program that was pushed the question and never lists its inbox shall not find it there unread."""
    one, other = await house.members("one", "other")
    asking, question = await asked(house, one, other)
    await house.send(other, one, "yes", reply_to=question)
    told = await asking
    assert told.text == "Response from other: yes"
    item = next(item for item in await house.inbox(other) if item.message.id == question)
    assert (item.delivery.rung, item.delivery.seen_via) == ("replied", "reply")
    assert await house.inbox(other, unread_only=True) == []
    seen = {(entry.fact.recipient, entry.fact.via) for entry in await house.journal(MessageSeen)}
    assert seen == {(other.id, "reply"), (one.id, "mcp")}


async def test_a_third_party_and_a_second_reply_answer_nothing(house: House) -> None:
    one, other, third = await house.members("one", "other", "third")
    asking, question = await asked(house, one, other)
    await house.send(third, one, "yes!")
    await house.send(other, one, "no", reply_to=question)
    await house.send(other, one, "or yes", reply_to=question)
    assert (await asking).text == "Response from other: no"
    assert len(await house.journal(AskEnded)) == 1


async def test_the_operator_asks_and_is_asked(house: House) -> None:
    one = await house.member("one")
    wish = Wish(action="ask", to="operator", message="May I?", between_models=True)
    asking = asyncio.ensure_future(house.hub.contact.contact(one.principal, wish))
    question = (await house.event(AskOpened)).fact.ask.message_id
    await house.send(THE_OPERATOR, one, "You may.", reply_to=question)
    assert (await asking).text == "Response from operator: You may."


async def test_what_was_asked_and_answered_is_no_cause_of_what_the_asker_does_next(house: House) -> None:
    """It is the result of a call in the midst of its work: many questions make no endless exchange."""
    one, other = await house.members("one", "other")
    for _ in range(12):
        position = await house.position()
        wish = Wish(action="ask", to=other.id, message="and now?")
        asking = asyncio.ensure_future(house.hub.contact.contact(one.principal, wish))
        question = (await house.event(AskOpened, after=position)).fact.ask.message_id
        await house.send(other, one, "not yet", reply_to=question)
        assert (await asking).status == "answered"
    assert list(await house.hub.approvals.pending(THE_OPERATOR)) == []


async def test_one_agent_cannot_fill_the_hub_with_questions(house: House) -> None:
    """Each holds a request, and others want to be served, too."""
    one, other, third = await house.members("one", "other", "third")
    gone = asyncio.Event()
    wish = Wish(action="ask", to=other.id, message="ready?")
    asking = [asyncio.ensure_future(house.hub.contact.contact(one.principal, wish, gone=gone)) for _ in range(100)]
    position = 0
    for _ in asking:
        position = (await house.event(AskOpened, after=position)).position
    with pytest.raises(Overloaded, match="questions of this agent that wait"):
        await house.hub.contact.contact(one.principal, wish)
    gone.set()
    for each in await asyncio.gather(*asking, return_exceptions=True):
        assert isinstance(each, CallerGone)
    last, question = await asked(house, third, other, after=position)  # nobody else is in its way
    await house.send(other, third, "yes", reply_to=question)
    assert (await last).status == "answered"
