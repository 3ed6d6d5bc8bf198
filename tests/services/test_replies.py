"""Messages that are said once, that answer others, and that do not wait for ever."""

import asyncio
from typing import Any

import pytest

from rookery.domain.errors import (
    AgentNotFound,
    IdempotencyConflict,
    MessageNotFound,
)
from rookery.domain.events import MessageReplied
from rookery.services.inbox import Completion
from tests.services.house import NOW, SECOND, THE_OPERATOR, House, contents

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
    {"content": "other"}, {"metadata": '{"a":1}'}, {"priority": "high"}, {"ttl": 1000},
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
