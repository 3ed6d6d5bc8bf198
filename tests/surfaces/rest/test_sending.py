"""POST /v1/agents/messages/send, and what comes of it."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.services.house import FakeClock
from tests.surfaces.served import Member, Served, register, served
from tests.surfaces.shapes import MESSAGE_ID, TIME, refusal

SEND = "/v1/agents/messages/send"


async def pair(http: httpx.AsyncClient) -> tuple[Member, Member]:
    return await register(http, "one"), await register(http, "other")


async def sent(
    http: httpx.AsyncClient, body: dict[str, Any], headers: dict[str, str] | None = None
) -> httpx.Response:
    return await http.post(SEND, json=body, headers=headers)


async def test_a_send_answers_with_what_happened(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    body = {"from_agent_id": one.id, "to_agent_id": other.id, "content": "Hello!"}
    answer = await sent(http, body, one.headers)
    assert answer.status_code == 200
    assert answer.json() == {
        "ok": True, "message_id": MESSAGE_ID, "delivered": False, "queued": True, "timestamp": TIME,
    }  # fmt: skip


async def test_a_send_to_one_who_listens_is_delivered(hub: Served, http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    async with hub.socket(other.headers) as socket:
        await socket.recv()
        answer = await sent(http, {"to_agent_id": other.id, "content": "Hello!"}, one.headers)
        assert answer.json()["delivered"] is True


async def test_the_sender_need_not_be_said(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    told = (await sent(http, {"to_agent_id": "other", "content": "hi"}, one.headers)).json()
    message = (await http.get(f"/v1/messages/{told['message_id']}")).json()["message"]
    assert (message["from_agent_id"], message["to_agent_id"]) == (one.id, other.id)


async def test_every_field_arrives_as_it_was_sent(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    first = (await sent(http, {"to_agent_id": other.id, "content": "?"}, one.headers)).json()
    metadata = {"task": "T1", "n": [1, 2.5, None, {"deep": True}], "é": "日本"}
    body = {
        "from_agent_id": other.id, "to_agent_id": one.id, "content": "ünï\n\ttext 😀", "metadata": metadata,
        "reply_to": first["message_id"], "priority": "urgent", "ttl_seconds": 3600,
    }  # fmt: skip
    told = (await sent(http, body, other.headers)).json()
    (message,) = (await http.get(f"/v1/agents/messages/{one.id}", headers=one.headers)).json()["messages"]
    assert message["message_id"] == told["message_id"]
    assert (message["content"], message["metadata"]) == (body["content"], metadata)
    assert (message["message_type"], message["reply_to"]) == ("reply", first["message_id"])
    assert (message["priority"], message["expires_at"]) == ("urgent", TIME)


async def test_a_broadcast_is_queued_for_all_others(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    third = await register(http, "third")
    told = (await sent(http, {"to_agent_id": "broadcast", "content": "all"}, one.headers)).json()
    assert (told["ok"], told["queued"], told["delivered"]) == (True, True, False)
    counts = [
        (await http.get(f"/v1/agents/messages/{who.id}/unread")).json()["unread_count"]
        for who in (one, other, third)
    ]
    assert counts == [0, 1, 1]


async def test_a_broadcast_to_nobody_is_not_queued(http: httpx.AsyncClient) -> None:
    one = await register(http, "one")
    told = (await sent(http, {"to_agent_id": "broadcast", "content": "all"}, one.headers)).json()
    assert (told["ok"], told["queued"], told["delivered"]) == (True, False, False)


async def test_the_operator_sends_as_itself_or_as_whom_it_names(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    for body, headers, sender in (
        ({}, {}, "operator"),
        ({"from_agent_id": "one"}, {}, one.id),
        ({}, {"X-Agent-ID": one.id}, one.id),
        ({}, {"X-Agent-ID": "one"}, one.id),
    ):
        told = (await sent(http, {"to_agent_id": other.id, "content": "hi"} | body, headers)).json()
        message = (await http.get(f"/v1/messages/{told['message_id']}")).json()["message"]
        assert message["from_agent_id"] == sender


# -- refusals --------------------------------------------------------------------------------------------


async def test_an_unknown_target_is_404_with_the_names_that_exist(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    answer = await sent(http, {"to_agent_id": "ghost", "content": "hi"}, one.headers)
    assert answer.status_code == 404
    assert answer.json() == refusal("agent_not_found", agent="ghost", available=["one", "other"])


async def test_an_unknown_sender_is_404_to_the_operator(http: httpx.AsyncClient) -> None:
    await pair(http)
    answer = await sent(http, {"from_agent_id": "ghost", "to_agent_id": "one", "content": "hi"})
    assert answer.status_code == 404
    assert answer.json() == refusal("agent_not_found", agent="ghost", available=["one", "other"])


FORGERIES: list[tuple[dict[str, str], dict[str, str]]] = [
    ({"from_agent_id": "other"}, {}),
    ({"from_agent_id": "operator"}, {}),
    ({"from_agent_id": "ghost"}, {}),
    ({}, {"X-Agent-ID": "other"}),
    ({}, {"X-Agent-ID": "operator"}),
    ({}, {"X-Agent-ID": "ghost"}),
    ({}, {"X-Agent-ID": ""}),
    ({"from_agent_id": "one"}, {"X-Agent-ID": "other"}),
    ({"from_agent_id": "other"}, {"X-Agent-ID": "one"}),
]


@pytest.mark.parametrize(("body", "headers"), FORGERIES)
async def test_a_forged_sender_is_403_and_goes_into_the_audit_trail(
    http: httpx.AsyncClient, body: dict[str, str], headers: dict[str, str]
) -> None:
    one, other = await pair(http)
    answer = await sent(http, {"to_agent_id": "other", "content": "pay me"} | body, one.headers | headers)
    assert answer.status_code == 403
    claimed = body.get("from_agent_id") or headers["X-Agent-ID"]
    claimed = headers["X-Agent-ID"] if headers.get("X-Agent-ID", "one") != "one" else claimed
    assert answer.json() == refusal("sender_forged", principal=one.id, claimed=claimed)
    events = (await http.get("/v1/events")).json()["events"]
    issued = next(event for event in events if event["type"] == "token_issued" and event["holder"] == one.id)
    refused = events[-1]
    assert (refused["type"], refused["action"]) == ("access_refused", "send_message")
    assert (refused["actor"], refused["actor_token"]) == (one.id, issued["token_id"])
    assert (await http.get(f"/v1/agents/messages/{other.id}/unread")).json()["unread_count"] == 0


async def test_an_agent_may_name_itself_in_the_header(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    for name in (one.id, "one", "ONE"):
        headers = one.headers | {"X-Agent-ID": name}
        assert (await sent(http, {"to_agent_id": "other", "content": "hi"}, headers)).status_code == 200


async def test_nobody_writes_to_itself(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    answer = await sent(http, {"to_agent_id": "one", "content": "hi"}, one.headers)
    assert answer.status_code == 400
    assert answer.json() == refusal("invalid_request", agent="one")


async def test_a_reply_to_what_one_cannot_see_is_404(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    spy = await register(http, "spy")
    secret = (await sent(http, {"to_agent_id": other.id, "content": "psst"}, one.headers)).json()["message_id"]
    for reply_to in (secret, "0" * 26):
        body = {"to_agent_id": other.id, "content": "hi", "reply_to": reply_to}
        answer = await sent(http, body, spy.headers)
        assert answer.status_code == 404
        assert answer.json() == refusal("message_not_found", message_id=reply_to)


# -- once ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["header", "field", "both"])
async def test_a_send_repeated_with_its_key_is_one_message(http: httpx.AsyncClient, where: str) -> None:
    one, other = await pair(http)
    body = {"to_agent_id": other.id, "content": "once"}
    if where != "header":
        body["idempotency_key"] = "k-1"
    headers = one.headers | ({"Idempotency-Key": "k-1"} if where != "field" else {})
    first, second = [(await sent(http, body, headers)).json() for _ in range(2)]
    assert first == second
    assert (await http.get(f"/v1/agents/messages/{other.id}/unread")).json()["unread_count"] == 1


async def test_the_same_key_with_another_body_is_409(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    headers = one.headers | {"Idempotency-Key": "k"}
    await sent(http, {"to_agent_id": "other", "content": "a"}, headers)
    answer = await sent(http, {"to_agent_id": "other", "content": "b"}, headers)
    assert answer.status_code == 409
    assert answer.json() == refusal("idempotency_conflict", key="k")


async def test_two_different_keys_are_refused(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    body = {"to_agent_id": "other", "content": "a", "idempotency_key": "x"}
    answer = await sent(http, body, one.headers | {"Idempotency-Key": "y"})
    assert answer.json() == refusal("invalid_request")


# -- the plain limit -------------------------------------------------------------------------------------


async def test_an_agent_that_goes_too_fast_is_429_with_the_wait_and_the_operator_never_is(tmp_path: Path) -> None:
    slow = served(tmp_path / "slow", clock=FakeClock(), rate_per_second=2, rate_burst=3)
    async with slow as hub, hub.client() as http:
        one = await register(http, "one")
        answers = [await http.get("/v1/agents", headers=one.headers) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert answers[3].json() == refusal("rate_limited", retry_after_ms=500)
        assert answers[3].headers["retry-after"] == "1"
        assert {(await http.get("/v1/agents")).status_code for _ in range(20)} == {200}
