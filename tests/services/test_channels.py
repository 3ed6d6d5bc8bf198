"""Channels: how they come to be, who is in them, and how they end."""

from dataclasses import replace
from pathlib import Path

import pytest

from rookery.domain.channels import Channel
from rookery.domain.errors import (
    AgentNotFound,
    ChannelNotFound,
    Conflict,
    Forbidden,
    InvalidRequest,
    NameRefused,
    SenderForged,
)
from rookery.domain.events import (
    AgentDeleted,
    ChannelArchived,
    ChannelCreated,
    ChannelJoined,
    ChannelLeft,
    MessageSent,
)
from rookery.domain.principals import UNGUARDED_OPERATOR, Principal
from tests.services.house import NOW, SECOND, THE_OPERATOR, House, a_house
from tests.services.room import Room, furnished, patient_room, room

OF_CHANNELS = (ChannelCreated, ChannelJoined, ChannelLeft, ChannelArchived)
__all__ = ["patient_room", "room"]


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
