"""Sleeping and waking over REST: work waits, a question does not."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.surfaces.rest.talk import (
    asking,
    contact,
    event,
    events,
    handed_over,
    inbox,
    look,
    question,
    send,
    three,
)
from tests.surfaces.served import Json, Member, Served, register, served
from tests.surfaces.shapes import TIME, refusal


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Served]:
    """One that looks often whether somebody has slept enough."""
    async with served(tmp_path / "data", sweep_every=0.02) as hub:
        yield hub


async def sleep(http: httpx.AsyncClient, whom: Member, by: Member | None, **how: Any) -> httpx.Response:
    return await http.post(
        f"/v1/agents/{whom.id}/sleep", json={"seconds": 600} | how, headers=by.headers if by else None
    )


async def wake(http: httpx.AsyncClient, whom: Member, by: Member | None = None) -> httpx.Response:
    return await http.post(f"/v1/agents/{whom.id}/wake", headers=by.headers if by else None)


async def agent(http: httpx.AsyncClient, member: Member) -> Json:
    return (await look(http, f"/v1/agents/{member.id}"))["agent"]


@pytest.mark.parametrize("by_itself", [True, False])
async def test_an_agent_sleeps_until_it_is_woken(http: httpx.AsyncClient, by_itself: bool) -> None:
    one = await register(http, "one")
    by = one if by_itself else None
    asleep = (await sleep(http, one, by)).json()["agent"]
    assert (asleep["status"], asleep["sleeping_until"], asleep["online"]) == ("sleeping", TIME, True)
    assert await agent(http, one) == asleep | {"last_active": TIME}
    for _ in range(2):
        awake = (await wake(http, one, by)).json()["agent"]
        assert (awake["status"], awake["sleeping_until"]) == ("idle", None)
    changed = await events(http, "agent_status_changed", agent_id=one.id)
    assert [(each["status"], each["sleeping_until"]) for each in changed] == [
        ("sleeping", asleep["sleeping_until"]), ("idle", None),
    ]  # fmt: skip


async def test_an_agent_wakes_by_itself_when_it_has_slept_enough(http: httpx.AsyncClient) -> None:
    one = await register(http, "one")
    await sleep(http, one, one, seconds=0.05)
    woken = await event(http, "agent_status_changed", previous_status="sleeping")
    assert (woken["status"], woken["sleeping_until"], woken["actor"]) == ("idle", None, "hub")
    assert (await agent(http, one))["status"] == "idle"


async def test_sleeping_again_is_sleeping_until_then(http: httpx.AsyncClient) -> None:
    one = await register(http, "one")
    first = (await sleep(http, one, one, seconds=600)).json()["agent"]["sleeping_until"]
    second = (await sleep(http, one, one, seconds=6000)).json()["agent"]["sleeping_until"]
    assert first < second == (await agent(http, one))["sleeping_until"]


async def test_a_sleeper_that_calls_sleeps_on(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    before = (await sleep(http, one, one)).json()["agent"]
    await http.post(f"/v1/agents/{one.id}/heartbeat", headers=one.headers)
    await send(http, one, other.id)
    assert await agent(http, one) == before | {"last_active": TIME}


@pytest.mark.parametrize("verb", ["sleep", "wake"])
async def test_no_agent_does_it_to_another(http: httpx.AsyncClient, verb: str) -> None:
    one, other, _ = await three(http)
    body = {"seconds": 60} if verb == "sleep" else None
    answer = await http.post(f"/v1/agents/{other.id}/{verb}", json=body, headers=one.headers)
    assert (answer.status_code, answer.json()) == (403, refusal("forbidden", agent="other"))
    assert [each["actor"] for each in await events(http, "access_refused", action=verb)] == [one.id]


@pytest.mark.parametrize(
    "body", [{}, {"seconds": 0}, {"seconds": -1}, {"seconds": 365 * 86400 + 1}, {"seconds": "60"},
             {"seconds": None}, {"seconds": 1, "minutes": 1}],
)  # fmt: skip
async def test_a_time_that_is_none_is_400(http: httpx.AsyncClient, body: dict[str, Any]) -> None:
    one = await register(http, "one")
    answer = await http.post(f"/v1/agents/{one.id}/sleep", json=body)
    assert (answer.status_code, answer.json()) == (400, refusal("invalid_request"))
    assert (await agent(http, one))["status"] == "idle"


@pytest.mark.parametrize("verb", ["sleep", "wake"])
async def test_an_unknown_agent_is_404(http: httpx.AsyncClient, verb: str) -> None:
    body = {"seconds": 60} if verb == "sleep" else None
    answer = await http.post(f"/v1/agents/ghost/{verb}", json=body)
    assert (answer.status_code, answer.json()) == (404, refusal("agent_not_found", agent="ghost", available=[]))


# -- what waits, and what does not -----------------------------------------------------------------------


async def test_work_for_a_sleeper_waits_until_it_is_woken(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    until = (await sleep(http, other, other)).json()["agent"]["sleeping_until"]
    task = await handed_over(http, one, "other", "when you are up")
    assert (task["status"], task["message_id"], task["not_before"]) == ("pending", None, until)
    assert await inbox(http, other) == []
    await wake(http, other)
    (lying,) = await inbox(http, other)
    assert lying["content"].endswith("Task: task-1]\n\nwhen you are up")
    now = (await look(http, "/v1/tasks/1", one))["task"]
    assert (now["message_id"], now["not_before"]) == (lying["message_id"], None)
    assert len(await events(http, "task_posted")) == 1


async def test_work_for_a_sleeper_waits_until_it_has_slept_enough(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    await sleep(http, other, other, seconds=0.2)
    await handed_over(http, one, "other")
    posted = await event(http, "task_posted")
    assert (posted["actor"], posted["not_before"]) == ("hub", None)
    assert [each["message_id"] for each in await inbox(http, other)] == [posted["message_id"]]


@pytest.mark.parametrize("how", ["patch", "heartbeat"])
async def test_who_only_says_that_it_sleeps_sleeps_without_an_end(http: httpx.AsyncClient, how: str) -> None:
    one, other, _ = await three(http)
    path = f"/v1/agents/{other.id}" + ("/heartbeat" if how == "heartbeat" else "")
    method = "POST" if how == "heartbeat" else "PATCH"
    assert (await http.request(method, path, json={"status": "sleeping"})).status_code == 200
    assert (await agent(http, other))["sleeping_until"] is None
    task = await handed_over(http, one, "other", "when you are up")
    assert (task["status"], task["message_id"]) == ("pending", None)
    assert (await look(http, "/v1/tasks"))["tasks"] == [task]
    assert len(await events(http, "task_opened", by=one)) == 1
    await wake(http, other)
    assert len(await inbox(http, other)) == 1


async def test_work_that_is_taken_back_before_its_sleeper_wakes_never_comes(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    await sleep(http, other, other)
    await handed_over(http, one, "other")
    answer = await http.post("/v1/tasks/1/cancel", json={}, headers=one.headers)
    assert answer.json()["task"]["status"] == "cancelled"
    await wake(http, other)
    assert await inbox(http, other) == []


async def test_work_for_a_sleeper_is_given_once_under_its_key_before_and_after(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    await sleep(http, other, other)
    first = (await contact(http, one, "delegate", "other", key="k")).json()
    assert (await contact(http, one, "delegate", "other", key="k")).json() == first
    await wake(http, other)
    again = (await contact(http, one, "delegate", "other", key="k")).json()
    assert (again["task"]["task_id"], again["text"]) == (first["task"]["task_id"], first["text"])
    assert len(await inbox(http, other)) == 1


async def test_a_question_wakes_a_sleeper(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    await sleep(http, other, other)
    waiting = asking(http, one, "other")
    asked = await question(http)
    awake = await agent(http, other)
    assert (awake["status"], awake["sleeping_until"]) == ("idle", None)
    await send(http, other, one.id, "yawn", reply_to=asked["message_id"])
    assert (await waiting).json()["text"] == "Response from other: yawn"


async def test_news_and_messages_come_and_wake_nobody(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    await sleep(http, other, other)
    await contact(http, one, "notify", "other")
    await send(http, one, other.id)
    assert len(await inbox(http, other)) == 2
    assert (await agent(http, other))["status"] == "sleeping"


async def test_a_sleeper_is_not_taken_for_silent(tmp_path: Path) -> None:
    async with served(tmp_path / "data", sweep_every=0.02, silent_after=0.1) as hub, hub.client() as http:
        one, other, _ = await three(http)
        await sleep(http, one, None)
        await event(http, "agent_status_changed", agent_id=other.id, status="offline")
        assert (await agent(http, one))["status"] == "sleeping"
