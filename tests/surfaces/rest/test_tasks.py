"""Tasks over REST: handing over, looking, finishing, taking back, and by whom."""

from typing import Any

import httpx
import pytest

from tests.surfaces.rest.talk import (
    INBOX,
    contact,
    events,
    handed_over,
    inbox,
    look,
    of,
    refusals,
    send,
    three,
    told,
)
from tests.surfaces.served import Json, Member, register
from tests.surfaces.shapes import MESSAGE_ID, TIME, Like, refusal

TASKS = "/v1/tasks"


async def act(
    http: httpx.AsyncClient, by: Member | None, task: Json, verb: str = "complete", **how: Any
) -> httpx.Response:
    return await http.post(f"{TASKS}/{task['task_id']}/{verb}", json=how, headers=of(by))


async def listed(http: httpx.AsyncClient, by: Member | None = None, **query: Any) -> list[str]:
    answer = await look(http, TASKS, by, **query)
    assert answer["count"] == len(answer["tasks"])
    return [task["task_id"] for task in answer["tasks"]]


async def status(http: httpx.AsyncClient, member: Member) -> str:
    return (await look(http, f"/v1/agents/{member.id}"))["agent"]["status"]


# -- handing over ----------------------------------------------------------------------------------------


async def test_work_that_is_handed_over_is_a_task(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    answer = await told(
        await contact(http, one, "delegate", "other", "Build it.\nWith care.", context="v2", priority="high")
    )
    task = {
        "task_id": "task-1", "title": "Build it.", "status": "pending", "requester": one.id, "assignee": other.id,
        "parent": None, "priority": "high", "request": "Build it.\nWith care.", "context": "v2", "result": None,
        "error": None, "message_id": answer["message_id"], "not_before": None, "created_at": TIME,
        "started_at": None, "ended_at": None, "ended_by": None,
    }  # fmt: skip
    assert answer == {
        "ok": True, "status": "delegated", "agent_id": other.id, "message_id": MESSAGE_ID, "task": task,
        "text": "Delegated to other (subtask task-1). "
        "You'll receive the result automatically when other finishes.",
        "answer": None, "approval": None,
    }  # fmt: skip
    assert await look(http, f"{TASKS}/task-1", one) == {"ok": True, "task": task, "children": []}
    (lying,) = await inbox(http, other)
    assert (lying["pattern"], lying["priority"], lying["task"]) == ("delegate", "high", "task-1")
    assert lying["content"] == (
        "[Agent Request from one | Pattern: delegate | Priority: high | Task: task-1]\n\n"
        "Context: v2\n\nBuild it.\nWith care."
    )


async def test_who_waits_for_a_result_is_shown_so(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    first, second = await handed_over(http, one, "other"), await handed_over(http, one, "other")
    assert (await status(http, one), await status(http, other)) == ("awaiting_delegation", "idle")
    await act(http, other, first)
    assert await status(http, one) == "awaiting_delegation"
    await act(http, other, second)
    assert await status(http, one) == "idle"


async def test_a_task_is_active_once_its_assignee_has_it(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    task = await handed_over(http, one, "other")
    await look(http, f"{INBOX}/{other.id}", other)
    now = (await look(http, f"{TASKS}/1", one))["task"]
    assert (now["status"], now["started_at"]) == ("active", TIME)
    assert now == task | {"status": "active", "started_at": now["started_at"]}


async def test_work_on_a_task_that_is_handed_on_is_part_of_it(http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    await handed_over(http, one, "other")
    await look(http, f"{INBOX}/{other.id}", other)
    part = await handed_over(http, other, "third")
    assert part["parent"] == "task-1"
    named = await handed_over(http, other, "third", task="task-1")
    tree = await look(http, f"{TASKS}/task-1", one)
    assert tree["children"] == [part, named]
    assert (await look(http, f"{TASKS}/task-2", third))["children"] == []


@pytest.mark.parametrize("foreign", ["task-2", "task-99", "nonsense"])
async def test_a_task_that_is_not_ones_own_is_no_whole_to_be_part_of(
    http: httpx.AsyncClient, foreign: str
) -> None:
    one, *_ = await three(http)
    await handed_over(http, one, "other")
    await handed_over(http, None, "third")
    assert (await handed_over(http, one, "third", task=foreign))["parent"] is None


# -- looking ---------------------------------------------------------------------------------------------


async def test_a_task_is_there_for_its_requester_its_assignee_and_the_operator(http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    await handed_over(http, one, "other")
    for by in (one, other, None):
        assert (await look(http, f"{TASKS}/task-1", by))["task"]["task_id"] == "task-1"
        assert await listed(http, by) == ["task-1"]
    assert await listed(http, third) == []
    for verb, body in (("", None), ("/complete", {}), ("/cancel", {})):
        method = "GET" if body is None else "POST"
        answer = await http.request(method, f"{TASKS}/task-1{verb}", json=body, headers=third.headers)
        assert (answer.status_code, answer.json()) == (404, refusal("task_not_found", task="task-1"))
    assert (await look(http, f"{TASKS}/task-1"))["task"]["status"] == "pending"


async def test_tasks_are_listed_in_order_of_creation_the_newest_of_them(http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    for by, to in ((one, "other"), (other, "third"), (third, "one"), (None, "other")):
        await handed_over(http, by, to)
    assert await listed(http) == ["task-1", "task-2", "task-3", "task-4"]
    assert await listed(http, limit=2) == ["task-3", "task-4"]
    assert await listed(http, one) == await listed(http, agent="one") == ["task-1", "task-3"]
    assert await listed(http, one, agent="ONE") == ["task-1", "task-3"]
    assert await listed(http, agent="operator") == ["task-4"]
    await act(http, other, {"task_id": "task-1"})
    assert await listed(http, open_only=True) == ["task-2", "task-3", "task-4"]
    assert await listed(http, one, open_only=True) == ["task-3"]


@pytest.mark.parametrize("whose", ["other", "operator"])
async def test_no_agent_lists_those_of_another(http: httpx.AsyncClient, whose: str) -> None:
    one, *_ = await three(http)
    answer = await http.get(TASKS, params={"agent": whose}, headers=one.headers)
    assert (answer.status_code, answer.json()) == (403, refusal("forbidden"))
    assert [each["actor"] for each in await refusals(http, "list_tasks")] == [one.id]


async def test_the_tasks_of_nobody_are_404(http: httpx.AsyncClient) -> None:
    await three(http)
    answer = await http.get(TASKS, params={"agent": "ghost"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "agent_not_found")


@pytest.mark.parametrize("called", ["task-1", "1", "01"])
async def test_a_task_is_found_by_its_id_or_its_number(http: httpx.AsyncClient, called: str) -> None:
    one, *_ = await three(http)
    await handed_over(http, one, "other")
    assert (await look(http, f"{TASKS}/{called}", one))["task"]["task_id"] == "task-1"


@pytest.mark.parametrize("called", ["task-2", "2", "0", "-1", "1.0", "%D9%A1", "Task", "9" * 100, "9" * 5000])
async def test_another_name_is_no_task(http: httpx.AsyncClient, called: str) -> None:
    one, *_ = await three(http)
    await handed_over(http, one, "other")
    answer = await http.get(f"{TASKS}/{called}", headers=one.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "task_not_found")


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "open_only=maybe", "agent=", "colour=red"])
async def test_a_query_that_makes_no_sense_is_400(http: httpx.AsyncClient, query: str) -> None:
    answer = await http.get(f"{TASKS}?{query}")
    assert (answer.status_code, answer.json()) == (400, refusal("invalid_request"))


# -- finishing -------------------------------------------------------------------------------------------


async def test_a_result_comes_back_once_where_the_work_was_handed_over(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    task = await handed_over(http, one, "other", priority="urgent")
    answer = await told(await act(http, other, task, result="All\ngreen."))
    ended = {"status": "completed", "result": "All\ngreen.", "ended_at": TIME, "ended_by": other.id}
    assert answer == {"ok": True, "task": task | ended}
    (lying,) = await inbox(http, one)
    assert lying["content"] == "[Delegation Result from other | task-1]\nAll\ngreen."
    assert (lying["from_agent_id"], lying["pattern"], lying["message_type"], lying["priority"]) == (
        "hub", "result", "notice", "urgent",
    )  # fmt: skip
    (request_,) = await inbox(http, other)
    assert (request_["folder"], request_["result"]) == ("done", "All\ngreen.")


async def test_a_failure_comes_back_with_its_reason(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    task = await handed_over(http, one, "other")
    ended = (await told(await act(http, other, task, status="failed", error="no disk")))["task"]
    assert (ended["status"], ended["error"], ended["result"]) == ("failed", "no disk", None)
    (lying,) = await inbox(http, one)
    assert lying["content"] == (
        "[Delegation Failed | other | task-1]\nError: other failed to complete the task: no disk"
    )
    assert (await inbox(http, other))[0]["folder"] == "dead"


@pytest.mark.parametrize(("how", "outcome"), [({"result": "42"}, "completed"), ({"status": "dead"}, "failed")])
async def test_a_task_ends_with_the_message_that_handed_it_over(
    http: httpx.AsyncClient, how: dict[str, Any], outcome: str
) -> None:
    one, other, _ = await three(http)
    task = await handed_over(http, one, "other")
    path = f"{INBOX}/{other.id}/{task['message_id']}/complete"
    for _ in range(2):
        await told(await http.post(path, json=how, headers=other.headers))
    assert (await look(http, f"{TASKS}/1", one))["task"]["status"] == outcome
    assert len(await inbox(http, one)) == 1


async def test_saying_the_same_twice_is_fine_and_something_else_is_409(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    task = await handed_over(http, one, "other")
    answers = [await told(await act(http, other, task, result="42")) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    for how in ({"result": "43"}, {}, {"status": "failed", "error": "x"}):
        answer = await act(http, other, task, **how)
        wanted = refusal("task_ended", task="task-1", status="completed")
        assert (answer.status_code, answer.json()) == (409, wanted)
    assert (await act(http, one, task, "cancel")).json() == refusal(
        "task_ended", task="task-1", status="completed"
    )
    assert len(await inbox(http, one)) == 1
    assert len(await events(http, "task_ended")) == 1


async def test_only_its_assignee_and_the_operator_finish_it(http: httpx.AsyncClient) -> None:
    one, *_ = await three(http)
    task = await handed_over(http, one, "other")
    answer = await act(http, one, task, result="done it myself")
    assert (answer.status_code, answer.json()) == (403, refusal("forbidden"))
    assert [each["actor"] for each in await refusals(http, "complete_task")] == [one.id]
    ended = (await told(await act(http, None, task, result="enough")))["task"]
    assert (ended["status"], ended["ended_by"]) == ("completed", "operator")


@pytest.mark.parametrize("body", [None, {}])
async def test_a_task_may_be_finished_without_a_word(http: httpx.AsyncClient, body: Any) -> None:
    one, other, _ = await three(http)
    await handed_over(http, one, "other")
    await told(await http.post(f"{TASKS}/task-1/complete", json=body, headers=other.headers))
    assert (await inbox(http, one))[0]["content"] == "[Delegation Result from other | task-1]\nDone."


@pytest.mark.parametrize(
    "body", [{"status": "done"}, {"status": "cancelled"}, {"status": None}, {"result": 5}, {"note": "x"}, [], "x"]
)
async def test_a_body_that_makes_no_sense_is_400(http: httpx.AsyncClient, body: Any) -> None:
    one, other, _ = await three(http)
    await handed_over(http, one, "other")
    answer = await http.post(f"{TASKS}/task-1/complete", json=body, headers=other.headers)
    assert (answer.status_code, answer.json()) == (400, refusal("invalid_request"))


async def test_the_operator_hands_over_and_gets_the_result(http: httpx.AsyncClient) -> None:
    _, other, _ = await three(http)
    task = await handed_over(http, None, "other")
    await told(await act(http, other, task, result="42"))
    lying = (await look(http, f"{INBOX}/operator"))["messages"]
    assert [each["content"] for each in lying] == ["[Delegation Result from other | task-1]\n42"]


async def test_who_is_deleted_has_failed_and_what_it_wanted_is_taken_back(http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    await handed_over(http, one, "other")
    await handed_over(http, other, "third")
    await http.delete(f"/v1/agents/{other.id}")
    failed = (await look(http, f"{TASKS}/1", one))["task"]
    cancelled = (await look(http, f"{TASKS}/2", third))["task"]
    assert (failed["status"], cancelled["status"]) == ("failed", "cancelled")
    (lying,) = await inbox(http, one)
    assert lying["content"] == Like(
        r"\[Delegation Failed \| other \| task-1\]\nError: other failed to complete the task: other was deleted\.?"
    )


# -- taking back -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_operator", [False, True])
async def test_what_is_taken_back_takes_its_open_parts_along(http: httpx.AsyncClient, by_operator: bool) -> None:
    one, other, third = await three(http)
    whole = await handed_over(http, one, "other")
    await look(http, f"{INBOX}/{other.id}", other)
    done, open_ = await handed_over(http, other, "third"), await handed_over(http, other, "third")
    await act(http, third, done, result="in time")
    by = None if by_operator else one
    ended = (await told(await act(http, by, whole, "cancel", reason="no time")))["task"]
    assert (ended["status"], ended["error"], ended["ended_by"]) == (
        "cancelled", "no time", "operator" if by_operator else one.id,
    )  # fmt: skip
    tree = await look(http, f"{TASKS}/1", one)
    assert [part["status"] for part in tree["children"]] == ["completed", "cancelled"]
    said = f"{whole['task_id']} was cancelled by {'operator' if by_operator else 'one'}; stop working on it."
    assert said in [each["content"] for each in await inbox(http, other)]
    folders = {each["message_id"]: each["folder"] for each in await inbox(http, third)}
    assert (folders[done["message_id"]], folders[open_["message_id"]]) == ("done", "dead")
    told_back = [each["content"] for each in await inbox(http, one)]
    assert told_back == (
        ["[Delegation Failed | other | task-1]\nError: other failed to complete the task: no time"]
        if by_operator
        else []
    )


async def test_only_who_requested_it_and_the_operator_take_it_back(http: httpx.AsyncClient) -> None:
    one, other, _ = await three(http)
    task = await handed_over(http, one, "other")
    answer = await act(http, other, task, "cancel")
    assert (answer.status_code, answer.json()) == (403, refusal("forbidden"))
    assert [each["actor"] for each in await refusals(http, "cancel_task")] == [other.id]
    for _ in range(2):
        assert (await told(await act(http, one, task, "cancel")))["task"]["status"] == "cancelled"
    assert len(await events(http, "task_ended")) == 1
    answer = await act(http, other, task, result="too late")
    assert answer.json() == refusal("task_ended", task="task-1", status="cancelled")


@pytest.mark.parametrize("body", [{"reason": 5}, {"why": "x"}, [], "x"])
async def test_a_reason_that_is_none_is_400(http: httpx.AsyncClient, body: Any) -> None:
    one, *_ = await three(http)
    await handed_over(http, one, "other")
    answer = await http.post(f"{TASKS}/task-1/cancel", json=body, headers=one.headers)
    assert (answer.status_code, answer.json()) == (400, refusal("invalid_request"))


# -- where the result goes -------------------------------------------------------------------------------


async def test_a_result_of_work_that_a_channel_led_to_is_told_in_the_channel(http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    made = {"name": "build", "members": ["one", "third"]}
    assert (await http.post("/v1/channels", json=made)).status_code == 200
    await send(http, third, "#build", "@one what about the parser?")
    await look(http, f"{INBOX}/{one.id}", one)
    task = await handed_over(http, one, "other")
    await told(await act(http, other, task, result="42"))
    said = (await look(http, "/v1/channels/build/messages", third))["messages"]
    assert [each["content"] for each in said][1:] == ["[Delegation Result from other | task-1]\n42"]
    own = (await look(http, "/v1/conversations/other/messages", one))["messages"]
    assert own[-1]["content"] == "42"
    assert len([each for each in await inbox(http, one) if each["pattern"] == "result"]) == 1


@pytest.mark.parametrize("how", [{"result": "42"}, {"status": "failed", "error": "no disk"}])
async def test_a_result_is_traced_to_what_set_the_work_off(http: httpx.AsyncClient, how: dict[str, Any]) -> None:
    one, other, _ = await three(http)
    task = await handed_over(http, one, "other")
    await told(await act(http, other, task, **how))
    (result,) = await inbox(http, one)
    assert (result["trace_id"], result["hops"]) == (task["message_id"], 1)


# -- events ------------------------------------------------------------------------------------------------


async def test_its_course_is_told_to_its_two_parties_and_the_operator(http: httpx.AsyncClient) -> None:
    one, other, third = await three(http)
    await register(http, "fourth")
    task = await handed_over(http, one, "other")
    await look(http, f"{INBOX}/{other.id}", other)
    await act(http, other, task, result="42")
    kinds = ["task_opened", "task_posted", "task_started", "task_ended"]
    for by in (one, other, None):
        seen = await events(http, *kinds, by=by)
        assert [each["type"] for each in seen] == kinds
        assert [each["status"] for each in seen] == ["pending", "pending", "active", "completed"]
        now = (await look(http, f"{TASKS}/1", by))["task"]
        assert now.items() <= seen[-1].items()
        assert (seen[0]["message_id"], seen[1]["message_id"]) == (None, task["message_id"])
    assert await events(http, *kinds, by=third) == []
