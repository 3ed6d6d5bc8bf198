"""What is said in a channel: who hears it, who is called upon, and who may see it later."""

import asyncio
from collections.abc import Sequence

import pytest

from rookery.domain.errors import (
    ChannelNotFound,
    Forbidden,
    IdempotencyConflict,
    InvalidRequest,
    MessageNotFound,
)
from rookery.domain.events import (
    MessageReplied,
    MessageSent,
    MessageStored,
)
from rookery.services.agents import Change
from rookery.services.inbox import Completion
from tests.services.house import SECOND, THE_OPERATOR, Member, contents
from tests.services.room import Room, patient_room, room

__all__ = ["patient_room", "room"]


# -- speaking --------------------------------------------------------------------------------------------


async def test_a_message_is_stored_as_it_was_said(room: Room) -> None:
    receipt = await room.house.send(room.fox, "#Build", "@owl, look", priority="high", metadata='{"a":1}')
    message = receipt.message
    assert (message.sender, message.recipient, message.type) == (room.fox.id, "#build", "channel")
    assert (message.conversation, message.seq, message.thread) == ("channel:build", 1, message.id)
    assert (message.content, message.priority, message.metadata) == ("@owl, look", "high", '{"a":1}')
    assert (receipt.recipients, receipt.refused, receipt.delivered) == ((room.owl.id,), [], False)


async def test_only_the_mentioned_members_have_it_in_their_inbox(room: Room) -> None:
    receipt = await room.say(room.fox, "@OWL and @crow and @ghost: look; `@bear` need not")
    assert receipt.recipients == (room.owl.id,)
    assert contents(await room.house.inbox(room.owl)) == [receipt.message.content]
    for other in (room.fox, room.bear, room.crow, "operator"):
        assert await room.house.inbox(other) == []


async def test_several_are_reached_in_the_order_they_were_called(room: Room) -> None:
    receipt = await room.say(room.fox, f"@bear, @{room.owl.id} and @bear")
    assert receipt.recipients == (room.bear.id, room.owl.id)
    (stored,) = await room.house.journal(MessageStored)
    assert stored.fact.recipients == (room.bear.id, room.owl.id)
    assert stored.audience == (room.bear.id, room.owl.id)


async def test_who_mentions_itself_is_not_reached(room: Room) -> None:
    receipt = await room.say(room.fox, "@fox and @owl")
    assert receipt.recipients == (room.owl.id,)
    assert (await room.say(room.fox, "only @fox")).recipients == ()
    assert (await room.say(THE_OPERATOR, "only @operator")).recipients == ()
    assert await room.house.inbox(room.fox) == await room.house.inbox("operator") == []


async def test_a_message_that_mentions_nobody_lies_in_no_inbox_and_is_kept(room: Room) -> None:
    receipt = await room.say(room.fox, "thinking aloud")
    assert (receipt.recipients, receipt.delivered) == ((), False)
    assert await room.history(room.owl) == ["thinking aloud"]


async def test_the_operator_is_called_upon_in_every_channel(room: Room) -> None:
    receipt = await room.say(room.fox, "@Operator, which branch?")
    assert receipt.recipients == ("operator",)
    assert contents(await room.house.inbox("operator")) == ["@Operator, which branch?"]


async def test_one_who_is_renamed_is_called_by_its_new_name(room: Room) -> None:
    await room.house.hub.agents.update(room.owl.principal, room.owl.id, Change(name="barn.owl"))
    assert (await room.say(room.fox, "@owl?")).recipients == ()
    assert (await room.say(room.fox, "@Barn.Owl.")).recipients == (room.owl.id,)


async def test_all_members_hear_it_and_nobody_else(room: Room) -> None:
    receipt = await room.say(room.owl, "@bear, look")
    (entry,) = await room.house.journal(MessageSent)
    assert set(entry.audience) == {room.fox.id, room.owl.id, room.bear.id}
    assert len(entry.audience) == 3
    for member in (room.fox, room.owl, room.bear):
        (heard,) = await room.house.journal(MessageSent, audience=member.id)
        assert heard.message == receipt.message
    assert await room.house.journal(MessageSent, audience=room.crow.id) == []


async def test_one_who_left_hears_no_more(room: Room) -> None:
    await room.house.hub.channels.leave(room.owl.principal, "build")
    receipt = await room.say(room.fox, "@owl, still there?")
    assert receipt.recipients == ()
    assert await room.house.journal(MessageSent, audience=room.owl.id) == []


async def test_who_is_outside_says_nothing(room: Room) -> None:
    with pytest.raises(Forbidden, match="not in #build; join it first"):
        await room.say(room.crow, "@fox, let me in")
    assert await room.house.journal(MessageSent) == []
    assert await room.house.inbox(room.fox) == []


async def test_the_operator_speaks_everywhere_and_is_named_to_nobody(room: Room) -> None:
    receipt = await room.say(THE_OPERATOR, "@owl, stop")
    assert (receipt.message.sender, receipt.recipients) == ("operator", (room.owl.id,))
    (entry,) = await room.house.journal(MessageSent)
    assert set(entry.audience) == {room.fox.id, room.owl.id, room.bear.id}


async def test_the_operator_who_speaks_as_an_agent_needs_that_agents_membership(room: Room) -> None:
    assert (await room.say(THE_OPERATOR, "hello", sender="owl")).message.sender == room.owl.id
    with pytest.raises(Forbidden):
        await room.say(THE_OPERATOR, "hello", sender="crow")


async def test_what_is_said_in_no_channel_is_refused_with_the_open_ones(room: Room) -> None:
    for address in ("#ghost", "#"):
        with pytest.raises(ChannelNotFound) as refused:
            await room.house.send(room.fox, address)
        assert refused.value.data["available"] == ["#build"]


async def test_numbers_go_without_a_gap_also_past_refused_ones(room: Room) -> None:
    await room.say(room.fox, "one")
    with pytest.raises(Forbidden):
        await room.say(room.crow, "no")
    sent = await asyncio.gather(*(room.say(room.owl, f"{n} @fox") for n in range(20)))
    assert sorted(receipt.message.seq for receipt in sent) == list(range(2, 22))


async def test_a_mention_is_claimed_and_completed_like_any_message(room: Room) -> None:
    receipt = await room.say(room.fox, "@owl, do it")
    _, item = await room.house.hub.inbox.claim(room.owl.principal, room.owl.id)
    assert item is not None
    assert item.message == receipt.message
    await room.house.hub.inbox.complete(room.owl.principal, room.owl.id, item.message.id, Completion())
    assert (await room.house.delivery(receipt, room.owl)).folder == "done"


async def test_a_mention_outlives_its_time_and_its_sender_is_told(room: Room) -> None:
    receipt = await room.say(room.fox, "@owl, quick", ttl=5 * SECOND)
    room.house.clock.move_on(6 * SECOND)
    assert await room.house.hub.expiry.expire_messages() == 1
    (notice,) = await room.house.inbox(room.fox)
    assert (notice.message.type, notice.message.reply_to) == ("notice", receipt.message.id)
    assert await room.history(room.owl) == ["@owl, quick"]  # nor is the notice said in the channel


# -- once ------------------------------------------------------------------------------------------------


async def test_the_same_message_under_the_same_key_is_said_once(room: Room) -> None:
    first = await room.say(room.fox, "@owl, once", idempotency_key="k")
    second = await room.say(room.fox, "@owl, once", idempotency_key="k")
    assert (second.message, second.recipients) == (first.message, (room.owl.id,))
    assert (first.repeated, second.repeated) == (False, True)
    assert await room.history(room.fox) == ["@owl, once"]
    assert len(await room.house.inbox(room.owl)) == 1


async def test_another_message_or_another_channel_under_the_same_key_is_refused(room: Room) -> None:
    await room.house.hub.channels.create(room.fox.principal, "ops")
    await room.say(room.fox, "once", idempotency_key="k")
    with pytest.raises(IdempotencyConflict):
        await room.say(room.fox, "twice", idempotency_key="k")
    with pytest.raises(IdempotencyConflict):
        await room.house.send(room.fox, "#ops", "once", idempotency_key="k")


# -- replies ---------------------------------------------------------------------------------------------


async def test_a_reply_in_a_channel_continues_the_thread(room: Room) -> None:
    question = await room.say(room.fox, "@owl, why?")
    answer = await room.say(room.owl, "because", reply_to=question.message.id)
    assert (answer.message.type, answer.message.reply_to) == ("channel", question.message.id)
    assert answer.message.thread == question.message.id
    assert (await room.house.delivery(question, room.owl)).reply_id == answer.message.id
    (entry,) = await room.house.journal(MessageReplied)
    assert set(entry.audience) == {room.fox.id, room.owl.id}


async def test_who_was_not_mentioned_replies_too(room: Room) -> None:
    question = await room.say(room.fox, "@owl, why?")
    answer = await room.say(room.bear, "I know", reply_to=question.message.id)
    assert answer.message.thread == question.message.id
    assert await room.house.journal(MessageReplied) == []


@pytest.mark.parametrize("elsewhere", ["direct", "broadcast", "channel"])
async def test_a_reply_must_belong_to_the_channel(room: Room, elsewhere: str) -> None:
    await room.house.hub.channels.create(room.fox.principal, "ops", members=["owl"])
    to = {"direct": room.owl.id, "broadcast": "broadcast", "channel": "#ops"}[elsewhere]
    parent = await room.house.send(room.fox, to, "@owl?")
    with pytest.raises(InvalidRequest, match="was not said in #build"):
        await room.say(room.owl, "here", reply_to=parent.message.id)
    assert await room.history(room.owl) == []


async def test_nobody_replies_to_what_it_cannot_see(room: Room) -> None:
    await room.house.hub.channels.create(room.crow.principal, "ops")
    secret = await room.house.send(room.crow, "#ops", "secret")
    for address in ("#build", room.owl.id):
        with pytest.raises(MessageNotFound):
            await room.house.send(room.fox, address, "what?", reply_to=secret.message.id)


async def test_a_member_may_answer_in_private_what_was_said_in_a_channel(room: Room) -> None:
    question = await room.say(room.fox, "@owl, why?")
    answer = await room.house.send(room.owl, room.fox, "between us", reply_to=question.message.id)
    assert (answer.message.type, answer.message.thread) == ("reply", question.message.id)
    thread = await room.house.hub.inbox.thread(room.bear.principal, question.message.id)
    assert contents(thread) == ["@owl, why?"]  # the bear is no party to the rest


# -- the history -----------------------------------------------------------------------------------------


async def test_the_history_is_for_members_and_the_operator(room: Room) -> None:
    await room.say(room.fox, "one")
    await room.say(room.owl, "@bear two")
    for reader in (room.fox, room.bear, THE_OPERATOR):
        assert await room.history(reader) == ["one", "@bear two"]
    with pytest.raises(Forbidden, match="not in #build"):
        await room.history(room.crow)


async def test_the_history_of_a_channel_is_its_own(room: Room) -> None:
    await room.house.hub.channels.create(room.fox.principal, "build-2")
    await room.house.send(room.fox, "#build-2", "elsewhere")
    await room.house.shout(room.fox, "everywhere")
    await room.say(room.fox, "here")
    channel, messages = await room.house.hub.channels.history(room.fox.principal, "#BUILD")
    assert (channel.name, contents(messages)) == ("build", ["here"])


async def test_the_history_is_read_page_by_page_from_its_end(room: Room) -> None:
    for n in range(1, 8):
        await room.say(room.fox, f"{n}")
    pages: list[Sequence[str]] = []
    before: int | None = None
    while True:
        _, page = await room.house.hub.channels.history(room.owl.principal, "build", before=before, limit=3)
        if not page:
            break
        pages.append(contents(page))
        before = page[0].seq
    assert pages == [["5", "6", "7"], ["2", "3", "4"], ["1"]]


# -- what members may see --------------------------------------------------------------------------------


async def test_a_newcomer_sees_what_was_said_before_it_came(room: Room) -> None:
    question = await room.say(room.fox, "@owl, why?")
    await room.say(room.owl, "because", reply_to=question.message.id)
    await room.house.hub.channels.join(room.crow.principal, "build")
    message, deliveries = await room.house.hub.inbox.deliveries(room.crow.principal, question.message.id)
    assert (message, deliveries) == (question.message, [])  # the receipts are the sender's
    thread = await room.house.hub.inbox.thread(room.crow.principal, question.message.id)
    assert contents(thread) == ["@owl, why?", "because"]
    assert await room.history(room.crow) == ["@owl, why?", "because"]


async def test_one_who_is_outside_sees_nothing_of_it(room: Room) -> None:
    receipt = await room.say(room.fox, "@owl and @crow, why?")
    for look in (room.house.hub.inbox.deliveries, room.house.hub.inbox.thread):
        with pytest.raises(MessageNotFound):
            await look(room.crow.principal, receipt.message.id)


async def test_one_who_left_sees_what_was_its_own_and_nothing_else(room: Room) -> None:
    called = await room.say(room.fox, "@owl, why?")
    spoken = await room.say(room.owl, "because", reply_to=called.message.id)
    other = await room.say(room.bear, "I doubt it", reply_to=called.message.id)
    await room.house.hub.channels.leave(room.owl.principal, "build")
    thread = await room.house.hub.inbox.thread(room.owl.principal, called.message.id)
    assert list(thread) == [called.message, spoken.message]
    with pytest.raises(MessageNotFound):
        await room.house.hub.inbox.thread(room.owl.principal, other.message.id)


async def test_a_search_finds_what_was_said_in_ones_channels_and_in_no_other(room: Room) -> None:
    said = await room.say(room.fox, "the marzipan report")

    async def finds(by: Member) -> list[str]:
        return [found.id for found in await room.house.hub.inbox.search(by.principal, "marzipan")]

    assert [await finds(member) for member in (room.fox, room.owl, room.bear)] == [[said.message.id]] * 3
    assert await finds(room.crow) == []
    await room.house.hub.channels.leave(room.owl.principal, "build")
    assert await finds(room.owl) == []


async def test_the_receipts_of_a_mention_are_its_senders_and_ones_own(room: Room) -> None:
    receipt = await room.say(room.fox, "@owl @bear")
    seen = {
        member.id: [
            delivery.recipient
            for delivery in (await room.house.hub.inbox.deliveries(member.principal, receipt.message.id))[1]
        ]
        for member in (room.fox, room.owl)
    }
    assert seen == {room.fox.id: [room.owl.id, room.bear.id], room.owl.id: [room.owl.id]}
