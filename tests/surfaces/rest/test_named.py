"""The calls by name, whose answers are made for models."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.services.house import FakeClock
from tests.surfaces.served import Member, Served, register, served
from tests.surfaces.shapes import refusal


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def hub(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Served]:
    """Time stands still, so that waits are exact."""
    async with served(tmp_path / "data", clock=clock) as hub:
        yield hub


async def crowd(http: httpx.AsyncClient) -> tuple[Member, Member, Member]:
    return (
        await register(http, "janus-dev", project="/home/karl/janus"),
        await register(http, "puppet-dev", project="/home/karl/puppet"),
        await register(http, "abra-dev"),
    )


async def tell(http: httpx.AsyncClient, target: str, by: Member | None, **body: Any) -> httpx.Response:
    said = {"message": "hello"} | body
    return await http.post(f"/api/agents/{target}/messages", json=said, headers=by.headers if by else None)


async def shout(http: httpx.AsyncClient, by: Member | None, **body: Any) -> httpx.Response:
    said = {"message": "hello"} | body
    return await http.post("/api/agents/broadcast", json=said, headers=by.headers if by else None)


# -- list ------------------------------------------------------------------------------------------------


async def test_the_agents_are_listed_with_name_status_and_project(http: httpx.AsyncClient) -> None:
    janus, puppet, _ = await crowd(http)
    await http.patch(f"/v1/agents/{puppet.id}", json={"status": "working"})
    answer = await http.get("/api/agents", headers=janus.headers)
    assert answer.content == (
        b'{"agents":[{"name":"janus-dev","status":"idle","project":"/home/karl/janus"},'
        b'{"name":"puppet-dev","status":"working","project":"/home/karl/puppet"},'
        b'{"name":"abra-dev","status":"idle","project":null}],"self":"janus-dev"}'
    )


async def test_the_operator_is_nobody_in_the_list_unless_it_speaks_for_somebody(http: httpx.AsyncClient) -> None:
    await crowd(http)
    assert (await http.get("/api/agents")).json()["self"] is None
    assert (await http.get("/api/agents", headers={"X-Agent-ID": "abra-dev"})).json()["self"] == "abra-dev"


# -- send ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("called", ["puppet-dev", "PUPPET-DEV", "id"])
async def test_a_message_is_delivered_to_a_target_by_its_name(http: httpx.AsyncClient, called: str) -> None:
    janus, puppet, _ = await crowd(http)
    answer = await tell(http, puppet.id if called == "id" else called, janus)
    assert (answer.status_code, answer.content) == (200, b'{"delivered":true,"target":"puppet-dev"}')


async def test_the_message_carries_its_senders_name(http: httpx.AsyncClient) -> None:
    janus, puppet, _ = await crowd(http)
    await tell(http, "puppet-dev", janus, message="I added `connectCDP(url)`.", sender="janus-dev")
    (message,) = (await http.get(f"/v1/agents/messages/{puppet.id}", headers=puppet.headers)).json()["messages"]
    assert (message["content"], message["from_agent_id"]) == ("I added `connectCDP(url)`.", janus.id)
    assert message["metadata"] == {"type": "inter-agent", "sender": "janus-dev"}


@pytest.mark.parametrize("target", ["ghost", "broadcast", "all", "hub"])
async def test_an_unknown_target_comes_with_those_that_exist(http: httpx.AsyncClient, target: str) -> None:
    janus, *_ = await crowd(http)
    answer = await tell(http, target, janus)
    assert answer.status_code == 404
    assert answer.content == (
        b'{"delivered":false,"error":"Agent not found","available":["janus-dev","puppet-dev","abra-dev"]}'
    )


async def test_a_target_that_nobody_has_is_not_found_on_an_empty_hub_either(http: httpx.AsyncClient) -> None:
    for target in ("ghost", "broadcast"):
        answer = await tell(http, target, None)
        assert answer.content == b'{"delivered":false,"error":"Agent not found","available":[]}'


async def test_the_second_message_within_the_gap_is_refused_with_the_exact_wait(
    http: httpx.AsyncClient, clock: FakeClock
) -> None:
    janus, puppet, _ = await crowd(http)
    assert (await tell(http, "puppet-dev", janus)).status_code == 200
    assert (await tell(http, "janus-dev", puppet)).status_code == 200  # another direction
    clock.move_on(500)
    answer = await tell(http, "puppet-dev", janus)
    assert answer.status_code == 429
    assert answer.content == b'{"delivered":false,"error":"Rate limited","retry_after_ms":1500}'
    assert answer.headers["retry-after"] == "2"
    clock.move_on(1500)
    assert (await tell(http, "puppet-dev", janus)).status_code == 200
    answer = await tell(http, "puppet-dev", janus)
    assert answer.json()["retry_after_ms"] == 4000


async def test_the_operator_is_not_paced_but_a_named_sender_is(http: httpx.AsyncClient) -> None:
    await crowd(http)
    assert {(await tell(http, "puppet-dev", None)).status_code for _ in range(12)} == {200}
    assert (await tell(http, "puppet-dev", None, sender="janus-dev")).status_code == 200
    assert (await tell(http, "puppet-dev", None, sender="janus-dev")).status_code == 429


async def test_a_repetition_with_its_key_is_not_paced(http: httpx.AsyncClient) -> None:
    janus, puppet, _ = await crowd(http)
    headers = janus.headers | {"Idempotency-Key": "k"}
    for _ in range(3):
        answer = await http.post("/api/agents/puppet-dev/messages", json={"message": "once"}, headers=headers)
        assert answer.json() == {"delivered": True, "target": "puppet-dev"}
    assert (await http.get(f"/v1/agents/messages/{puppet.id}/unread")).json()["unread_count"] == 1


async def test_a_message_to_the_operator_arrives(http: httpx.AsyncClient) -> None:
    janus, *_ = await crowd(http)
    assert (await tell(http, "operator", janus)).json() == {"delivered": True, "target": "operator"}
    assert (await http.get("/v1/agents/messages/operator")).json()["count"] == 1


@pytest.mark.parametrize("sender", ["puppet-dev", "operator", "ghost"])
async def test_a_forged_sender_is_403(http: httpx.AsyncClient, sender: str) -> None:
    janus, *_ = await crowd(http)
    for answer in (await tell(http, "abra-dev", janus, sender=sender), await shout(http, janus, sender=sender)):
        assert answer.status_code == 403
        assert answer.json() == refusal("sender_forged", principal=janus.id, claimed=sender)


async def test_nobody_writes_to_itself(http: httpx.AsyncClient) -> None:
    janus, *_ = await crowd(http)
    answer = await tell(http, "janus-dev", janus)
    assert (answer.status_code, answer.json()) == (400, refusal("invalid_request", agent="janus-dev"))


# -- broadcast -------------------------------------------------------------------------------------------


async def test_a_broadcast_says_whom_it_reached(http: httpx.AsyncClient) -> None:
    janus, *_ = await crowd(http)
    answer = await shout(http, janus)
    assert (answer.status_code, answer.content) == (
        200,
        b'{"delivered_to":["puppet-dev","abra-dev"],"failed":[]}',
    )


async def test_a_broadcast_leaves_out_those_whose_pair_must_wait(
    http: httpx.AsyncClient, clock: FakeClock
) -> None:
    janus, *_ = await crowd(http)
    await tell(http, "puppet-dev", janus)
    clock.move_on(1)
    answer = await shout(http, janus)
    assert answer.content == (
        b'{"delivered_to":["abra-dev"],'
        b'"failed":[{"name":"puppet-dev","error":"Rate limited","retry_after_ms":1999}]}'
    )


async def test_a_broadcast_that_reaches_nobody_says_so(http: httpx.AsyncClient) -> None:
    janus, *_ = await crowd(http)
    await shout(http, janus)
    answer = await shout(http, janus)
    assert answer.status_code == 200
    assert answer.json() == {
        "delivered_to": [],
        "failed": [
            {"name": "puppet-dev", "error": "Rate limited", "retry_after_ms": 2000},
            {"name": "abra-dev", "error": "Rate limited", "retry_after_ms": 2000},
        ],
    }
    assert (await http.get("/v1/agents/messages/stats/queue")).json()["stats"]["broadcast_sent"] == 1


async def test_a_broadcast_on_an_empty_hub_reaches_nobody(http: httpx.AsyncClient) -> None:
    assert (await shout(http, None)).content == b'{"delivered_to":[],"failed":[]}'


# -- change ----------------------------------------------------------------------------------------------


async def test_an_agent_names_itself(http: httpx.AsyncClient) -> None:
    chat = await register(http, "Chat")
    answer = await http.put("/api/agents/Chat", json={"name": "puppet-dev"}, headers=chat.headers)
    assert (answer.status_code, answer.content) == (
        200,
        b'{"success":true,"previous_name":"Chat","new_name":"puppet-dev"}',
    )


async def test_a_project_is_set_without_a_new_name(http: httpx.AsyncClient) -> None:
    chat = await register(http, "Chat")
    answer = await http.put("/api/agents/chat", json={"project": "/src"}, headers=chat.headers)
    assert answer.json() == {"success": True, "previous_name": "Chat", "new_name": "Chat"}
    assert (await http.get("/v1/agents/Chat")).json()["agent"]["project"] == "/src"


async def test_a_name_cannot_be_taken_from_another(http: httpx.AsyncClient) -> None:
    janus, *_ = await crowd(http)
    for body, status, code in (
        ({"name": "puppet-dev"}, 409, "name_taken"),
        ({"name": "user"}, 400, "name_refused"),
    ):
        answer = await http.put("/api/agents/janus-dev", json=body, headers=janus.headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    answer = await http.put("/api/agents/puppet-dev", json={"name": "mine"}, headers=janus.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")


async def test_an_unknown_agent_is_404(http: httpx.AsyncClient) -> None:
    answer = await http.put("/api/agents/ghost", json={"name": "x1"})
    assert (answer.status_code, answer.json()) == (404, refusal("agent_not_found", agent="ghost", available=[]))
