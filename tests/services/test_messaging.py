"""Sending: what is stored, for whom, once, in which order, and what the sender is told."""

import asyncio
from typing import Any

import pytest

from rookery.domain.errors import (
    AgentNotFound,
    IdempotencyConflict,
    InvalidRequest,
    MessageNotFound,
    SenderForged,
)
from rookery.domain.events import MessageReplied, MessageSent, MessageStored
from rookery.domain.principals import UNGUARDED_OPERATOR
from rookery.services.inbox import Completion
from tests.services.house import NOW, SECOND, THE_OPERATOR, House, Member, contents

# -- to one ----------------------------------------------------------------------------------------------


async def test_a_message_is_stored_as_it_was_sent(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, "OTHER", "hello", metadata='{"a":[1]}', priority="high", pattern="#")
    message = receipt.message
    assert (message.sender, message.recipient, message.type) == (one.id, other.id, "direct")
    assert (message.content, message.metadata, message.priority, message.pattern) == (
        "hello",
        '{"a":[1]}',
        "high",
        "#",
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


# -- once ------------------------------------------------------------------------------------------------


async def test_the_same_draft_under_the_same_key_is_one_message(house: House) -> None:
    one, other = await house.members("one", "other")
    first = await house.send(one, other, idempotency_key="k")
    house.clock.move_on(SECOND)
    second = await house.send(one, other, idempotency_key="k")
    assert second.message == first.message
    assert second.recipients == first.recipients
    assert (first.repeated, second.repeated) == (False, True)
    assert len(await house.inbox(other)) == 1


CHANGES: list[dict[str, Any]] = [
    {"content": "other"}, {"metadata": '{"a":1}'}, {"priority": "high"}, {"ttl": 1000}, {"pattern": "x"},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
async def test_another_draft_under_the_same_key_is_a_conflict(house: House, change: dict[str, Any]) -> None:
    one, other = await house.members("one", "other")
    await house.send(one, other, idempotency_key="k")
    with pytest.raises(IdempotencyConflict, match="'k' was used for another message"):
        await house.send(one, other, **{"content": "hello", "idempotency_key": "k"} | change)
    assert len(await house.inbox(other)) == 1


async def test_another_recipient_or_parent_under_the_same_key_is_a_conflict(house: House) -> None:
    one, other, third = await house.members("one", "other", "third")
    parent = await house.send(other, one)
    await house.send(one, other, idempotency_key="k")
    for to, reply_to in ((third, None), ("broadcast", None), (other, parent.message.id)):
        with pytest.raises(IdempotencyConflict):
            await house.send(one, to, idempotency_key="k", reply_to=reply_to)


async def test_a_key_belongs_to_its_sender(house: House) -> None:
    one, other, third = await house.members("one", "other", "third")
    first = await house.send(one, third, idempotency_key="k")
    second = await house.send(other, third, idempotency_key="k")
    assert first.message.id != second.message.id


async def test_a_refused_message_does_not_use_up_its_key(house: House) -> None:
    one, other = await house.members("one", "other")
    with pytest.raises(AgentNotFound):
        await house.send(one, "nobody", idempotency_key="k")
    assert not (await house.send(one, other, idempotency_key="k")).repeated


async def test_many_at_once_under_one_key_are_one_message(house: House) -> None:
    one, other = await house.members("one", "other")
    sent = await asyncio.gather(*(house.send(one, other, idempotency_key="k") for _ in range(50)))
    assert len({receipt.message.id for receipt in sent}) == 1
    assert sum(not receipt.repeated for receipt in sent) == 1
    assert len(await house.inbox(other)) == 1


async def test_a_repetition_says_whether_the_message_has_been_handed_off_by_now(house: House) -> None:
    one, other = await house.members("one", "other")
    first = await house.send(one, other, idempotency_key="k")
    assert not first.delivered
    subscription = house.hub.relay.subscribe(other.id, 0)
    house.hub.relay.handed_off(other.id, await subscription.batch(), "websocket")
    subscription.close()
    await house.hub.relay.stop()
    assert (await house.send(one, other, idempotency_key="k")).delivered


async def test_a_key_is_good_again_once_its_message_was_pruned(house: House) -> None:
    one, other = await house.members("one", "other")
    first = await house.send(one, other, idempotency_key="k")
    await house.hub.inbox.complete(other.principal, other.id, first.message.id, Completion())
    await house.hub.inbox.prune(THE_OPERATOR, before=NOW + 1, folders=["done"])
    second = await house.send(one, other, "something else", idempotency_key="k")
    assert second.message.id != first.message.id


# -- replies ---------------------------------------------------------------------------------------------


async def test_a_reply_hangs_on_its_thread_and_is_noted_on_what_it_answers(house: House) -> None:
    one, other = await house.members("one", "other")
    question = await house.send(one, other, "how?")
    answer = await house.send(other, one, "so.", reply_to=question.message.id)
    thanks = await house.send(one, other, "ah!", reply_to=answer.message.id)
    assert (answer.message.type, answer.message.reply_to) == ("reply", question.message.id)
    assert answer.message.thread == thanks.message.thread == question.message.id
    delivery = await house.delivery(question, other)
    assert (delivery.rung, delivery.replied_at, delivery.reply_id) == ("replied", NOW, answer.message.id)
    (noted, again) = await house.journal(MessageReplied)
    assert (noted.fact.message_id, noted.fact.recipient, noted.fact.reply_id) == (
        question.message.id,
        other.id,
        answer.message.id,
    )
    assert set(noted.audience or ()) == {one.id, other.id}
    assert again.fact.message_id == answer.message.id


async def test_only_the_first_reply_is_noted(house: House) -> None:
    one, other = await house.members("one", "other")
    question = await house.send(one, other)
    first = await house.send(other, one, reply_to=question.message.id)
    await house.send(other, one, "and", reply_to=question.message.id)
    assert (await house.delivery(question, other)).reply_id == first.message.id
    assert len(await house.journal(MessageReplied)) == 1


async def test_a_reply_to_ones_own_message_is_a_reply_that_answers_nothing(house: House) -> None:
    one, other = await house.members("one", "other")
    first = await house.send(one, other)
    more = await house.send(one, other, "and", reply_to=first.message.id)
    assert more.message.thread == first.message.id
    assert (await house.delivery(first, other)).replied_at is None


async def test_a_message_that_one_cannot_see_cannot_be_answered(house: House) -> None:
    one, other, spy = await house.members("one", "other", "spy")
    secret = await house.send(one, other, "secret")
    with pytest.raises(MessageNotFound) as hidden:
        await house.send(spy, other, reply_to=secret.message.id)
    with pytest.raises(MessageNotFound) as absent:
        await house.send(spy, other, reply_to="0" * 26)
    assert hidden.value.code == absent.value.code  # whether it exists does not show


async def test_the_operator_who_speaks_as_an_agent_answers_only_what_that_agent_can_see(house: House) -> None:
    one, other, _ = await house.members("one", "other", "spy")
    secret = await house.send(one, other, "secret")
    with pytest.raises(MessageNotFound):
        await house.send(THE_OPERATOR, other, sender="spy", reply_to=secret.message.id)
    assert (await house.send(THE_OPERATOR, other, reply_to=secret.message.id)).message.type == "reply"


async def test_a_thread_shows_each_party_what_it_may_see(house: House) -> None:
    one, other, third = await house.members("one", "other", "third")
    root = await house.send(one, other, "root")
    await house.send(other, one, "between us", reply_to=root.message.id)
    aside = await house.send(one, third, "aside", reply_to=root.message.id)
    seen = {
        name: contents(await house.hub.inbox.thread(principal, message))
        for name, principal, message in (
            ("one", one.principal, root.message.id),
            ("other", other.principal, root.message.id),
            ("third", third.principal, aside.message.id),
            ("operator", THE_OPERATOR, root.message.id),
        )
    }
    assert seen == {
        "one": ["root", "between us", "aside"],
        "other": ["root", "between us"],
        "third": ["aside"],
        "operator": ["root", "between us", "aside"],
    }
    with pytest.raises(MessageNotFound):
        await house.hub.inbox.thread(third.principal, root.message.id)


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


# -- time to live and priority ---------------------------------------------------------------------------


async def test_an_expired_message_is_neither_listed_nor_counted_nor_claimed_from_its_last_millisecond_on(
    house: House,
) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other, ttl=1000)
    assert receipt.message.expires_at == NOW + 1000
    house.clock.move_on(999)
    assert len(await house.inbox(other)) == 1
    house.clock.move_on(1)
    assert await house.inbox(other) == []
    assert (await house.hub.inbox.unread_count(other.principal, other.id))[1] == 0
    assert (await house.hub.inbox.claim(other.principal, other.id))[1] is None


async def test_the_sender_of_an_expired_message_is_told_in_its_thread(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other, ttl=1000)
    house.clock.move_on(1000)
    await house.hub.sweep()
    delivery = await house.delivery(receipt, other)
    assert (delivery.folder, delivery.completed_by) == ("dead", "hub")
    (notice,) = await house.inbox(one)
    assert (notice.message.type, notice.message.sender) == ("notice", "hub")
    assert notice.message.content == (
        "Your message to other is dead: its time to live passed before anybody took it."
    )
    assert (notice.message.reply_to, notice.message.thread) == (receipt.message.id, receipt.message.id)
    await house.hub.sweep()
    assert len(await house.inbox(one)) == 1


async def test_a_message_taken_in_time_does_not_expire(house: House) -> None:
    one, other = await house.members("one", "other")
    read, claimed, cleared = [await house.send(one, other, f"{n}", ttl=1000) for n in range(3)]
    await house.hub.inbox.mark_read(other.principal, other.id, [read.message.id])
    await house.hub.inbox.claim(other.principal, other.id, claimed.message.id)
    await house.hub.inbox.clear(other.principal, other.id, [cleared.message.id])
    house.clock.move_on(5000)
    await house.hub.sweep()
    assert (await house.delivery(read, other)).folder == "new"
    assert (await house.delivery(claimed, other)).folder == "cur"
    assert await house.inbox(one) == []


async def test_without_a_ttl_a_message_never_expires(house: House) -> None:
    one, other = await house.members("one", "other")
    await house.send(one, other)
    house.clock.move_on(100 * 365 * 24 * 3600 * SECOND)
    await house.hub.sweep()
    assert len(await house.inbox(other)) == 1


async def test_a_sender_that_is_gone_is_not_told(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other, ttl=1000)
    await house.hub.agents.delete(THE_OPERATOR, "one")
    house.clock.move_on(1000)
    await house.hub.sweep()
    assert (await house.delivery(receipt, other)).folder == "dead"
    assert await house.store.read(lambda tx: tx.deliveries.unread_count(one.id, house.clock.now())) == 0


async def test_the_operator_is_told_like_any_sender(house: House) -> None:
    other = await house.member("other")
    await house.send(THE_OPERATOR, other, ttl=1)
    house.clock.move_on(1)
    await house.hub.sweep()
    assert [item.message.type for item in await house.inbox("operator")] == ["notice"]


async def test_the_most_urgent_message_is_claimed_first_and_the_oldest_among_equals(house: House) -> None:
    one, other = await house.members("one", "other")
    for content, priority in (("a", "low"), ("b", "normal"), ("c", "urgent"), ("d", "high"), ("e", "urgent")):
        await house.send(one, other, content, priority=priority)
    assert contents(await house.inbox(other)) == ["a", "b", "c", "d", "e"]  # listed as they came
    claimed: list[str] = []
    while (item := (await house.hub.inbox.claim(other.principal, other.id))[1]) is not None:
        claimed.append(item.message.content)
    assert claimed == ["c", "e", "d", "b", "a"]
