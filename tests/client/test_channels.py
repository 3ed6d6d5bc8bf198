"""Channels through both kinds of client: what holds for one holds for the other."""

import itertools
from typing import Any

import pytest

from rookery.domain.errors import AgentNotFound, ChannelNotFound, Conflict, Forbidden, InvalidRequest, NameRefused
from tests.client.both import done, pair

_numbers = itertools.count(1)


@pytest.fixture
def name() -> str:
    """Of a channel that no other test has: they share a hub, and a name stays taken."""
    return f"build-{next(_numbers)}"


def said(answer: Any) -> list[str]:
    return [message.content for message in answer.messages]


async def test_an_agent_creates_a_channel_with_others_in_it(operator: Any, name: str) -> None:
    one, two = await pair(operator)
    made = (await done(one.create_channel(name, topic="version 2", members=[two.name]))).channel
    assert (made.channel, made.topic, made.created_by) == (f"#{name}", "version 2", one.id)
    assert (made.members, made.archived_at) == ([one.id, two.id], None)
    assert (await done(two.channel(name))).channel == made
    listed = await done(two.channels())
    assert made in listed.channels
    assert listed.count == len(listed.channels)


async def test_a_channel_of_the_operator_is_empty_at_first(operator: Any, name: str) -> None:
    assert (await done(operator.create_channel(name))).channel.members == []


async def test_a_name_goes_with_or_without_its_sign(operator: Any, name: str) -> None:
    one, _ = await pair(operator)
    await done(operator.create_channel(f"#{name}"))
    assert (await done(one.join_channel(f"#{name.upper()}"))).channel.members == [one.id]
    assert (await done(one.history(f"#{name}"))).channel == f"#{name}"
    assert (await done(one.channel(f"#{name}"))).channel.members == [one.id]
    assert (await done(one.leave_channel(f"#{name}"))).channel.members == []
    assert (await done(operator.archive_channel(f"#{name}"))).channel.archived_at


async def test_agents_join_bring_and_leave(operator: Any, name: str) -> None:
    one, two = await pair(operator)
    await done(operator.create_channel(name))
    with pytest.raises(Forbidden):
        await done(one.join_channel(name, two.id))
    assert (await done(one.join_channel(name))).channel.members == [one.id]
    assert (await done(one.join_channel(name, two.name))).channel.members == [one.id, two.id]
    with pytest.raises(Forbidden):
        await done(one.leave_channel(name, two.id))
    assert (await done(two.leave_channel(name))).channel.members == [one.id]
    assert (await done(operator.leave_channel(name, one.id))).channel.members == []


async def test_the_operator_has_to_name_the_agent_that_it_means(operator: Any, name: str) -> None:
    await done(operator.create_channel(name))
    with pytest.raises(InvalidRequest, match="name the agent"):
        await done(operator.join_channel(name))
    with pytest.raises(InvalidRequest, match="name the agent"):
        await done(operator.leave_channel(name))


async def test_what_is_said_is_in_the_history_and_a_mention_in_the_inbox(operator: Any, name: str) -> None:
    one, two = await pair(operator)
    await done(one.create_channel(name, members=[two.id]))
    assert not (await done(one.send(f"#{name}", "to nobody in particular"))).queued
    called = await done(one.send(f"#{name}", f"@{two.name} look"))
    assert called.queued
    (message,) = (await done(two.inbox())).messages
    assert (message.message_id, message.message_type, message.to_agent_id) == (
        called.message_id, "channel", f"#{name}",
    )  # fmt: skip
    assert said(await done(two.history(name))) == ["to nobody in particular", f"@{two.name} look"]


async def test_the_history_comes_in_pages_from_the_newest_back(operator: Any, name: str) -> None:
    await done(operator.create_channel(name))
    for text in "abcde":
        await done(operator.send(f"#{name}", text))
    last = await done(operator.history(name, limit=2))
    assert said(last) == ["d", "e"]
    earlier = await done(operator.history(name, before=last.messages[0].seq, limit=2))
    assert (said(earlier), earlier.count) == (["b", "c"], 2)


async def test_the_history_is_for_members(operator: Any, name: str) -> None:
    one, two = await pair(operator)
    await done(one.create_channel(name))
    with pytest.raises(Forbidden, match="join it first"):
        await done(two.history(name))
    with pytest.raises(Forbidden, match="join it first"):
        await done(two.send(f"#{name}", "hello?"))


@pytest.mark.parametrize("whole", [True, False], ids=["the message", "its id"])
async def test_a_reply_to_what_was_said_in_a_channel_goes_into_it(operator: Any, name: str, whole: bool) -> None:
    one, two = await pair(operator)
    await done(one.create_channel(name, members=[two.id]))
    sent = await done(one.send(f"#{name}", f"@{two.name} how many?"))
    (question,) = (await done(two.inbox())).messages
    await done(two.reply(question if whole else question.message_id, "42"))
    answer = (await done(one.history(name))).messages[-1]
    assert (answer.content, answer.reply_to, answer.to_agent_id) == ("42", sent.message_id, f"#{name}")
    assert (await done(one.inbox())).messages == []
    assert said(await done(two.thread(sent.message_id))) == [f"@{two.name} how many?", "42"]


async def test_a_reply_to_ones_own_words_stays_in_the_channel(operator: Any, name: str) -> None:
    one, two = await pair(operator)
    await done(one.create_channel(name, members=[two.id]))
    sent = await done(one.send(f"#{name}", "first"))
    await done(one.reply(sent.message_id, f"@{two.name} and second"))
    assert said(await done(two.inbox())) == [f"@{two.name} and second"]
    await done(operator.reply(sent.message_id, "third", sender=two.id))
    history = (await done(operator.history(name))).messages
    assert [message.from_agent_id for message in history] == [one.id, one.id, two.id]


async def test_an_archived_channel_is_read_and_takes_nothing_more(operator: Any, name: str) -> None:
    one, two = await pair(operator)
    await done(one.create_channel(name, members=[two.id]))
    await done(one.send(f"#{name}", "last words"))
    with pytest.raises(Forbidden):
        await done(two.archive_channel(name))
    ended = (await done(one.archive_channel(name))).channel
    assert ended.archived_at
    assert (await done(operator.archive_channel(name))).channel == ended
    with pytest.raises(Conflict, match="archived"):
        await done(one.send(f"#{name}", "one more"))
    assert said(await done(two.history(name))) == ["last words"]


async def test_refusals_are_errors_with_the_way_out(operator: Any, name: str) -> None:
    await done(operator.create_channel(name))
    with pytest.raises(Conflict, match="join it") as taken:
        await done(operator.create_channel(name.upper()))
    assert taken.value.data == {"channel": name}
    with pytest.raises(NameRefused):
        await done(operator.create_channel("two words"))
    with pytest.raises(AgentNotFound):
        await done(operator.create_channel(f"{name}-x", members=["nobody-here"]))
    for call in (operator.channel, operator.history, operator.archive_channel, operator.join_channel):
        with pytest.raises(ChannelNotFound) as unknown:
            await done(call("nowhere"))
        data: Any = unknown.value.data
        assert data["channel"] == "nowhere"
        assert f"#{name}" in data["available"]


@pytest.mark.parametrize("odd", ["a?limit=1", "a#b", "##a", "a b", "100%", "ä"])
async def test_an_odd_name_is_asked_for_as_it_is_written(operator: Any, odd: str) -> None:
    with pytest.raises(ChannelNotFound) as unknown:
        await done(operator.channel(odd))
    assert unknown.value.data["channel"] == odd.removeprefix("#")
