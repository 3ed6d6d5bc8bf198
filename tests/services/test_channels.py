"""Channels: who is in them, who hears and who is called upon, and what they keep."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rookery.domain.channels import Channel
from rookery.domain.errors import (
    AgentNotFound,
    ChannelNotFound,
    Conflict,
    Forbidden,
    IdempotencyConflict,
    InvalidRequest,
    MessageNotFound,
    NameRefused,
    RateLimited,
    SenderForged,
)
from rookery.domain.events import (
    AgentDeleted,
    ChannelArchived,
    ChannelCreated,
    ChannelJoined,
    ChannelLeft,
    MessageHandedOff,
    MessageReplied,
    MessageSent,
    MessageStored,
)
from rookery.domain.principals import UNGUARDED_OPERATOR, Principal
from rookery.services.agents import Change
from rookery.services.inbox import Completion
from rookery.services.messaging import NobodyReached, Receipt
from tests.services.house import NOW, SECOND, THE_OPERATOR, House, Member, a_house, contents

OF_CHANNELS = (ChannelCreated, ChannelJoined, ChannelLeft, ChannelArchived)


class Room:
    """A channel with a fox who created it, an owl and a bear; a crow stands outside."""

    def __init__(self, house: House, fox: Member, owl: Member, bear: Member, crow: Member) -> None:
        self.house = house
        self.fox, self.owl, self.bear, self.crow = fox, owl, bear, crow

    async def say(self, by: Member | Principal, content: str, **more: Any) -> Receipt:
        return await self.house.send(by, "#build", content, **more)

    async def now(self) -> Channel:
        return await self.house.hub.channels.get("build")

    async def history(self, by: Member | Principal, **asked: Any) -> list[str]:
        principal = by.principal if isinstance(by, Member) else by
        _, messages = await self.house.hub.channels.history(principal, "build", **asked)
        return contents(messages)


async def furnished(house: House) -> Room:
    room = Room(house, *await house.members("fox", "owl", "bear", "crow"))
    await house.hub.channels.create(room.fox.principal, "build", members=["owl", "bear"])
    return room


@pytest.fixture
async def room(house: House) -> Room:
    return await furnished(house)


@pytest.fixture
async def patient_room(tmp_path: Path) -> AsyncIterator[Room]:
    """Senders wait for a hand-off far longer than any of them takes."""
    async with a_house(tmp_path / "patient", hand_off_wait=10_000) as house:
        yield await furnished(house)


# -- creating --------------------------------------------------------------------------------------------


async def test_an_agent_that_creates_a_channel_is_its_first_member(house: House) -> None:
    fox, owl = await house.members("fox", "owl")
    channel = await house.hub.channels.create(owl.principal, "#Build", topic="what breaks", members=["FOX"])
    assert channel == Channel(
        name="build", topic="what breaks", members=(owl.id, fox.id), created_by=owl.id, created_at=NOW
    )
    assert await house.hub.channels.get("build") == channel


@pytest.mark.parametrize("operator", [THE_OPERATOR, UNGUARDED_OPERATOR])
async def test_the_operator_creates_channels_without_being_in_them(house: House, operator: Principal) -> None:
    fox, owl = await house.members("fox", "owl")
    empty = await house.hub.channels.create(operator, "empty")
    assert (empty.members, empty.created_by) == ((), "operator")
    peopled = await house.hub.channels.create(operator, "peopled", members=[owl.id, "fox"])
    assert peopled.members == (owl.id, fox.id)


async def test_the_operator_creates_in_the_name_of_an_agent(house: House) -> None:
    fox = await house.member("fox")
    channel = await house.hub.channels.create(THE_OPERATOR, "build", creator="FOX")
    assert (channel.members, channel.created_by) == ((fox.id,), fox.id)
    (entry,) = await house.journal(ChannelCreated)
    assert entry.actor == "operator"


async def test_an_agent_creates_in_no_other_name_than_its_own(house: House) -> None:
    fox, _ = await house.members("fox", "owl")
    for claimed in ("owl", "operator"):
        with pytest.raises(SenderForged):
            await house.hub.channels.create(fox.principal, "build", creator=claimed)
    assert await house.hub.channels.all() == []


async def test_members_are_named_once_however_often_they_are_called(house: House) -> None:
    fox, owl = await house.members("fox", "owl")
    channel = await house.hub.channels.create(fox.principal, "build", members=["owl", "fox", owl.id, "OWL"])
    assert channel.members == (fox.id, owl.id)


@pytest.mark.parametrize("member", ["ghost", "operator", "hub", "broadcast", ""])
async def test_only_agents_can_be_members(house: House, member: str) -> None:
    fox = await house.member("fox")
    with pytest.raises(AgentNotFound):
        await house.hub.channels.create(fox.principal, "build", members=[member])
    assert await house.hub.channels.all() == []


@pytest.mark.parametrize("said", ["build", "#build", "BUILD", "#Build"])
async def test_a_name_is_given_once(room: Room, said: str) -> None:
    with pytest.raises(Conflict, match="#build is there already; join it") as refused:
        await room.house.hub.channels.create(room.crow.principal, said)
    assert refused.value.data == {"channel": "build"}
    assert (await room.now()).created_by == room.fox.id


async def test_the_name_of_an_archived_channel_stays_taken(room: Room) -> None:
    await room.house.hub.channels.archive(THE_OPERATOR, "build")
    with pytest.raises(Conflict, match="#build is archived, and its name stays taken"):
        await room.house.hub.channels.create(room.fox.principal, "Build")


@pytest.mark.parametrize("said", ["", "#", "##build", "two words", ".build", "x" * 65, "bäu", "a/b"])
async def test_a_name_of_the_wrong_shape_is_refused(house: House, said: str) -> None:
    with pytest.raises(NameRefused):
        await house.hub.channels.create(THE_OPERATOR, said)
    assert await house.journal(*OF_CHANNELS) == []


async def test_a_new_channel_is_told_to_everybody(room: Room) -> None:
    (entry,) = await room.house.journal(ChannelCreated, audience=room.crow.id)
    assert entry.fact == ChannelCreated(channel=await room.now())
    assert (entry.audience, entry.actor) == (None, room.fox.id)


# -- looking ---------------------------------------------------------------------------------------------


async def test_channels_are_listed_in_order_of_creation_archived_ones_too(house: House) -> None:
    for name in ("zoo", "ant", "mid"):
        await house.hub.channels.create(THE_OPERATOR, name)
    await house.hub.channels.archive(THE_OPERATOR, "zoo")
    assert [channel.name for channel in await house.hub.channels.all()] == ["zoo", "ant", "mid"]


@pytest.mark.parametrize("said", ["build", "#build", "#BUILD"])
async def test_a_channel_is_found_however_it_is_spelt(room: Room, said: str) -> None:
    assert (await room.house.hub.channels.get(said)).name == "build"


async def test_an_unknown_channel_is_refused_with_the_open_ones(room: Room) -> None:
    await room.house.hub.channels.create(THE_OPERATOR, "old")
    await room.house.hub.channels.archive(THE_OPERATOR, "old")
    with pytest.raises(ChannelNotFound) as refused:
        await room.house.hub.channels.get("#ghost")
    assert refused.value.data == {"channel": "#ghost", "available": ["#build"]}


# -- coming and going ------------------------------------------------------------------------------------


async def test_an_agent_joins_by_itself_and_everybody_hears_of_it(room: Room) -> None:
    channel = await room.house.hub.channels.join(room.crow.principal, "#BUILD")
    assert channel.members == (room.fox.id, room.owl.id, room.bear.id, room.crow.id)
    assert await room.now() == channel
    (entry,) = await room.house.journal(ChannelJoined)
    assert entry.fact == ChannelJoined(channel="build", member=room.crow.id)
    assert (entry.audience, entry.actor) == (None, room.crow.id)


async def test_an_agent_may_say_that_it_is_itself_who_joins(room: Room) -> None:
    channel = await room.house.hub.channels.join(room.crow.principal, "build", "CROW")
    assert room.crow.id in channel.members


async def test_joining_and_leaving_again_change_nothing_and_are_no_facts(room: Room) -> None:
    before, position = await room.now(), await room.house.position()
    assert await room.house.hub.channels.join(room.owl.principal, "build") == before
    assert await room.house.hub.channels.leave(room.crow.principal, "build") == before
    assert await room.house.position() == position


async def test_a_member_brings_others(room: Room) -> None:
    channel = await room.house.hub.channels.join(room.owl.principal, "build", "crow")
    assert room.crow.id in channel.members
    (entry,) = await room.house.journal(ChannelJoined)
    assert (entry.fact.member, entry.actor) == (room.crow.id, room.owl.id)


async def test_the_operator_brings_anybody(room: Room) -> None:
    channel = await room.house.hub.channels.join(THE_OPERATOR, "build", "crow")
    assert room.crow.id in channel.members


async def test_one_who_is_outside_brings_nobody(room: Room) -> None:
    dove = await room.house.member("dove")
    with pytest.raises(Forbidden, match="not in #build"):
        await room.house.hub.channels.join(room.crow.principal, "build", "dove")
    assert dove.id not in (await room.now()).members


async def test_the_operator_is_asked_whom_it_means(room: Room) -> None:
    for change in (room.house.hub.channels.join, room.house.hub.channels.leave):
        with pytest.raises(InvalidRequest, match="name the agent"):
            await change(THE_OPERATOR, "build")
        with pytest.raises(AgentNotFound):
            await change(THE_OPERATOR, "build", "operator")


async def test_an_agent_leaves_by_itself_and_everybody_hears_of_it(room: Room) -> None:
    channel = await room.house.hub.channels.leave(room.owl.principal, "build")
    assert channel.members == (room.fox.id, room.bear.id)
    assert await room.now() == channel
    (entry,) = await room.house.journal(ChannelLeft, audience=room.crow.id)
    assert entry.fact == ChannelLeft(channel="build", member=room.owl.id)


async def test_the_operator_sends_anybody_away(room: Room) -> None:
    channel = await room.house.hub.channels.leave(THE_OPERATOR, "build", "fox")
    assert channel.members == (room.owl.id, room.bear.id)


@pytest.mark.parametrize("who", ["fox", "owl", "crow"])
async def test_no_agent_sends_another_away(room: Room, who: str) -> None:
    with pytest.raises(Forbidden):
        await room.house.hub.channels.leave(getattr(room, who).principal, "build", "bear")
    assert room.bear.id in (await room.now()).members


async def test_nobody_joins_or_leaves_what_is_not_there(room: Room) -> None:
    for change in (room.house.hub.channels.join, room.house.hub.channels.leave, room.house.hub.channels.archive):
        with pytest.raises(ChannelNotFound):
            await change(room.fox.principal, "ghost")


async def test_an_agent_that_is_deleted_leaves_all_channels(room: Room) -> None:
    hub = room.house.hub
    await hub.channels.create(room.owl.principal, "ops", members=["fox"])
    await hub.channels.create(room.fox.principal, "others")
    await hub.channels.archive(room.owl.principal, "ops")
    await hub.agents.delete(THE_OPERATOR, "owl")
    assert {channel.name: channel.members for channel in await hub.channels.all()} == {
        "build": (room.fox.id, room.bear.id),
        "ops": (room.fox.id,),
        "others": (room.fox.id,),
    }
    left = [entry.fact for entry in await room.house.journal(ChannelLeft, AgentDeleted)]
    assert left[:2] == [ChannelLeft(channel=name, member=room.owl.id) for name in ("build", "ops")]
    assert isinstance(left[2], AgentDeleted)  # who hears of the end has heard all before it


# -- archiving -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["fox", "operator"])
async def test_who_created_a_channel_and_the_operator_archive_it(room: Room, who: str) -> None:
    by = THE_OPERATOR if who == "operator" else room.fox.principal
    channel = await room.house.hub.channels.archive(by, "#Build")
    assert channel.archived_at == NOW
    (entry,) = await room.house.journal(ChannelArchived, audience=room.crow.id)
    assert entry.fact == ChannelArchived(channel="build", at=NOW)


@pytest.mark.parametrize("who", ["owl", "crow"])
async def test_nobody_else_archives_it(room: Room, who: str) -> None:
    with pytest.raises(Forbidden, match="Only who created #build"):
        await room.house.hub.channels.archive(getattr(room, who).principal, "build")
    assert (await room.now()).archived_at is None


async def test_archiving_again_changes_nothing_and_is_no_fact(room: Room) -> None:
    before = await room.house.hub.channels.archive(room.fox.principal, "build")
    room.house.clock.move_on(SECOND)
    assert await room.house.hub.channels.archive(THE_OPERATOR, "build") == before
    assert len(await room.house.journal(ChannelArchived)) == 1


async def test_an_archived_channel_takes_neither_members_nor_messages(room: Room) -> None:
    await room.house.hub.channels.archive(room.fox.principal, "build")
    with pytest.raises(Conflict, match="takes no members"):
        await room.house.hub.channels.join(room.crow.principal, "build")
    for by in (room.owl, THE_OPERATOR):
        with pytest.raises(Conflict, match="takes no messages"):
            await room.say(by, "@fox, anybody?")
    assert await room.house.journal(MessageSent) == []


async def test_an_archived_channel_is_read_and_left(room: Room) -> None:
    await room.say(room.fox, "before")
    await room.house.hub.channels.archive(room.fox.principal, "build")
    assert await room.history(room.owl) == ["before"]
    channel = await room.house.hub.channels.leave(room.owl.principal, "build")
    assert room.owl.id not in channel.members
    with pytest.raises(Forbidden):
        await room.history(room.owl)


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


# -- back-off between models -----------------------------------------------------------------------------


async def test_each_who_is_mentioned_is_paced_on_its_own(room: Room) -> None:
    await room.say(room.fox, "@owl", between_models=True)
    receipt = await room.say(room.fox, "@owl @bear", between_models=True)
    assert receipt.recipients == (room.bear.id,)
    assert [(each.recipient, each.retry_after_ms) for each in receipt.refused] == [(room.owl.id, 2 * SECOND)]
    assert contents(await room.house.inbox(room.owl)) == ["@owl"]
    assert contents(await room.house.inbox(room.bear)) == ["@owl @bear"]
    assert await room.history(room.owl) == ["@owl", "@owl @bear"]  # which it hears all the same


async def test_a_message_whose_every_mention_has_to_wait_is_not_said(room: Room) -> None:
    await room.say(room.fox, "@owl @bear", between_models=True)
    room.house.clock.move_on(SECOND)
    before = await room.house.position()
    with pytest.raises(NobodyReached) as held_back:
        await room.say(room.fox, "@bear @owl", between_models=True)
    assert held_back.value.retry_after_ms == SECOND
    assert [(each.recipient, each.retry_after_ms) for each in held_back.value.refused] == [
        (room.bear.id, SECOND),
        (room.owl.id, SECOND),
    ]
    assert await room.house.position() == before
    assert await room.history(room.fox) == ["@owl @bear"]


async def test_a_mention_and_a_direct_message_are_one_pace(room: Room) -> None:
    await room.say(room.fox, "@owl", between_models=True)
    with pytest.raises(RateLimited):
        await room.house.send(room.fox, room.owl, between_models=True)
    await room.house.send(room.fox, room.bear, between_models=True)
    with pytest.raises(NobodyReached):
        await room.say(room.fox, "@bear", between_models=True)


async def test_what_calls_upon_nobody_is_not_paced(room: Room) -> None:
    for n in range(5):
        await room.say(room.fox, f"{n}", between_models=True)
    await room.say(room.fox, "@owl", between_models=True)
    assert len(await room.history(room.fox)) == 6


async def test_plain_messages_in_a_channel_are_neither_paced_nor_counted(room: Room) -> None:
    for _ in range(5):
        assert (await room.say(room.fox, "@owl")).refused == []
    assert (await room.say(room.fox, "@owl", between_models=True)).recipients == (room.owl.id,)


async def test_the_label_between_models_is_the_name_of_the_sender(room: Room) -> None:
    receipt = await room.say(room.fox, "@owl", between_models=True)
    assert receipt.message.metadata == '{"type":"inter-agent","sender":"fox"}'


# -- hand-offs -------------------------------------------------------------------------------------------


@asynccontextmanager
async def listening(house: House, *listeners: Member | str) -> AsyncGenerator[None]:
    """Sockets of those who listen, which take what they are given."""
    relay = house.hub.relay
    subscriptions = [relay.subscribe(who if isinstance(who, str) else who.id, None) for who in listeners]
    for subscription in subscriptions:
        assert await relay.catch_up(subscription) == []  # and so it is live

    async def take(which: int) -> None:
        while True:
            entries = await subscriptions[which].batch()
            relay.handed_off(subscriptions[which].listener, entries, "websocket")

    tasks = [asyncio.create_task(take(which)) for which in range(len(subscriptions))]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for subscription in subscriptions:
            subscription.close()


async def test_delivered_means_that_a_mentioned_members_own_socket_took_it(patient_room: Room) -> None:
    room = patient_room
    async with listening(room.house, room.owl, room.bear, "operator"):
        receipt = await room.say(room.fox, "@owl, look")
        assert receipt.delivered
    await room.house.hub.relay.stop()
    assert (await room.house.delivery(receipt, room.owl)).rung == "handed_off"
    (told,) = await room.house.journal(MessageHandedOff)
    assert (told.fact.recipient, told.fact.recipients) == ("#build", (room.owl.id,))
    assert told.audience == (room.fox.id,)


async def test_the_socket_of_another_member_is_no_delivery(room: Room) -> None:
    async with listening(room.house, room.bear, room.fox, "operator"):
        receipt = await room.say(room.fox, "@owl, look")
        assert not receipt.delivered
    await room.house.hub.relay.stop()
    assert (await room.house.delivery(receipt, room.owl)).rung == "stored"
    assert await room.house.journal(MessageHandedOff) == []


async def test_nobody_answers_for_a_mentioned_member_whose_socket_does_not_read(room: Room) -> None:
    relay = room.house.hub.relay
    owls, bears = (relay.subscribe(member.id, None) for member in (room.owl, room.bear))
    for subscription in (owls, bears):
        assert await relay.catch_up(subscription) == []
    sending = asyncio.create_task(room.say(room.fox, "@owl, look"))
    entries = await bears.batch()
    while not sending.done():  # so also while the sender waits for the owl
        relay.handed_off(room.bear.id, entries, "websocket")
        await asyncio.sleep(0)
    assert not sending.result().delivered
    owls.close()
    bears.close()


async def test_the_operators_socket_is_a_delivery_of_what_calls_upon_the_operator(patient_room: Room) -> None:
    room = patient_room
    async with listening(room.house, "operator"):
        receipt = await room.say(room.fox, "@operator, which branch?")
        assert receipt.delivered
    await room.house.hub.relay.stop()
    assert (await room.house.delivery(receipt, "operator")).rung == "handed_off"


async def test_a_message_that_mentions_nobody_is_not_waited_for(patient_room: Room) -> None:
    room = patient_room
    async with listening(room.house, room.owl, room.bear), asyncio.timeout(5):  # half of the wait for a socket
        assert not (await room.say(room.fox, "thinking aloud")).delivered


async def test_a_repetition_says_whether_the_first_was_taken(patient_room: Room) -> None:
    room = patient_room
    async with listening(room.house, room.owl):
        assert (await room.say(room.fox, "@owl", idempotency_key="k")).delivered
    await room.house.hub.relay.stop()
    again = await room.say(room.fox, "@owl", idempotency_key="k")
    assert (again.delivered, again.repeated) == (True, True)


# -- after a restart -------------------------------------------------------------------------------------


async def test_channels_and_what_was_said_there_survive_a_restart(tmp_path: Path) -> None:
    async with a_house(tmp_path / "data") as house:
        room = await furnished(house)
        await room.say(room.fox, "@owl, before")
        before = await room.now()
    async with a_house(tmp_path / "data") as house:
        again = Room(house, room.fox, room.owl, room.bear, room.crow)
        assert await again.now() == before
        assert (await again.say(room.owl, "after")).message.seq == 2
        assert await again.history(room.bear) == ["@owl, before", "after"]
        archived = await house.hub.channels.archive(room.fox.principal, "build")
        assert archived == replace(before, archived_at=NOW)
