"""Approvals over REST: answered by the operator, once, and to what was shown; what waits goes out once."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.services.house import FakeClock
from tests.surfaces.rest.talk import (
    INBOX,
    SEND,
    asking,
    contact,
    event,
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
from tests.surfaces.served import Json, Member, Served, served
from tests.surfaces.shapes import MESSAGE_ID, TIME, Like, refusal

APPROVALS = "/v1/approvals"
DENIED = "Approval denied for contacting other."


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Served]:
    """One that looks often whether time is up."""
    async with served(tmp_path / "data", sweep_every=0.02) as hub:
        yield hub


async def supervised(http: httpx.AsyncClient) -> tuple[Member, Member, Member]:
    return await three(http, mode="supervised")


async def held(
    http: httpx.AsyncClient, by: Member, to: str = "other", content: str = "May I?", **more: Any
) -> Json:
    answer = await send(http, by, to, content, **more)
    assert answer["held"], answer
    return answer


async def answer(
    http: httpx.AsyncClient, approval: str, decision: str, by: Member | None = None, **more: Any
) -> httpx.Response:
    return await http.post(f"{APPROVALS}/{approval}", json={"decision": decision} | more, headers=of(by))


async def one_of(http: httpx.AsyncClient, approval: str, by: Member | None = None) -> Json:
    return (await look(http, f"{APPROVALS}/{approval}", by))["approval"]


async def listed(http: httpx.AsyncClient, by: Member | None = None, **query: Any) -> list[str]:
    found = await look(http, APPROVALS, by, **query)
    assert found["count"] == len(found["approvals"])
    return [each["approval_id"] for each in found["approvals"]]


async def status(http: httpx.AsyncClient, member: Member) -> str:
    return (await look(http, f"/v1/agents/{member.id}"))["agent"]["status"]


# -- holding ---------------------------------------------------------------------------------------------


async def test_what_a_supervised_agent_sends_waits_and_nobody_has_it(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    answered = await send(http, one, "other", "May I?")
    assert answered == {
        "ok": True, "message_id": MESSAGE_ID, "delivered": False, "queued": False, "timestamp": TIME,
        "held": Like("[a-z2-9]{4}"),
    }  # fmt: skip
    assert await inbox(http, other) == []
    assert (await http.get(f"/v1/messages/{answered['message_id']}", headers=one.headers)).status_code == 404
    assert (await look(http, "/v1/search", None, q="May"))["count"] == 0
    assert await status(http, one) == "awaiting_approval"


async def test_the_operator_is_shown_who_wants_what(http: httpx.AsyncClient) -> None:
    one, *_ = await supervised(http)
    waiting = await held(http, one)
    shown = await one_of(http, waiting["held"])
    assert shown == {
        "approval_id": waiting["held"], "kind": "contact", "agent_id": one.id, "tool": "send_to_agent",
        "arguments": {"to": "other", "message": "May I?"}, "digest": Like("[0-9a-f]{64}"), "status": "pending",
        "created_at": TIME, "expires_at": TIME, "answered_at": None, "answered_by": None, "note": None,
        "used_at": None,
    }  # fmt: skip
    assert await look(http, APPROVALS) == {"ok": True, "approvals": [shown], "count": 1}


@pytest.mark.parametrize("mode", ["supervised", "strict"])
@pytest.mark.parametrize("action", ["ask", "delegate", "notify"])
async def test_a_call_waits_too_and_says_so(http: httpx.AsyncClient, mode: str, action: str) -> None:
    one, other, _ = await three(http, mode=mode)
    waiting = await told(await contact(http, one, action, "other", "Look.", context="src"))
    assert waiting == {
        "ok": True, "status": "awaiting_approval", "agent_id": other.id, "message_id": MESSAGE_ID,
        "text": "This action requires approval. Waiting for approval...", "task": None, "answer": None,
        "approval": Like("[a-z2-9]{4}"),
    }  # fmt: skip
    shown = await one_of(http, waiting["approval"])
    priority = {"priority": "normal"} if action == "delegate" else {}
    wanted = {"action": action, "agent": "other", "message": "Look.", "context": "src"} | priority
    assert (shown["tool"], shown["arguments"]) == ("contact_agent", wanted)
    assert await inbox(http, other) == []
    assert (await look(http, "/v1/tasks"))["count"] == 0


async def test_a_call_by_name_waits_and_says_so_in_its_own_shape(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    by_name = await http.post("/api/agents/other/messages", json={"message": "x"}, headers=one.headers)
    assert (by_name.status_code, by_name.json()) == (
        200,
        {
            "delivered": False, "error": "This action requires approval. Waiting for approval...",
            "approval": Like("[a-z2-9]{4}"),
        },
    )  # fmt: skip
    to_all = await http.post("/api/agents/broadcast", json={"message": "y"}, headers=one.headers)
    assert (to_all.json()["delivered_to"], to_all.json()["approval"]) == ([], Like("[a-z2-9]{4}"))
    assert await inbox(http, other) == []


async def test_a_rule_makes_an_autonomous_agent_wait(http: httpx.AsyncClient) -> None:
    one, *_ = await three(http)
    about = {"agent": "one", "target": "other", "permission": "allow", "requires_approval": True}
    await told(await http.put("/v1/permissions", json=about))
    await held(http, one)
    assert "held" not in await send(http, one, "third", "free")


# -- letting through -------------------------------------------------------------------------------------


async def test_what_is_approved_goes_out_once_as_the_message_it_was_to_be(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    waiting = await held(http, one, metadata={"pr": 12}, priority="high", ttl_seconds=600)
    shown = await one_of(http, waiting["held"])
    done = await told(await answer(http, waiting["held"], "approve", digest=shown["digest"], note="go"))
    assert done == {
        "ok": True, "message": "Sent to other.",
        "approval": shown
        | {"status": "approved", "answered_at": TIME, "answered_by": "operator", "note": "go"},
    }  # fmt: skip
    (lying,) = await inbox(http, other)
    assert (lying["message_id"], lying["content"], lying["metadata"], lying["priority"]) == (
        waiting["message_id"], "May I?", {"pr": 12}, "high",
    )  # fmt: skip
    assert (lying["from_agent_id"], lying["expires_at"]) == (one.id, TIME)
    assert await status(http, one) == "idle"
    assert (await answer(http, waiting["held"], "approve")).status_code == 409
    assert len(await inbox(http, other)) == 1


async def test_a_reply_that_waited_is_still_a_reply(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    first = await send(http, other, "one", "first")
    waiting = await held(http, one, content="second", reply_to=first["message_id"])
    await answer(http, waiting["held"], "approve")
    (lying,) = await inbox(http, other)
    assert (lying["message_type"], lying["reply_to"]) == ("reply", first["message_id"])


async def test_work_is_handed_over_once_it_is_approved(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    waiting = await told(await contact(http, one, "delegate", "other", "Build it."))
    done = await told(await answer(http, waiting["approval"], "approve"))
    text = "Delegated to other (subtask task-1). You'll receive the result automatically when other finishes."
    assert done["message"] == text
    assert [each["message_id"] for each in await inbox(http, other)] == [waiting["message_id"]]
    assert [each["content"] for each in await inbox(http, one)] == [text]
    assert await status(http, one) == "awaiting_delegation"


async def test_the_answer_to_a_question_that_was_approved_lies_in_the_inbox(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    waiting = await told(await contact(http, one, "ask", "other", "Is it green?"))
    assert (await told(await answer(http, waiting["approval"], "approve")))["message"] == "other is asked."
    asked = await question(http)
    assert asked["message_id"] == waiting["message_id"]
    await send(http, other, "one", "yes", reply_to=asked["message_id"])
    assert [each["content"] for each in await inbox(http, one)] == ["yes"]
    assert [each["status"] for each in await events(http, "ask_ended")] == ["answered"]


async def test_what_cannot_be_done_any_more_is_told_to_both(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    work = await told(await contact(http, one, "delegate", "other"))
    message = await held(http, one)
    await http.patch(f"/v1/agents/{other.id}", json={"status": "offline"})
    done = await told(await answer(http, work["approval"], "approve"))
    assert done["message"] == "agent unavailable: other is offline. Use 'notify' to leave a message for it."
    await http.delete(f"/v1/agents/{other.id}")
    done = await told(await answer(http, message["held"], "approve"))
    assert done["message"] == Like("No agent is called .*")
    lying = [each["content"] for each in await inbox(http, one)]
    assert len(lying) == 2
    assert all(each.startswith("Error: ") for each in lying)
    assert (await look(http, "/v1/tasks"))["count"] == 0


async def test_what_a_rule_forbids_meanwhile_is_not_said_to_be_sent(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    waiting = await held(http, one)
    deny = {"agent": "one", "target": "other", "permission": "deny"}
    await told(await http.put("/v1/permissions", json=deny))
    done = await told(await answer(http, waiting["held"], "approve"))
    reached = [each["message_id"] for each in await inbox(http, other)] == [waiting["message_id"]]
    assert (done["message"] == "Sent to other.") is reached


# -- refusing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("note", [None, "not on a Friday"])
async def test_what_is_denied_is_never_sent_and_its_sender_is_told(
    http: httpx.AsyncClient, note: str | None
) -> None:
    one, other, _ = await supervised(http)
    waiting = await held(http, one)
    done = await told(await answer(http, waiting["held"], "deny", note=note))
    assert (done["approval"]["status"], done["approval"]["note"], done["message"]) == (
        "denied", note, "one is told.",
    )  # fmt: skip
    assert await inbox(http, other) == []
    (lying,) = await inbox(http, one)
    assert lying["content"] == (DENIED if note is None else f"{DENIED}\n{note}")
    assert (lying["from_agent_id"], lying["message_type"]) == ("hub", "notice")
    assert (await answer(http, waiting["held"], "approve")).status_code == 409
    assert await inbox(http, other) == []
    assert await status(http, one) == "idle"


async def test_what_nobody_answers_in_time_is_denied(tmp_path: Path) -> None:
    async with (
        served(tmp_path / "data", approval_patience=0.1, sweep_every=0.02) as hub,
        hub.client() as http,
    ):
        one, other, _ = await supervised(http)
        waiting = await held(http, one)
        expired = await event(http, "approval_answered", approval_id=waiting["held"])
        assert (expired["status"], expired["answered_by"], expired["actor"]) == ("expired", "hub", "hub")
        assert [each["content"].splitlines()[0] for each in await inbox(http, one)] == [DENIED]
        late = await answer(http, waiting["held"], "approve")
        wanted = refusal("approval_answered", approval=waiting["held"], status="expired")
        assert (late.status_code, late.json()) == (409, wanted)
        assert await inbox(http, other) == []


async def test_once_its_time_is_up_nothing_is_approved_though_nobody_has_noticed_yet(tmp_path: Path) -> None:
    clock = FakeClock()
    async with (
        served(tmp_path / "data", clock=clock, approval_patience=10, sweep_every=10_000) as hub,
        hub.client() as http,
    ):
        one, other, _ = await supervised(http)
        waiting = await held(http, one)
        clock.move_on(10_000)
        late = await answer(http, waiting["held"], "approve")
        assert (late.status_code, late.json()["error"]["code"]) == (409, "approval_answered")
        assert await inbox(http, other) == []


async def test_who_is_deleted_wants_nothing_any_more(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    waiting = await held(http, one)
    await http.delete(f"/v1/agents/{one.id}")
    assert await listed(http) == []
    late = await answer(http, waiting["held"], "approve")
    assert late.json() == refusal("approval_answered", approval=waiting["held"], status="cancelled")
    assert await inbox(http, other) == []


# -- once, and to this -------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["approve", "deny"])
@pytest.mark.parametrize("second", ["approve", "deny"])
async def test_the_first_answer_counts_and_another_is_in_the_audit_trail(
    http: httpx.AsyncClient, first: str, second: str
) -> None:
    one, other, _ = await supervised(http)
    waiting = await held(http, one)
    await told(await answer(http, waiting["held"], first))
    again = await answer(http, waiting["held"], second)
    state = "approved" if first == "approve" else "denied"
    wanted = refusal("approval_answered", approval=waiting["held"], status=state)
    assert (again.status_code, again.json()) == (409, wanted)
    (noted,) = await refusals(http, "answer_approval")
    assert (noted["actor"], noted["reason"]) == ("operator", again.json()["error"]["message"])
    assert noted["actor_token"].startswith("t-")
    assert len(await inbox(http, other)) == (first == "approve")
    assert len(await events(http, "approval_answered")) == 1


@pytest.mark.parametrize("decision", ["approve", "deny"])
@pytest.mark.parametrize("at", [0, 31, 63])
async def test_an_answer_to_something_else_is_refused_and_noted_and_leaves_it_waiting(
    http: httpx.AsyncClient, decision: str, at: int
) -> None:
    one, other, _ = await supervised(http)
    waiting = await held(http, one)
    digest = (await one_of(http, waiting["held"]))["digest"]
    off = digest[:at] + ("0" if digest[at] != "0" else "1") + digest[at + 1 :]
    refused = await answer(http, waiting["held"], decision, digest=off)
    wanted = refusal("approval_changed", approval=waiting["held"])
    assert (refused.status_code, refused.json()) == (409, wanted)
    (noted,) = await refusals(http, "answer_approval")
    assert (noted["actor"], noted["reason"]) == ("operator", refused.json()["error"]["message"])
    assert await listed(http) == [waiting["held"]]
    assert (await inbox(http, one), await inbox(http, other)) == ([], [])
    await told(await answer(http, waiting["held"], "approve", digest=digest))
    assert len(await inbox(http, other)) == 1


async def test_two_calls_alike_are_two_questions(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    first, second = await held(http, one), await held(http, one)
    assert first["held"] != second["held"]
    digests = {(await one_of(http, each["held"]))["digest"] for each in (first, second)}
    assert len(digests) == 2
    await answer(http, second["held"], "approve")
    assert [each["message_id"] for each in await inbox(http, other)] == [second["message_id"]]
    assert await listed(http) == [first["held"]]
    assert await status(http, one) == "awaiting_approval"


# -- by whom ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["approve", "deny"])
@pytest.mark.parametrize("whose", ["its own", "another's"])
async def test_no_agent_answers_not_even_its_own(http: httpx.AsyncClient, decision: str, whose: str) -> None:
    one, other, _ = await supervised(http)
    waiting = await held(http, one)
    by = one if whose == "its own" else other
    refused = await answer(http, waiting["held"], decision, by)
    assert (refused.status_code, refused.json()) == (403, refusal("forbidden"))
    (noted,) = await refusals(http, "answer_approval")
    assert (noted["actor"], noted["reason"]) == (by.id, refused.json()["error"]["message"])
    assert await listed(http) == [waiting["held"]]
    assert await inbox(http, other) == []


async def test_an_agent_sees_its_own_and_the_operator_all(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    careful = await three_more(http)
    mine, theirs = await held(http, one), await held(http, careful)
    assert await listed(http) == [mine["held"], theirs["held"]]
    assert await listed(http, one) == [mine["held"]]
    assert await listed(http, other) == []
    assert (await one_of(http, mine["held"], one))["agent_id"] == one.id
    for by in (one, other):
        answered = await http.get(f"{APPROVALS}/{theirs['held']}", headers=by.headers)
        wanted = refusal("approval_not_found", approval=theirs["held"])
        assert (answered.status_code, answered.json()) == (404, wanted)


async def three_more(http: httpx.AsyncClient) -> Member:
    made = await http.post("/v1/agents/register", json={"name": "careful", "mode": "strict"})
    return Member(made.json())


async def test_answered_ones_are_listed_when_they_are_asked_for(http: httpx.AsyncClient) -> None:
    one, *_ = await supervised(http)
    first, second, third = [(await held(http, one, content=f"{n}"))["held"] for n in range(3)]
    await answer(http, second, "approve")
    assert await listed(http) == await listed(http, one) == [first, third]
    assert await listed(http, all=True) == await listed(http, one, all=True) == [first, second, third]
    assert await listed(http, all=True, limit=2) == [second, third]


async def test_an_approval_is_found_in_any_case(http: httpx.AsyncClient) -> None:
    one, *_ = await supervised(http)
    waiting = (await held(http, one))["held"]
    assert (await one_of(http, waiting.upper()))["approval_id"] == waiting
    assert (await answer(http, waiting.upper(), "deny")).status_code == 200


async def test_an_unknown_approval_is_404(http: httpx.AsyncClient) -> None:
    one, *_ = await supervised(http)
    wanted = refusal("approval_not_found", approval="zzzz")
    for by in (one, None):
        looked = await http.get(f"{APPROVALS}/zzzz", headers=of(by))
        assert (looked.status_code, looked.json()) == (404, wanted)
    answered = await answer(http, "zzzz", "approve")
    assert (answered.status_code, answered.json()) == (404, wanted)


@pytest.mark.parametrize(
    "body",
    [{}, {"decision": "yes"}, {"decision": None}, {"decision": "approve", "digest": ""}, {"decision": "APPROVE"},
     {"decision": "approve", "digest": "0" * 65}, {"decision": "approve", "digest": 5},
     {"decision": "approve", "note": 5}, {"decision": "approve", "reason": "x"}, [], "approve"],
    ids=str,
)  # fmt: skip
async def test_a_body_that_makes_no_sense_is_400_and_leaves_it_waiting(http: httpx.AsyncClient, body: Any) -> None:
    one, *_ = await supervised(http)
    waiting = (await held(http, one))["held"]
    answered = await http.post(f"{APPROVALS}/{waiting}", json=body)
    assert (answered.status_code, answered.json()) == (400, refusal("invalid_request"))
    assert await listed(http) == [waiting]


# -- once under its key --------------------------------------------------------------------------------------


async def test_a_message_that_waits_is_the_same_under_its_key_before_and_after(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    first = await held(http, one, idempotency_key="k")
    assert await held(http, one, idempotency_key="k") == first
    assert await listed(http) == [first["held"]]
    other_words = {"to_agent_id": "other", "content": "Else", "idempotency_key": "k"}
    conflict = await http.post(SEND, json=other_words, headers=one.headers)
    assert (conflict.status_code, conflict.json()) == (409, refusal("idempotency_conflict", key="k"))
    await answer(http, first["held"], "approve")
    after = await send(http, one, "other", "May I?", idempotency_key="k")
    assert (after["message_id"], after["queued"], "held" in after) == (first["message_id"], True, False)
    assert len(await inbox(http, other)) == 1


async def test_a_message_that_was_denied_is_not_sent_by_repeating_it(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    first = await held(http, one, idempotency_key="k")
    await answer(http, first["held"], "deny")
    body = {"to_agent_id": "other", "content": "May I?", "idempotency_key": "k"}
    again = await http.post(SEND, json=body, headers=one.headers)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "conflict")
    assert (await listed(http), await inbox(http, other)) == ([], [])


@pytest.mark.parametrize("action", ["ask", "delegate", "notify"])
async def test_a_call_that_waits_is_the_same_under_its_key(http: httpx.AsyncClient, action: str) -> None:
    one, other, _ = await supervised(http)
    first = await told(await contact(http, one, action, "other", key="k"))
    assert await told(await contact(http, one, action, "other", key="k")) == first
    assert await listed(http) == [first["approval"]]
    await answer(http, first["approval"], "approve")
    if action == "ask":
        waiting = asking(http, one, "other", key="k")
        await send(http, other, "one", "yes", reply_to=first["message_id"])
        assert (await told(await waiting))["text"] == "Response from other: yes"
    else:
        after = await told(await contact(http, one, action, "other", key="k"))
        assert (after["message_id"], after["approval"]) == (first["message_id"], None)
    assert len(await inbox(http, other)) == 1


async def test_work_for_a_sleeper_that_was_approved_is_known_under_its_key(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    await http.post(f"/v1/agents/{other.id}/sleep", json={"seconds": 600})
    first = await told(await contact(http, one, "delegate", "other", key="k"))
    await told(await answer(http, first["approval"], "approve"))
    for _ in range(2):
        again = await told(await contact(http, one, "delegate", "other", key="k"))
        assert (again["status"], again["task"]["task_id"]) == ("delegated", "task-1")
        await http.post(f"/v1/agents/{other.id}/wake")
    assert len(await inbox(http, other)) == 1


# -- what is free of it ----------------------------------------------------------------------------------


async def test_an_answer_that_somebody_waits_for_waits_for_nobody(http: httpx.AsyncClient) -> None:
    one, other, _ = await supervised(http)
    waiting = asking(http, other, "one")
    asked = await question(http)
    said = await send(http, one, other.id, "yes", reply_to=asked["message_id"])
    assert "held" not in said
    assert (await told(await waiting))["text"] == "Response from one: yes"


async def test_to_the_operator_all_may_speak_freely(http: httpx.AsyncClient) -> None:
    one, *_ = await supervised(http)
    assert "held" not in await send(http, one, "operator", "hello")
    assert (await look(http, f"{INBOX}/operator"))["count"] == 1


# -- events ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("decision", "last"), [("approve", "agent_message"), ("deny", "message_dropped")])
async def test_what_waits_is_told_to_its_sender_and_the_operator(
    http: httpx.AsyncClient, decision: str, last: str
) -> None:
    one, other, third = await supervised(http)
    waiting = await held(http, one)
    await answer(http, waiting["held"], decision)
    kinds = ("approval_requested", "message_held", "approval_answered", "message_dropped")
    for by in (one, None):
        seen = await events(http, *kinds, by=by)
        wanted = kinds[:3] if decision == "approve" else kinds
        assert [each["type"] for each in seen] == list(wanted)
        assert {each["approval_id"] for each in seen} == {waiting["held"]}
        assert (await one_of(http, waiting["held"], by)).items() <= seen[2].items()
        (ended,) = await events(http, last, by=by, message_id=waiting["message_id"])
        assert (ended["from_agent_id"], ended["to_agent_id"]) == (one.id, other.id)
    for by in (other, third):
        assert await events(http, *kinds, by=by) == []
