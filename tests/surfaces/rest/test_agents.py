"""Registering, looking up, changing, beating and deleting over REST."""

from typing import Any

import httpx
import pytest

from tests.surfaces.served import Served, bearer, register
from tests.surfaces.shapes import AGENT_ID, TIME, TOKEN, Like, refusal

AGENTS = "/v1/agents"

FRESH: dict[str, Any] = {
    "agent_id": AGENT_ID, "name": "builder", "kind": "external", "role": "worker", "mode": "autonomous",
    "manager": None, "project": None, "model_name": None, "status": "idle", "online": True,
    "sleeping_until": None, "created_at": TIME, "last_active": TIME,
}  # fmt: skip


# -- register --------------------------------------------------------------------------------------------


async def test_registering_answers_with_the_id_and_the_token_this_once(http: httpx.AsyncClient) -> None:
    answer = await http.post(f"{AGENTS}/register", json={"model_name": "agent-1", "role": "worker"})
    told = answer.json()
    assert answer.status_code == 200
    assert told == {
        "ok": True, "agent_id": AGENT_ID, "name": "agent-1", "role": "worker", "token": TOKEN,
        "message": f"Agent agent-1 registered as {told['agent_id']}",
    }  # fmt: skip


@pytest.mark.parametrize("body", [{}, {"name": None, "model_name": None, "role": None}, {"model_name": ""}])
async def test_nothing_need_be_said(http: httpx.AsyncClient, body: dict[str, Any]) -> None:
    told = (await http.post(f"{AGENTS}/register", json=body)).json()
    assert told["name"] == told["agent_id"]


async def test_everything_can_be_said(http: httpx.AsyncClient) -> None:
    boss = await register(http, "boss", role="leader")
    said = {"kind": "claude-code", "role": "leader", "mode": "supervised", "project": "/src", "model_name": "opus"}
    member = await register(http, "builder", manager="boss", **said)
    agent = (await http.get(f"{AGENTS}/{member.id}")).json()["agent"]
    assert agent == FRESH | said | {"agent_id": member.id, "manager": boss.id}


async def test_registering_with_ones_token_resumes(http: httpx.AsyncClient) -> None:
    member = await register(http, "builder")
    answer = await http.post(f"{AGENTS}/register", json={"name": "builder"}, headers=member.headers)
    assert answer.json() == {
        "ok": True, "agent_id": member.id, "name": "builder", "role": "worker", "token": None,
        "message": f"Agent builder resumed as {member.id}",
    }  # fmt: skip
    assert (await http.get(AGENTS)).json()["count"] == 1


async def test_a_taken_name_is_409_and_a_taken_model_name_is_numbered(http: httpx.AsyncClient) -> None:
    await register(http, "claude")
    answer = await http.post(f"{AGENTS}/register", json={"name": "Claude"})
    assert (answer.status_code, answer.json()) == (409, refusal("name_taken", name="Claude"))
    assert (await register(http, model_name="claude")).name == "claude-2"


@pytest.mark.parametrize("name", ["operator", "0perator", "the-user", "a b", "..", "é", "x" * 65])
async def test_a_name_that_nobody_may_have_is_400(http: httpx.AsyncClient, name: str) -> None:
    answer = await http.post(f"{AGENTS}/register", json={"name": name})
    assert (answer.status_code, answer.json()) == (400, refusal("name_refused", name=name))


async def test_an_unknown_manager_is_404(http: httpx.AsyncClient) -> None:
    answer = await http.post(f"{AGENTS}/register", json={"manager": "ghost"})
    assert (answer.status_code, answer.json()) == (404, refusal("agent_not_found", agent="ghost", available=[]))


# -- look ------------------------------------------------------------------------------------------------


async def test_the_living_are_listed_in_order_of_registration(http: httpx.AsyncClient) -> None:
    for name in ("zoe", "adam"):
        await register(http, name)
    answer = (await http.get(AGENTS)).json()
    assert (answer["ok"], answer["count"]) == (True, 2)
    assert answer["agents"] == [FRESH | {"name": "zoe"}, FRESH | {"name": "adam"}]


async def test_an_agent_is_found_by_id_and_by_name(http: httpx.AsyncClient) -> None:
    member = await register(http, "builder")
    for called in (member.id, "builder", "BUILDER"):
        assert (await http.get(f"{AGENTS}/{called}")).json() == {
            "ok": True,
            "agent": FRESH | {"agent_id": member.id},
        }
    answer = await http.get(f"{AGENTS}/ghost")
    assert answer.status_code == 404
    assert answer.json() == refusal("agent_not_found", agent="ghost", available=["builder"])


# -- change ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
async def test_an_agent_changes_what_is_its_own(http: httpx.AsyncClient, method: str) -> None:
    member = await register(http, "builder")
    said = {"name": "mason", "project": "/p", "model_name": "m", "status": "working"}
    answer = await http.request(method, f"{AGENTS}/builder", json=said, headers=member.headers)
    assert answer.json() == {"ok": True, "agent": FRESH | said | {"agent_id": member.id}}


async def test_what_is_left_out_stays_and_null_takes_away(http: httpx.AsyncClient) -> None:
    boss = await register(http, "boss")
    await register(http, "builder", project="/p", model_name="m", manager="boss")
    agent = (await http.patch(f"{AGENTS}/builder", json={})).json()["agent"]
    assert (agent["project"], agent["model_name"], agent["manager"]) == ("/p", "m", boss.id)
    agent = (
        await http.patch(f"{AGENTS}/builder", json={"project": None, "model_name": "", "manager": None})
    ).json()
    assert (agent["agent"]["project"], agent["agent"]["model_name"], agent["agent"]["manager"]) == (
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    "change",
    [{"role": "leader"}, {"kind": "codex"}, {"mode": "strict"}, {"manager": "builder"}, {"manager": None}],
)
async def test_only_the_operator_changes_authority(http: httpx.AsyncClient, change: dict[str, Any]) -> None:
    member = await register(http, "builder")
    answer = await http.patch(f"{AGENTS}/builder", json=change, headers=member.headers)
    assert (answer.status_code, answer.json()) == (403, refusal("forbidden"))
    assert (await http.patch(f"{AGENTS}/builder", json=change)).status_code == 200


async def test_nobody_changes_another(http: httpx.AsyncClient) -> None:
    one, _ = await register(http, "one"), await register(http, "other")
    for method, path, body in (
        ("PATCH", "other", {"name": "x1"}), ("PUT", "other", {}), ("DELETE", "other", None),
        ("POST", "other/heartbeat", {}), ("POST", "one/token", None), ("DELETE", "one/token", None),
    ):  # fmt: skip
        answer = await http.request(method, f"{AGENTS}/{path}", json=body, headers=one.headers)
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "forbidden"
        refused = (await http.get("/v1/events", params={"limit": 1000})).json()["events"][-1]
        assert (refused["type"], refused["actor"]) == ("access_refused", one.id)


async def test_a_taken_or_refused_name_is_refused(http: httpx.AsyncClient) -> None:
    member, _ = await register(http, "builder"), await register(http, "mason")
    for name, status, code in (("MASON", 409, "name_taken"), ("human", 400, "name_refused")):
        answer = await http.patch(f"{AGENTS}/{member.id}", json={"name": name})
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


# -- beat ------------------------------------------------------------------------------------------------


async def test_a_heartbeat_tells_what_waits(http: httpx.AsyncClient) -> None:
    member = await register(http, "builder")
    await http.post(f"{AGENTS}/messages/send", json={"to_agent_id": "builder", "content": "hi"})
    for body in ({}, {"status": None}, {"status": "working"}):
        answer = await http.post(f"{AGENTS}/builder/heartbeat", json=body, headers=member.headers)
        assert answer.json() == {
            "ok": True, "agent_id": member.id, "status": body.get("status") or "idle", "last_active": TIME,
            "unread_count": 1,
        }  # fmt: skip


async def test_a_heartbeat_needs_no_body(http: httpx.AsyncClient) -> None:
    member = await register(http, "builder")
    assert (await http.post(f"{AGENTS}/builder/heartbeat", headers=member.headers)).status_code == 200


# -- tokens ----------------------------------------------------------------------------------------------


async def test_a_new_token_ends_the_old_one(http: httpx.AsyncClient) -> None:
    member = await register(http, "builder")
    told = (await http.post(f"{AGENTS}/builder/token")).json()
    assert told == {"ok": True, "agent_id": member.id, "token": TOKEN}
    assert (await http.get(AGENTS, headers=member.headers)).status_code == 401
    assert (await http.get(AGENTS, headers=bearer(told["token"]))).status_code == 200


async def test_a_revoked_token_is_401(http: httpx.AsyncClient) -> None:
    member = await register(http, "builder")
    assert (await http.get(AGENTS, headers=member.headers)).status_code == 200
    answer = await http.delete(f"{AGENTS}/builder/token")
    assert answer.json() == {"ok": True, "agent_id": member.id, "revoked": 1}
    answer = await http.get(AGENTS, headers=member.headers)
    assert (answer.status_code, answer.json()) == (401, refusal("unauthorized"))
    assert answer.headers["www-authenticate"] == "Bearer"


# -- delete ----------------------------------------------------------------------------------------------


async def test_a_deleted_agent_is_gone_and_its_messages_stay(http: httpx.AsyncClient) -> None:
    gone, reader = await register(http, "gone"), await register(http, "reader")
    body = {"to_agent_id": "reader", "content": "last words"}
    await http.post(f"{AGENTS}/messages/send", json=body, headers=gone.headers)
    answer = await http.delete(f"{AGENTS}/gone", headers=gone.headers)
    assert answer.json() == {"ok": True, "agent_id": gone.id, "message": "Agent gone deleted"}
    assert (await http.get(f"{AGENTS}/{gone.id}")).status_code == 404
    assert (await http.get(AGENTS, headers=gone.headers)).status_code == 401
    (message,) = (await http.get(f"{AGENTS}/messages/reader", headers=reader.headers)).json()["messages"]
    assert (message["content"], message["from_agent_id"]) == ("last words", gone.id)


# -- without tokens --------------------------------------------------------------------------------------


async def test_an_unguarded_hub_serves_plain_calls(open_hub: Served) -> None:
    async with open_hub.client() as http:
        one, other = (
            await register(http, model_name="test-agent-1"),
            await register(http, model_name="test-agent-2"),
        )
        body = {"from_agent_id": one.id, "to_agent_id": other.id, "content": "Hello!"}
        assert (await http.post(f"{AGENTS}/messages/send", json=body)).json()["queued"] is True
        (message,) = (await http.get(f"{AGENTS}/messages/{other.id}")).json()["messages"]
        assert (message["from_agent_id"], message["content"]) == (one.id, "Hello!")
        answer = await http.get(AGENTS, headers=bearer("wrong"))
        assert answer.status_code == 401
        assert answer.json()["error"]["message"] == Like("This token is not valid here.*")
