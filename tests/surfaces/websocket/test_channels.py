"""Channels on a WebSocket: everybody hears who is where, and only members what is said."""

from typing import Any

import httpx

from tests.surfaces.served import Json, Member, Served, register
from tests.surfaces.shapes import TIME
from tests.surfaces.websocket.listener import all_until_now, event, frames_until, hello

CHANNELS = "/v1/channels"
SEND = "/v1/agents/messages/send"


async def three(http: httpx.AsyncClient) -> tuple[Member, Member, Member]:
    return await register(http, "one"), await register(http, "other"), await register(http, "third")


async def create(http: httpx.AsyncClient, by: Member, **said: Any) -> None:
    answer = await http.post(CHANNELS, json={"name": "build"} | said, headers=by.headers)
    assert answer.status_code == 200, answer.text


async def say(http: httpx.AsyncClient, by: Member, content: str, **more: Any) -> Json:
    body = {"to_agent_id": "#build", "content": content} | more
    answer = await http.post(SEND, json=body, headers=by.headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def kinds(events: list[Json]) -> list[str]:
    return [each["type"] for each in events]


def told(frame: Json) -> Json:
    """What is particular to an event."""
    common = ("type", "position", "timestamp", "actor_token")
    return {name: value for name, value in frame.items() if name not in common}


# -- who is where ----------------------------------------------------------------------------------------


async def test_everybody_hears_of_a_channel_from_its_beginning_to_its_end(
    hub: Served, http: httpx.AsyncClient
) -> None:
    one, other, third = await three(http)
    async with hub.socket(third.headers) as socket:
        await hello(socket)
        await create(http, one, topic="version 2")
        await http.post(f"{CHANNELS}/build/join", headers=other.headers)
        await http.post(f"{CHANNELS}/build/leave", json={"agent_id": "other"})
        await http.post(f"{CHANNELS}/build/archive", headers=one.headers)
        seen = await all_until_now(socket, http)
    assert kinds(seen) == ["channel_created", "channel_joined", "channel_left", "channel_archived"]
    assert [told(each) for each in seen] == [
        {
            "channel": "#build", "topic": "version 2", "members": [one.id], "created_by": one.id,
            "created_at": TIME, "archived_at": None, "actor": one.id,
        },
        {"channel": "#build", "agent_id": other.id, "actor": other.id},
        {"channel": "#build", "agent_id": other.id, "actor": "operator"},
        {"channel": "#build", "archived_at": TIME, "actor": one.id},
    ]  # fmt: skip


async def test_what_changes_nothing_is_not_told(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    await create(http, one)
    await http.post(f"{CHANNELS}/build/archive")
    async with hub.socket() as socket:
        await hello(socket)
        await http.post(f"{CHANNELS}/build/leave", headers=other.headers)
        await http.post(f"{CHANNELS}/build/archive")
        seen = await all_until_now(socket, http)
    assert seen == []


async def test_a_deleted_agent_is_heard_leaving_its_channels(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    await create(http, one, members=["other"])
    async with hub.socket(third.headers) as socket:
        await hello(socket)
        await http.delete(f"/v1/agents/{other.id}")
        left = await event(socket, "channel_left")
    assert (left["channel"], left["agent_id"]) == ("#build", other.id)


# -- what is said ----------------------------------------------------------------------------------------


async def test_a_message_arrives_with_the_documented_fields(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    await create(http, one, members=["other"])
    async with hub.socket(other.headers) as socket:
        await hello(socket)
        sent = await say(http, one, "hi all", metadata={"a": 1})
        (message,) = await all_until_now(socket, http)
    assert message == {
        "type": "agent_message", "message_id": sent["message_id"], "from_agent_id": one.id,
        "to_agent_id": "#build", "content": "hi all", "message_type": "channel", "metadata": {"a": 1},
        "reply_to": None, "timestamp": sent["timestamp"], "position": message["position"],
        "thread_id": sent["message_id"], "conversation": "channel:build", "seq": 1, "priority": "normal",
        "expires_at": None, "pattern": None, "trace_id": sent["message_id"], "hops": 0, "task": None,
        "actor": one.id, "actor_token": message["actor_token"],
    }  # fmt: skip


async def test_members_the_sender_and_the_operator_hear_it_and_others_do_not(
    hub: Served, http: httpx.AsyncClient
) -> None:
    one, other, third = await three(http)
    await create(http, one, members=["other"])
    heard: dict[str, list[str]] = {}
    async with (
        hub.socket(one.headers) as first,
        hub.socket(other.headers) as second,
        hub.socket(third.headers) as outside,
        hub.socket() as operator,
    ):
        sockets = {"one": first, "other": second, "third": outside, "operator": operator}
        for socket in sockets.values():
            await hello(socket)
        await say(http, one, "among us")
        for name, socket in sockets.items():
            seen = await all_until_now(socket, http)
            heard[name] = [each["content"] for each in seen if each["type"] == "agent_message"]
    assert heard == {"one": ["among us"], "other": ["among us"], "third": [], "operator": ["among us"]}


async def test_a_mention_is_put_into_one_inbox_and_delivered_there(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    await create(http, one, members=["other", "third"])
    async with hub.socket(other.headers) as called, hub.socket(third.headers) as along:
        await hello(called)
        await hello(along)
        sent = await say(http, one, "@other look")
        assert (sent["delivered"], sent["queued"]) == (True, True)
        await http.post(SEND, json={"to_agent_id": "broadcast", "content": "the end"})
        for socket, wanted in ((called, ["agent_message", "inbox_message_sent"]), (along, ["agent_message"])):
            seen = await frames_until(socket, lambda each: each["type"] == "agent_broadcast")
            assert kinds(seen[:-1]) == wanted


async def test_hearing_along_is_not_receiving(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    await create(http, one, members=["other", "third"])
    async with hub.socket(third.headers) as along:
        await hello(along)
        sent = await say(http, one, "@other look")
        await event(along, "agent_message")
    assert sent["delivered"] is False
    (delivery,) = (await http.get(f"/v1/messages/{sent['message_id']}")).json()["deliveries"]
    assert (delivery["agent_id"], delivery["receipts"]["rung"]) == (other.id, "stored")


async def test_an_agent_hears_a_channel_from_when_it_joins_until_it_leaves(
    hub: Served, http: httpx.AsyncClient
) -> None:
    one, other, _ = await three(http)
    await create(http, one)
    async with hub.socket(other.headers) as socket:
        await hello(socket)
        await say(http, one, "too early")
        await http.post(f"{CHANNELS}/build/join", headers=other.headers)
        await say(http, one, "in time")
        await http.post(f"{CHANNELS}/build/leave", headers=other.headers)
        await say(http, one, "too late")
        seen = await all_until_now(socket, http)
    assert [each["content"] for each in seen if each["type"] == "agent_message"] == ["in time"]


async def test_a_member_that_was_away_catches_up(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    await create(http, one, members=["other"])
    await say(http, one, "while you were out")
    for member, wanted in ((other, ["while you were out"]), (third, [])):
        async with hub.socket(member.headers, after=0) as socket:
            await hello(socket)
            seen = await all_until_now(socket, http)
        assert [each["content"] for each in seen if each["type"] == "agent_message"] == wanted


async def test_the_long_poll_tells_the_same(http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    start = (await http.get("/v1/status")).json()["position"]
    await create(http, one, members=["other"])
    await say(http, one, "among us")
    for member, wanted in (
        (other, ["channel_created", "agent_message"]),
        (third, ["channel_created"]),
    ):
        page = (await http.get("/v1/events", params={"after": start}, headers=member.headers)).json()
        assert kinds(page["events"]) == wanted
