"""Contact, tasks, rules and approvals as they arrive on WebSockets: an agent sees its own only."""

import json

import httpx
import pytest

from tests.surfaces.rest.talk import INBOX, SEND, asking, contact, handed_over, look, of, send, three, told
from tests.surfaces.served import Json, Member, Served
from tests.surfaces.websocket.listener import all_until_now, event, frames_until, hello

NEW = (
    "ask_opened", "ask_ended", "task_opened", "task_posted", "task_started", "task_ended", "rule_set",
    "rule_removed", "approval_requested", "approval_answered", "message_held", "message_dropped",
)  # fmt: skip


async def seen_by(hub: Served, http: httpx.AsyncClient, member: Member | None) -> list[Json]:
    """All that this one's stream holds from the beginning."""
    async with hub.socket(of(member), after=0) as socket:
        await hello(socket)
        return await all_until_now(socket, http)


async def test_an_agent_answers_a_question_that_its_socket_brings(hub: Served, http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    async with hub.socket(other.headers) as socket:
        await hello(socket)
        waiting = asking(http, one, "other", "Is it green?")
        asked = await event(socket, "agent_message", pattern="ask")
        assert asked["content"] == "[Agent Request from one | Pattern: ask]\n\nIs it green?"
        opened = await event(socket, "ask_opened", message_id=asked["message_id"])
        assert (opened["asker"], opened["target"], opened["status"]) == (one.id, other.id, "open")
        await send(http, other, one.id, "yes", reply_to=asked["message_id"])
        ended = await event(socket, "ask_ended", message_id=asked["message_id"])
        assert ended["status"] == "answered"
    assert (await told(await waiting))["text"] == "Response from other: yes"


async def test_a_result_comes_to_the_socket_of_the_one_who_waits_for_it(
    hub: Served, http: httpx.AsyncClient
) -> None:
    one, other, _ = await three(http)
    async with hub.socket(one.headers) as socket:
        await hello(socket)
        await handed_over(http, one, "other")
        await event(socket, "agent_status_changed", agent_id=one.id, status="awaiting_delegation")
        await look(http, f"{INBOX}/{other.id}", other)
        await event(socket, "task_started", task_id="task-1")
        await http.post("/v1/tasks/1/complete", json={"result": "42"}, headers=other.headers)
        frames = await frames_until(socket, lambda each: each["type"] == "agent_status_changed")
    told_of = [each["type"] for each in frames if each["type"] in (*NEW, "agent_message")]
    assert told_of == ["task_ended", "agent_message"]
    (result,) = [each for each in frames if each["type"] == "agent_message"]
    assert (result["pattern"], result["content"]) == ("result", "[Delegation Result from other | task-1]\n42")
    assert (frames[-1]["agent_id"], frames[-1]["status"]) == (one.id, "idle")


async def test_what_was_held_comes_to_its_recipient_when_it_is_approved_and_not_before(
    hub: Served, http: httpx.AsyncClient
) -> None:
    one, other, _ = await three(http, mode="supervised")
    async with hub.socket(other.headers) as socket:
        await hello(socket)
        held = await send(http, one, other.id, "May I?")
        assert "May I?" not in json.dumps(await all_until_now(socket, http))
        await http.post(f"/v1/approvals/{held['held']}", json={"decision": "approve"})
        came = await event(socket, "agent_message", content="May I?")
        assert (came["message_id"], came["from_agent_id"]) == (held["message_id"], one.id)
        rest = await all_until_now(socket, http)
    assert [each for each in rest if each["type"] == "agent_message"] == []


async def all_of_it(http: httpx.AsyncClient) -> tuple[Member, Member, Member]:
    """Everything that can happen between the first two, with words that tell of it."""
    one, other, third = await three(http)
    waiting = asking(http, one, "other", "secret question", timeout_seconds=0.05)
    assert (await waiting).status_code == 504
    await handed_over(http, one, "other", "secret work")
    await look(http, f"{INBOX}/{other.id}", other)
    await http.post("/v1/tasks/1/complete", json={"result": "secret result"}, headers=other.headers)
    rule = {"agent": "one", "target": "other"}
    await http.put("/v1/permissions", json=rule | {"permission": "allow", "requires_approval": True})
    held = (await told(await contact(http, one, "notify", "other", "secret news")))["approval"]
    await http.post(f"/v1/approvals/{held}", json={"decision": "deny", "note": "secret reason"})
    await http.delete("/v1/permissions", params=rule)
    refused = await http.post(f"/v1/approvals/{held}", json={"decision": "approve"}, headers=other.headers)
    assert refused.status_code == 403
    return one, other, third


EACH: dict[str, list[str]] = {
    "one": list(NEW),
    "other": ["ask_opened", "ask_ended", "task_opened", "task_posted", "task_started", "task_ended"],
    "third": [],
    "operator": [*NEW, "access_refused"],
}


@pytest.mark.parametrize("who", EACH)
async def test_everybody_sees_its_own_and_the_operator_all(hub: Served, http: httpx.AsyncClient, who: str) -> None:
    one, other, third = await all_of_it(http)
    member = {"one": one, "other": other, "third": third, "operator": None}[who]
    seen = await seen_by(hub, http, member)
    kinds = {each["type"] for each in seen} & {*NEW, "access_refused"}
    assert kinds == set(EACH[who])
    if who == "third":
        assert "secret" not in json.dumps(seen)
    if who == "other":
        assert "secret news" not in json.dumps(seen)
        assert "secret reason" not in json.dumps(seen)


@pytest.mark.parametrize("who", EACH)
async def test_the_long_poll_tells_the_same_as_the_socket(hub: Served, http: httpx.AsyncClient, who: str) -> None:
    one, other, third = await all_of_it(http)
    member = {"one": one, "other": other, "third": third, "operator": None}[who]
    polled: list[Json] = []
    page: Json = {"position": 0, "more": True}
    while page["more"]:
        page = await look(http, "/v1/events", member, after=page["position"], limit=7)
        polled += page["events"]
    assert (await seen_by(hub, http, member))[: len(polled)] == polled


async def test_over_the_shoulder_of_an_agent_its_questions_are_seen(hub: Served, http: httpx.AsyncClient) -> None:
    one, *_ = await three(http)
    async with hub.socket(agent="other") as other, hub.socket(agent="third") as third:
        await hello(other)
        await hello(third)
        assert (await contact(http, one, "ask", "other", timeout_seconds=0.05)).status_code == 504
        for socket, wanted in ((other, ["ask_opened", "ask_ended"]), (third, [])):
            seen = await all_until_now(socket, http)
            assert [each["type"] for each in seen if each["type"] in NEW] == wanted


async def test_a_nonce_never_leaves_the_hub(hub: Served, http: httpx.AsyncClient) -> None:
    one, *_ = await three(http, mode="supervised")
    body = {"to_agent_id": "other", "content": "May I?"}
    held = (await told(await http.post(SEND, json=body, headers=one.headers)))["held"]
    nonce = await hub.hub.store.read(lambda tx: getattr(tx.approvals.get(held), "nonce", ""))
    assert len(nonce) == 32
    shown = [await look(http, "/v1/approvals"), await look(http, f"/v1/approvals/{held}")]
    everything = [*shown, await seen_by(hub, http, None)]
    assert nonce not in json.dumps(everything)
