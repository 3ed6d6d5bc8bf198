"""Sending: what is stored, for whom, in which order, and what the sender is told."""

import asyncio
from typing import Any

import pytest

from rookery.domain.errors import (
    AgentNotFound,
    InvalidRequest,
    MessageNotFound,
    SenderForged,
)
from rookery.domain.events import MessageSent, MessageStored
from rookery.domain.principals import UNGUARDED_OPERATOR
from rookery.services.inbox import Completion
from tests.services.house import NOW, SECOND, THE_OPERATOR, House, Member, contents

# -- to one ----------------------------------------------------------------------------------------------


async def test_a_message_is_stored_as_it_was_sent(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, "OTHER", "hello", metadata='{"a":[1]}', priority="high")
    message = receipt.message
    assert (message.sender, message.recipient, message.type) == (one.id, other.id, "direct")
    assert (message.content, message.metadata, message.priority, message.pattern) == (
        "hello",
        '{"a":[1]}',
        "high",
        None,
    )
    assert (message.created_at, message.expires_at, message.reply_to, message.thread) == (
        NOW,
        None,
        None,
        message.id,
    )
    assert receipt.recipients == (other.id,)
    (item,) = await house.inbox(other)
    assert item.message == message
    assert (item.delivery.folder, item.delivery.rung, item.delivery.stored_at) == ("new", "stored", NOW)


async def test_nobody_listening_means_not_delivered(house: House) -> None:
    one, other = await house.members("one", "other")
    assert not (await house.send(one, other)).delivered


async def test_a_message_to_an_unknown_agent_is_refused_with_the_names_that_exist(house: House) -> None:
    one, _ = await house.members("one", "other")
    with pytest.raises(AgentNotFound) as refused:
        await house.send(one, "nobody")
    assert refused.value.data["available"] == ["one", "other"]


async def test_a_message_to_one_who_is_gone_is_refused(house: House) -> None:
    one, other = await house.members("one", "other")
    await house.hub.agents.delete(THE_OPERATOR, "other")
    with pytest.raises(AgentNotFound):
        await house.send(one, other.id)


@pytest.mark.parametrize("between_models", [False, True])
async def test_nobody_writes_to_itself(house: House, between_models: bool) -> None:
    one = await house.member("one")
    for called in (one.id, "one", "ONE"):
        with pytest.raises(InvalidRequest, match="cannot write to itself"):
            await house.send(one, called, between_models=between_models)
    assert await house.journal(MessageSent) == []


async def test_the_operator_writes_and_is_written_to(house: House) -> None:
    one = await house.member("one")
    await house.send(THE_OPERATOR, one, "go")
    await house.send(one, "operator", "gone")
    assert contents(await house.inbox(one)) == ["go"]
    (item,) = await house.inbox("operator")
    assert (item.message.content, item.message.sender) == ("gone", one.id)


async def test_the_operator_does_not_write_to_itself_either(house: House) -> None:
    with pytest.raises(InvalidRequest):
        await house.send(THE_OPERATOR, "operator")


async def test_both_directions_of_a_pair_are_one_conversation_with_numbers_without_a_gap(house: House) -> None:
    one, other = await house.members("one", "other")
    sent = [await house.send(*pair) for pair in ((one, other), (other, one), (one, other))]
    assert {receipt.message.conversation for receipt in sent} == {sent[0].message.conversation}
    assert [receipt.message.seq for receipt in sent] == [1, 2, 3]


async def test_a_refused_message_takes_no_number(house: House) -> None:
    one, other = await house.members("one", "other")
    await house.send(one, other)
    with pytest.raises(MessageNotFound):
        await house.send(one, other, reply_to="nothing")
    assert (await house.send(one, other)).message.seq == 2


async def test_many_at_once_are_numbered_without_gap_and_in_order_of_their_ids(house: House) -> None:
    one, other = await house.members("one", "other")
    sent = await asyncio.gather(*(house.send(one, other, f"{n}") for n in range(200)))
    messages = sorted((receipt.message for receipt in sent), key=lambda message: message.seq)
    assert [message.seq for message in messages] == list(range(1, 201))
    assert [message.id for message in messages] == sorted(message.id for message in messages)
    assert contents(await house.inbox(other, limit=1000)) == [message.content for message in messages]


# -- who speaks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_whom", ["id", "name", "case"])
async def test_an_agent_may_say_that_it_is_itself(house: House, as_whom: str) -> None:
    one, other = await house.members("one", "other")
    claimed = {"id": one.id, "name": "one", "case": "ONE"}[as_whom]
    assert (await house.send(one, other, sender=claimed)).message.sender == one.id


@pytest.mark.parametrize("claimed", ["other", "operator", "hub", "nobody", "broadcast", ""])
async def test_an_agent_cannot_speak_as_anybody_else(house: House, claimed: str) -> None:
    one, other = await house.members("one", "other")
    for target in (other.id, "broadcast"):
        with pytest.raises(SenderForged) as refused:
            await house.send(one, target, sender=claimed)
        assert refused.value.data == {"principal": one.id, "claimed": claimed}
    assert await house.journal(MessageSent) == []


@pytest.mark.parametrize("operator", [THE_OPERATOR, UNGUARDED_OPERATOR])
async def test_the_operator_speaks_as_whom_it_names(house: House, operator: Any) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(operator, other, sender="ONE")
    assert receipt.message.sender == one.id
    (entry,) = await house.journal(MessageSent)
    assert (entry.actor, entry.token_id) == ("operator", operator.token_id)  # the audit trail is not fooled


async def test_the_operator_cannot_speak_as_somebody_unknown(house: House) -> None:
    await house.member("one")
    for claimed in ("nobody", "hub", ""):
        with pytest.raises(AgentNotFound):
            await house.send(THE_OPERATOR, "one", sender=claimed)


# -- to all ----------------------------------------------------------------------------------------------


async def test_a_broadcast_reaches_everybody_but_its_sender(house: House) -> None:
    one, two, three = await house.members("one", "two", "three")
    receipt = await house.shout(one)
    assert set(receipt.recipients) == {two.id, three.id}
    assert (receipt.message.type, receipt.message.recipient) == ("broadcast", "broadcast")
    assert await house.inbox(one) == []
    for member in (two, three):
        (item,) = await house.inbox(member)
        assert item.message == receipt.message


async def test_the_operators_broadcast_reaches_every_agent_and_not_the_operator(house: House) -> None:
    members = await house.members("one", "two")
    receipt = await house.shout(THE_OPERATOR)
    assert set(receipt.recipients) == {member.id for member in members}
    assert await house.inbox("operator") == []


async def test_a_broadcast_is_read_by_each_recipient_on_its_own(house: House) -> None:
    one, two, three = await house.members("one", "two", "three")
    receipt = await house.shout(one)
    await house.hub.inbox.mark_read(two.principal, two.id, [receipt.message.id])
    assert (await house.delivery(receipt, two)).read
    assert not (await house.delivery(receipt, three)).read
    assert (await house.hub.inbox.unread_count(three.principal, three.id))[1] == 1
    await house.hub.inbox.complete(three.principal, three.id, receipt.message.id, Completion(outcome="dead"))
    assert (await house.delivery(receipt, two)).folder == "new"


async def test_a_broadcast_is_there_for_those_who_are_offline(house: House) -> None:
    one, two = await house.members("one", "two")
    house.clock.move_on(10 * 60 * SECOND)
    await house.hub.sweep()
    await house.shout(one)
    assert contents(await house.inbox(two)) == ["hear ye"]


async def test_one_who_comes_later_does_not_get_an_earlier_broadcast(house: House) -> None:
    one, _ = await house.members("one", "two")
    receipt = await house.shout(one)
    late = await house.member("late")
    assert await house.inbox(late) == []
    assert await house.journal(MessageSent, audience=late.id) == []
    with pytest.raises(MessageNotFound):
        await house.hub.inbox.deliveries(late.principal, receipt.message.id)


async def test_a_broadcast_to_nobody_is_stored_all_the_same(house: House) -> None:
    one = await house.member("one")
    receipt = await house.shout(one)
    assert receipt.recipients == ()
    assert not receipt.delivered


async def test_a_broadcast_can_be_answered_by_those_who_got_it(house: House) -> None:
    one, two = await house.members("one", "two")
    receipt = await house.shout(one)
    answer = await house.send(two, one, reply_to=receipt.message.id)
    assert answer.message.thread == receipt.message.id
    assert (await house.delivery(receipt, two)).reply_id == answer.message.id


async def test_broadcasts_are_numbered_in_a_conversation_of_their_own(house: House) -> None:
    one, two = await house.members("one", "two")
    await house.send(one, two)
    assert [(await house.shout(by)).message.seq for by in (one, two, THE_OPERATOR)] == [1, 2, 3]


# -- who hears of it -------------------------------------------------------------------------------------


async def test_a_message_is_told_to_its_parties_and_to_nobody_else(house: House) -> None:
    one, other, spy = await house.members("one", "other", "spy")
    await house.send(one, other, "secret")
    (sent,) = await house.journal(MessageSent)
    (stored,) = await house.journal(MessageStored)
    assert set(sent.audience or ()) == {one.id, other.id}
    assert stored.audience == (other.id,)
    assert sent.message is not None
    assert await house.journal(MessageSent, MessageStored, audience=spy.id) == []


async def test_a_broadcast_is_told_to_everybody(house: House) -> None:
    one, *_ = await house.members("one", "two", "three")
    await house.shout(one)
    assert [entry.audience for entry in await house.journal(MessageSent, MessageStored)] == [None, None]


async def test_receipts_are_shown_to_the_sender_in_full_and_to_a_recipient_for_itself(house: House) -> None:
    one, two, three = await house.members("one", "two", "three")
    receipt = await house.shout(one)

    async def shown_to(member: Member) -> set[str]:
        _, deliveries = await house.hub.inbox.deliveries(member.principal, receipt.message.id)
        return {delivery.recipient for delivery in deliveries}

    assert await shown_to(one) == {two.id, three.id}
    assert await shown_to(two) == {two.id}
    _, all_of_them = await house.hub.inbox.deliveries(THE_OPERATOR, receipt.message.id)
    assert len(all_of_them) == 2
