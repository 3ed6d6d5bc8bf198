"""Rules over REST: the operator makes them, agents see their own, and contact follows them."""

from typing import Any

import httpx
import pytest

from tests.surfaces.rest.talk import (
    SEND,
    asking,
    contact,
    events,
    inbox,
    look,
    of,
    question,
    refusals,
    send,
    three,
    told,
)
from tests.surfaces.served import Json, Member, register
from tests.surfaces.shapes import refusal

RULES = "/v1/permissions"


async def rule(
    http: httpx.AsyncClient, agent: str, target: str, permission: str, by: Member | None = None, **more: Any
) -> httpx.Response:
    body = {"agent": agent, "target": target, "permission": permission} | more
    return await http.put(RULES, json=body, headers=of(by))


async def remove(http: httpx.AsyncClient, agent: str, target: str, by: Member | None = None) -> httpx.Response:
    return await http.delete(RULES, params={"agent": agent, "target": target}, headers=of(by))


async def listed(http: httpx.AsyncClient, by: Member | None = None, **query: Any) -> list[Json]:
    answer = await look(http, RULES, by, **query)
    assert answer["count"] == len(answer["rules"])
    return answer["rules"]


# -- making rules ----------------------------------------------------------------------------------------


async def test_a_rule_is_set_replaced_and_taken_away(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    view = {"agent_id": one.id, "target": other.id, "permission": "deny", "requires_approval": False}
    assert await told(await rule(http, "one", "Other", "deny")) == {"ok": True, "rule": view}
    assert await told(await rule(http, one.id, "*", "allow", requires_approval=True)) == {
        "ok": True, "rule": {"agent_id": one.id, "target": "*", "permission": "allow", "requires_approval": True},
    }  # fmt: skip
    await rule(http, "one", "other", "allow")
    assert [(each["target"], each["permission"]) for each in await listed(http)] == [
        (other.id, "allow"), ("*", "allow"),
    ]  # fmt: skip
    assert await told(await remove(http, "one", "other")) == {"ok": True, "removed": True}
    assert await told(await remove(http, "one", "other")) == {"ok": True, "removed": False}
    assert [each["target"] for each in await listed(http)] == ["*"]


async def test_setting_the_same_rule_again_changes_nothing(http: httpx.AsyncClient) -> None:
    await three(http)
    for _ in range(3):
        await told(await rule(http, "one", "other", "deny"))
    assert len(await events(http, "rule_set")) == 1


async def test_only_the_operator_makes_rules_and_who_tries_is_in_the_audit_trail(http: httpx.AsyncClient) -> None:
    one, *_ = await three(http)
    for answer in (await rule(http, "one", "other", "allow", one), await remove(http, "one", "other", one)):
        assert (answer.status_code, answer.json()) == (403, refusal("forbidden"))
    for call in ("set_rule", "remove_rule"):
        assert [each["actor"] for each in await refusals(http, call)] == [one.id]
    assert await listed(http) == []


async def test_agents_see_their_own_rules_and_the_operator_all(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    await rule(http, "one", "third", "deny")
    await rule(http, "other", "*", "deny")
    assert [each["agent_id"] for each in await listed(http)] == [one.id, other.id]
    assert [each["agent_id"] for each in await listed(http, agent="other")] == [other.id]
    for query in ({}, {"agent": "one"}):
        assert [each["agent_id"] for each in await listed(http, one, **query)] == [one.id]
    assert await listed(http, one, agent="other") == []


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"target": "one"}, 400, "invalid_request"),
        ({"permission": "deny", "requires_approval": True}, 400, "invalid_request"),
        ({"permission": "ask"}, 400, "invalid_request"),
        ({"requires_approval": "yes"}, 400, "invalid_request"),
        ({"agent": "*"}, 404, "agent_not_found"),
        ({"agent": "ghost"}, 404, "agent_not_found"),
        ({"target": "ghost"}, 404, "agent_not_found"),
        ({"target": "operator"}, 404, "agent_not_found"),
        ({"colour": "red"}, 400, "invalid_request"),
    ],
    ids=str,
)
async def test_a_rule_that_makes_no_sense_is_refused(
    http: httpx.AsyncClient, body: Json, status: int, code: str
) -> None:
    await three(http)
    wanted = {"agent": "one", "target": "other", "permission": "allow"} | body
    answer = await http.put(RULES, json=wanted)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert await listed(http) == []


async def test_the_rules_of_who_is_gone_go_too(http: httpx.AsyncClient) -> None:
    _, other, third = await three(http)
    for agent, target in (("one", "other"), ("other", "third"), ("one", "third")):
        await rule(http, agent, target, "deny")
    await http.delete(f"/v1/agents/{other.id}")
    assert [(each["target"]) for each in await listed(http)] == [third.id]


# -- what they do ----------------------------------------------------------------------------------------


async def ways(http: httpx.AsyncClient, by: Member, to: str) -> list[httpx.Response]:
    """Every way from one agent to another."""
    return [
        *[await contact(http, by, action, to) for action in ("delegate", "notify")],
        await contact(http, by, "ask", to, timeout_seconds=0.05),
        await http.post(SEND, json={"to_agent_id": to, "content": "x"}, headers=by.headers),
    ]


async def test_what_is_denied_is_403_whichever_way_and_in_the_audit_trail(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    await rule(http, "one", "other", "deny")
    first, *others = await ways(http, one, "other")
    for answer in (first, *others):
        assert (answer.status_code, answer.json()) == (403, refusal("not_permitted", agent="other"))
    by_name = await http.post("/api/agents/other/messages", json={"message": "x"}, headers=one.headers)
    assert by_name.status_code == 403
    assert by_name.json() == {"delivered": False, "error": first.json()["error"]["message"]}
    assert await inbox(http, other) == []
    assert [len(await refusals(http, call)) for call in ("contact", "send_message", "named_send")] == [3, 1, 1]


async def test_a_rule_is_for_one_direction(http: httpx.AsyncClient) -> None:
    _, other, _ = await three(http)
    await rule(http, "one", "other", "deny")
    answers = await ways(http, other, "one")
    assert [answer.status_code for answer in answers] == [200, 200, 504, 200]


async def test_what_is_said_of_a_target_counts_before_what_is_said_of_anybody(http: httpx.AsyncClient) -> None:
    one, *_ = await three(http)
    await rule(http, "one", "*", "deny")
    await rule(http, "one", "other", "allow")
    assert (await contact(http, one, "notify", "other")).status_code == 200
    assert (await contact(http, one, "notify", "third")).status_code == 403
    await rule(http, "one", "other", "deny")
    await rule(http, "one", "*", "allow")
    assert (await contact(http, one, "notify", "other")).status_code == 403
    assert (await contact(http, one, "notify", "third")).status_code == 200


async def test_a_manager_and_its_reports_are_kept_apart_by_no_rule_and_no_mode(http: httpx.AsyncClient) -> None:
    boss = await register(http, "boss", mode="strict")
    worker = await register(http, "worker", manager="boss", mode="strict")
    for agent, target in (("boss", "worker"), ("worker", "boss")):
        await rule(http, agent, target, "deny")
        await rule(http, agent, "*", "deny")
    for by, to in ((boss, "worker"), (worker, "boss")):
        assert (await told(await contact(http, by, "notify", to)))["status"] == "notified"


async def test_the_operator_is_reached_by_everybody_and_reaches_everybody(http: httpx.AsyncClient) -> None:
    one, *_ = await three(http, mode="strict")
    for agent in ("one", "other"):
        await rule(http, agent, "*", "deny")
    assert (await told(await contact(http, one, "notify", "operator")))["status"] == "notified"
    assert (await told(await contact(http, None, "notify", "one")))["status"] == "notified"


async def test_a_broadcast_leaves_out_whom_its_sender_may_not_contact(http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    await rule(http, "one", "other", "deny")
    await send(http, one, "broadcast", "all but one")
    assert [len(await inbox(http, each)) for each in (other, third)] == [0, 1]
    assert [each["content"] for each in await events(http, "agent_broadcast", by=other)] == []
    by_name = await http.post("/api/agents/broadcast", json={"message": "again"}, headers=one.headers)
    assert by_name.json() == {
        "delivered_to": ["third"], "failed": [{"name": "other", "error": "Not permitted"}],
    }  # fmt: skip


async def test_an_answer_that_somebody_waits_for_is_never_forbidden(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    await rule(http, "other", "one", "deny")
    waiting = asking(http, one, "other")
    asked = await question(http)
    await send(http, other, "one", "yes", reply_to=asked["message_id"])
    assert (await told(await waiting))["text"] == "Response from other: yes"
    again = {"to_agent_id": "one", "content": "more", "reply_to": asked["message_id"]}
    assert (await http.post(SEND, json=again, headers=other.headers)).status_code == 403


# -- events ------------------------------------------------------------------------------------------------


async def test_rules_are_told_to_whom_they_bind_and_the_operator(http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    await rule(http, "one", "other", "allow", requires_approval=True)
    await remove(http, "one", "other")
    kinds = ("rule_set", "rule_removed")
    for by in (one, None):
        made, taken = await events(http, *kinds, by=by)
        assert (made["agent_id"], made["target"], made["permission"], made["requires_approval"]) == (
            one.id, other.id, "allow", True,
        )  # fmt: skip
        assert (taken["agent_id"], taken["target"], taken["actor"]) == (one.id, other.id, "operator")
    for by in (other, third):
        assert await events(http, *kinds, by=by) == []
