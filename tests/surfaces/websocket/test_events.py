"""What arrives on a WebSocket, for whom, and from where on."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from tests.services.house import until
from tests.surfaces.served import Member, Served, bearer, register
from tests.surfaces.shapes import MESSAGE_ID, TIME
from tests.surfaces.websocket.listener import all_until_now, event, frame, frames_until, handshake_refusal, hello

SEND = "/v1/agents/messages/send"


async def send(http: httpx.AsyncClient, by: Member | None, to: str, content: str = "hello", **more: Any) -> Any:
    body = {"to_agent_id": to, "content": content} | more
    answer = await http.post(SEND, json=body, headers=by.headers if by else None)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def three(http: httpx.AsyncClient) -> tuple[Member, Member, Member]:
    return await register(http, "one"), await register(http, "other"), await register(http, "third")


# -- the documented events -------------------------------------------------------------------------------


async def test_a_socket_is_greeted_with_who_it_is_and_where_it_starts(
    hub: Served, http: httpx.AsyncClient
) -> None:
    one = await register(http, "one")
    position = (await http.get("/v1/events")).json()["position"]
    async with hub.socket(one.headers) as socket:
        assert await hello(socket) == {"type": "connected", "position": position, "agent_id": one.id}
    async with hub.socket() as socket:
        assert (await hello(socket))["agent_id"] == "operator"


async def test_a_message_arrives_with_the_documented_fields(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    async with hub.socket(other.headers) as socket:
        await hello(socket)
        told = await send(http, one, other.id, "hi", metadata={"a": 1})
        first, second = await frame(socket), await frame(socket)
    assert first == {
        "type": "agent_message", "message_id": told["message_id"], "from_agent_id": one.id,
        "to_agent_id": other.id, "content": "hi", "message_type": "direct", "metadata": {"a": 1}, "reply_to": None,
        "timestamp": told["timestamp"],
        "position": first["position"], "thread_id": told["message_id"], "seq": 1, "priority": "normal",
        "conversation": first["conversation"], "expires_at": None, "pattern": None,
        "trace_id": told["message_id"], "hops": 0, "task": None, "actor": one.id,
        "actor_token": first["actor_token"],
    }  # fmt: skip
    assert (second["type"], second["folder"], second["position"]) == (
        "inbox_message_sent",
        "new",
        first["position"] + 1,
    )
    assert told["delivered"] is True


async def test_a_broadcast_arrives_with_the_documented_fields(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    async with hub.socket(other.headers) as socket:
        await hello(socket)
        told = await send(http, one, "broadcast", "all")
        first = await frame(socket)
    documented = {
        "type": "agent_broadcast", "message_id": told["message_id"], "from_agent_id": one.id, "content": "all",
        "metadata": {}, "timestamp": told["timestamp"],
    }  # fmt: skip
    assert documented.items() <= first.items()
    assert "to_agent_id" not in first


async def test_the_sender_hears_of_delivery_reading_and_reply(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    async with hub.socket(one.headers) as mine, hub.socket(other.headers) as theirs:
        await hello(mine)
        await hello(theirs)
        message_id = (await send(http, one, other.id))["message_id"]
        delivered = await event(mine, "agent_message_delivered")
        assert {key: delivered[key] for key in ("message_id", "to_agent_id", "delivered_at", "timestamp")} == {
            "message_id": message_id, "to_agent_id": other.id, "delivered_at": TIME, "timestamp": TIME,
        }  # fmt: skip
        await http.get(f"/v1/agents/messages/{other.id}", headers=other.headers)
        read = await event(mine, "agent_message_read")
        assert {key: read[key] for key in ("message_id", "agent_id", "read_at", "timestamp")} == {
            "message_id": message_id, "agent_id": other.id, "read_at": TIME, "timestamp": TIME,
        }  # fmt: skip
        reply = await send(http, other, one.id, "yes", reply_to=message_id)
        answer = await event(mine, "agent_message", from_agent_id=other.id)
        assert (answer["message_type"], answer["reply_to"]) == ("reply", message_id)
        assert (await event(mine, "agent_message_replied"))["reply_id"] == reply["message_id"]


async def test_the_owner_hears_of_its_inbox(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    async with hub.socket(other.headers) as socket:
        await hello(socket)
        message_id = (await send(http, one, other.id))["message_id"]
        inbox = f"/v1/agents/messages/{other.id}"
        await http.post(f"{inbox}/{message_id}/claim", headers=other.headers)
        await http.post(f"{inbox}/{message_id}/complete", json={"result": "42"}, headers=other.headers)
        await http.delete(inbox, headers=other.headers)
        frames = await frames_until(socket, lambda each: each["type"] == "inbox_messages_cleared")
    kinds = [each["type"] for each in frames if each["type"].startswith("inbox_")]
    assert kinds == [
        "inbox_message_sent", "inbox_message_claimed", "inbox_message_read", "inbox_message_completed",
        "inbox_messages_cleared",
    ]  # fmt: skip
    assert all(each.get("message_id", MESSAGE_ID) == message_id == MESSAGE_ID for each in frames[:-1])


# -- who sees what ---------------------------------------------------------------------------------------


async def test_an_agent_sees_its_own_traffic_broadcasts_and_presence(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    async with hub.socket(third.headers) as socket:
        await hello(socket)
        await send(http, one, other.id, "secret")
        await send(http, one, "broadcast", "for all")
        await http.patch(f"/v1/agents/{one.id}", json={"status": "working"})
        await register(http, "newcomer")
        seen = await all_until_now(socket, http)
    assert "secret" not in json.dumps(seen)
    assert [each["type"] for each in seen] == [
        "agent_broadcast", "inbox_message_sent", "agent_status_changed", "agent_registered",
    ]  # fmt: skip


async def test_the_operator_sees_everything(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    async with hub.socket() as socket:
        start = (await hello(socket))["position"]
        await send(http, one, other.id, "secret")
        await http.delete(f"/v1/agents/{one.id}/token")
        seen = await all_until_now(socket, http)
    wanted = (await http.get("/v1/events", params={"after": start})).json()["events"]
    assert seen == wanted[:3]
    assert [each["type"] for each in seen] == ["agent_message", "inbox_message_sent", "token_revoked"]


async def test_the_operator_looks_over_an_agents_shoulder(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    async with hub.socket(agent="other") as socket:
        await hello(socket)
        await send(http, one, third.id, "elsewhere")
        told = await send(http, one, other.id, "here")
        seen = await all_until_now(socket, http)
    assert [each.get("content") for each in seen if each["type"] == "agent_message"] == ["here"]
    assert told["delivered"] is False  # looking is not receiving
    receipts = (await http.get(f"/v1/messages/{told['message_id']}")).json()["deliveries"][0]["receipts"]
    assert receipts["rung"] == "stored"


async def test_over_the_shoulder_the_operator_sees_just_what_the_agent_sees(
    hub: Served, http: httpx.AsyncClient
) -> None:
    await http.post("/v1/agents/register", json={"name": "before"})
    one, other, _ = await three(http)
    await send(http, one, other.id, "here")
    async with hub.socket(other.headers, after=0) as own, hub.socket(agent="other", after=0) as looking:
        await hello(own)
        await hello(looking)
        seen = await all_until_now(looking, http)
        assert (await all_until_now(own, http))[: len(seen)] == seen
    assert [each["type"] for each in seen][:2] == ["agent_registered", "agent_registered"]
    assert seen[0]["name"] == "other"


@pytest.mark.parametrize("watcher", ["operator", "sender", "third"])
async def test_delivered_means_the_recipients_own_socket(
    hub: Served, http: httpx.AsyncClient, watcher: str
) -> None:
    one, other, third = await three(http)
    headers = {"operator": hub.operator, "sender": one.headers, "third": third.headers}[watcher]
    async with hub.socket(headers) as socket:
        await hello(socket)
        assert (await send(http, one, other.id))["delivered"] is False
        async with hub.socket(other.headers) as theirs, hub.socket(one.headers) as mine:
            await hello(theirs)
            await hello(mine)
            told = await send(http, one, other.id)
            assert told["delivered"] is True
            await event(theirs, "agent_message", message_id=told["message_id"])
            await event(mine, "agent_message_delivered", message_id=told["message_id"])  # the rung is written down
    receipts = (await http.get(f"/v1/messages/{told['message_id']}")).json()["deliveries"][0]["receipts"]
    assert (receipts["rung"], receipts["handed_off_via"]) == ("handed_off", "websocket")


async def test_without_tokens_an_agent_says_who_it_is(open_hub: Served) -> None:
    async with open_hub.client() as http:
        one, other = await register(http, "one"), await register(http, "other")
        async with open_hub.socket(agent="other") as own, open_hub.socket() as all_of_it:
            assert (await hello(own))["agent_id"] == other.id
            await hello(all_of_it)
            assert (await send(http, None, other.id, from_agent_id=one.id))["delivered"] is True
            assert (await event(own, "agent_message"))["from_agent_id"] == one.id
            assert (await event(all_of_it, "agent_message"))["to_agent_id"] == other.id


async def test_without_tokens_a_plain_socket_is_nobodys_delivery(open_hub: Served) -> None:
    async with open_hub.client() as http, open_hub.socket() as socket:
        one, other = await register(http, "one"), await register(http, "other")
        await hello(socket)
        assert (await send(http, None, other.id, from_agent_id=one.id))["delivered"] is False


# -- from a position -------------------------------------------------------------------------------------


async def test_a_socket_resumes_from_a_position_without_loss(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    async with hub.socket(other.headers) as socket:
        start = (await hello(socket))["position"]
    for n in range(5):
        await send(http, one, other.id, f"{n}")
    async with hub.socket(other.headers, after=start) as socket:
        assert (await hello(socket))["position"] == start
        seen = await all_until_now(socket, http)
        missed = [each["content"] for each in seen if each["type"] == "agent_message"]
        assert missed == ["0", "1", "2", "3", "4"]
        await send(http, one, other.id, "live")
        assert (await event(socket, "agent_message"))["content"] == "live"


async def test_from_zero_an_agent_sees_all_since_it_came(hub: Served, http: httpx.AsyncClient) -> None:
    one = await register(http, "one")
    await send(http, None, one.id, "early")
    other = await register(http, "other")
    await send(http, one, other.id, "late")
    async with hub.socket(other.headers, after=0) as socket:
        await hello(socket)
        seen = await all_until_now(socket, http)
    wanted = (await http.get("/v1/events", headers=other.headers)).json()["events"]
    assert seen == wanted[: len(seen)]
    assert [each["type"] for each in seen] == ["agent_registered", "agent_message", "inbox_message_sent"]


async def test_what_was_missed_is_handed_off_when_it_is_caught_up_with(
    hub: Served, http: httpx.AsyncClient
) -> None:
    one, other, _ = await three(http)
    told = await send(http, one, other.id)
    assert told["delivered"] is False
    async with hub.socket(one.headers) as sender, hub.socket(other.headers, after=0) as socket:
        await hello(sender)
        await event(socket, "agent_message")
        assert (await event(sender, "agent_message_delivered"))["message_id"] == told["message_id"]


async def test_reconnecting_over_and_over_misses_nothing_and_repeats_nothing(
    hub: Served, http: httpx.AsyncClient
) -> None:
    one, other, _ = await three(http)
    wanted = [f"{n}" for n in range(40)]

    async def write() -> None:
        for content in wanted:
            await send(http, one, other.id, content)

    writing = asyncio.create_task(write())
    position, got = (await http.get("/v1/events")).json()["position"], []
    while len(got) < len(wanted):
        async with hub.socket(other.headers, after=position) as socket:
            await hello(socket)
            for _ in range(7):
                each = await frame(socket)
                position = each["position"]
                if each["type"] == "agent_message":
                    got.append(each["content"])
                if len(got) == len(wanted):
                    break
    await writing
    assert got == wanted


async def test_a_position_beyond_the_end_is_refused_with_the_end(hub: Served, http: httpx.AsyncClient) -> None:
    end = (await http.get("/v1/events")).json()["position"]
    status, _, error = await handshake_refusal(hub.socket(after=end + 1))
    assert (status, error["code"], error["data"]) == (400, "invalid_request", {"position": end})


# -- presence --------------------------------------------------------------------------------------------


async def test_an_open_socket_makes_its_agent_present(hub: Served, http: httpx.AsyncClient) -> None:
    one = await register(http, "one")
    await http.patch(f"/v1/agents/{one.id}", json={"status": "offline"})
    async with hub.socket(one.headers) as socket:
        await hello(socket)
        assert (await http.get(f"/v1/agents/{one.id}")).json()["agent"]["status"] == "idle"


async def test_a_socket_that_has_closed_is_forgotten(hub: Served, http: httpx.AsyncClient) -> None:
    one = await register(http, "one")
    for _ in range(3):
        async with hub.socket(one.headers) as socket:
            await hello(socket)
    await until(lambda: hub.hub.relay.subscriptions() == 0)
    assert (await http.get("/v1/status")).json()["sockets"] == 0


async def test_a_token_by_header_or_by_subprotocol_is_the_same(hub: Served, http: httpx.AsyncClient) -> None:
    one = await register(http, "one")
    for headers, protocols, chosen in (
        (bearer(one.token), None, None),
        ({}, ["rookery", f"bearer.{one.token}"], "rookery"),
        ({}, [f"bearer.{one.token}", "rookery"], "rookery"),
        ({}, [f"bearer.{one.token}"], None),
        (bearer(one.token), ["rookery"], "rookery"),
    ):
        async with hub.socket(headers, subprotocols=protocols) as socket:
            assert (await hello(socket))["agent_id"] == one.id
            assert socket.subprotocol == chosen
