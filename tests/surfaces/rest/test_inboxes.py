"""Reading, counting, claiming, finishing and clearing over REST."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.surfaces.served import Member, register
from tests.surfaces.shapes import MESSAGE_ID, TIME, refusal

INBOX = "/v1/agents/messages"


async def pair(http: httpx.AsyncClient) -> tuple[Member, Member]:
    return await register(http, "one"), await register(http, "other")


async def send(http: httpx.AsyncClient, by: Member, to: Member, content: str = "hello", **more: Any) -> str:
    body = {"to_agent_id": to.id, "content": content} | more
    answer = await http.post(f"{INBOX}/send", json=body, headers=by.headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["message_id"]


async def get(http: httpx.AsyncClient, path: str, by: Member | None = None, **query: Any) -> Any:
    answer = await http.get(path, params=query, headers=by.headers if by else None)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def post(http: httpx.AsyncClient, path: str, by: Member | None = None, body: Any = None) -> httpx.Response:
    return await http.post(path, json=body, headers=by.headers if by else None)


def contents(answer: Any) -> list[str]:
    return [message["content"] for message in answer["messages"]]


# -- list ------------------------------------------------------------------------------------------------


async def test_a_listing_is_as_the_protocol_says(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    message_id = await send(http, one, other, metadata={"a": 1})
    answer = await get(http, f"{INBOX}/{other.id}", other)
    (message,) = answer.pop("messages")
    assert answer == {"ok": True, "agent_id": other.id, "count": 1, "unread_count": 1}
    documented = {
        "message_id": message_id,
        "from_agent_id": one.id,
        "to_agent_id": other.id,
        "message_type": "direct",
        "content": "hello",
        "metadata": {"a": 1},
        "timestamp": TIME,
        "read": False,
        "reply_to": None,
    }
    beyond = {
        "thread_id": message_id,
        "conversation": "dm:" + ":".join(sorted((one.id, other.id))),
        "seq": 1,
        "priority": "normal",
        "pattern": None,
        "expires_at": None,
        "trace_id": message_id,
        "hops": 0,
        "task": None,
        "folder": "new",
        "claimed_by": None,
        "claimed_at": None,
        "result": None,
        "error": None,
        "note": None,
        "receipts": {
            "rung": "stored",
            "stored_at": message["timestamp"],
            "handed_off_at": None,
            "handed_off_via": None,
            "seen_at": None,
            "seen_via": None,
            "completed_at": None,
            "replied_at": None,
            "reply_id": None,
        },
    }
    assert message == documented | beyond


async def test_a_listing_shows_and_marks_the_unread_by_default(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    for n in range(3):
        await send(http, one, other, f"{n}")
    first = await get(http, f"{INBOX}/other", other)
    assert (contents(first), first["unread_count"]) == (["0", "1", "2"], 3)
    second = await get(http, f"{INBOX}/other", other)
    assert (second["messages"], second["count"], second["unread_count"]) == ([], 0, 0)
    everything = await get(http, f"{INBOX}/other", other, unread_only=False)
    assert [message["read"] for message in everything["messages"]] == [True, True, True]
    assert {message["receipts"]["rung"] for message in everything["messages"]} == {"seen"}


async def test_a_listing_marks_nothing_when_told_so(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await send(http, one, other)
    for _ in range(2):
        assert (await get(http, f"{INBOX}/{other.id}", other, mark_read=False))["count"] == 1


async def test_a_listing_has_a_limit_a_folder_a_cursor_and_a_direction(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    ids = [await send(http, one, other, f"{n}") for n in range(5)]
    await post(http, f"{INBOX}/{other.id}/{ids[0]}/claim", other)
    asked = {"unread_only": False, "mark_read": False}
    for query, wanted in (
        ({"limit": 2}, ["0", "1"]),
        ({"limit": 2, "after": ids[1]}, ["2", "3"]),
        ({"limit": 2, "latest": True}, ["4", "3"]),
        ({"folder": "cur"}, ["0"]),
        ({"folder": "new"}, ["1", "2", "3", "4"]),
        ({"folder": "done"}, []),
        ({"limit": 1000}, ["0", "1", "2", "3", "4"]),
    ):
        assert contents(await get(http, f"{INBOX}/{other.id}", other, **asked | query)) == wanted


@pytest.mark.parametrize(
    ("text", "meant"), [("true", True), ("1", True), ("True", True), ("false", False), ("0", False)]
)
async def test_truth_can_be_said_in_several_ways(http: httpx.AsyncClient, text: str, meant: bool) -> None:
    one, other = await pair(http)
    message_id = await send(http, one, other)
    await post(http, f"{INBOX}/{other.id}/read", other, {"message_ids": [message_id]})
    assert ((await get(http, f"{INBOX}/{other.id}", other, unread_only=text))["count"] == 0) is meant


async def test_asking_for_the_head_of_a_listing_reads_nothing(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    message_id = await send(http, one, other)
    for path in (f"{INBOX}/{other.id}", f"{INBOX}/{other.id}/{message_id}"):
        answer = await http.head(path, headers=other.headers)
        assert (answer.status_code, answer.content) == (200, b"")
    assert (await get(http, f"{INBOX}/{other.id}/unread", other))["unread_count"] == 1


async def test_a_broadcast_lies_in_each_inbox_with_its_own_state(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    third = await register(http, "third")
    await http.post(f"{INBOX}/send", json={"to_agent_id": "broadcast", "content": "all"}, headers=one.headers)
    assert contents(await get(http, f"{INBOX}/{other.id}", other)) == ["all"]
    (message,) = (await get(http, f"{INBOX}/{third.id}", third))["messages"]
    assert (message["message_type"], message["to_agent_id"], message["read"]) == ("broadcast", "broadcast", False)
    receipts = await get(http, f"/v1/messages/{message['message_id']}", one)
    assert sorted(receipts["read_by"]) == sorted([other.id, third.id])


# -- counts ----------------------------------------------------------------------------------------------


async def test_unread_is_a_count(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    for _ in range(3):
        await send(http, one, other)
    wanted = {"ok": True, "agent_id": other.id, "unread_count": 3}
    assert await get(http, f"{INBOX}/other/unread", other) == wanted
    assert await get(http, f"{INBOX}/{other.id}/unread") == wanted


async def test_the_queue_statistics_have_the_documented_fields(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await send(http, one, other)
    await http.post(f"{INBOX}/send", json={"to_agent_id": "broadcast", "content": "all"}, headers=one.headers)
    assert await get(http, f"{INBOX}/stats/queue", one) == {
        "ok": True,
        "stats": {
            "total_sent": 2,
            "direct_delivered": 0,
            "queued": 1,
            "broadcast_sent": 1,
            "total_queued_messages": 2,
            "total_unread_messages": 2,
            "agents_with_messages": 1,
        },
    }


async def test_the_statistics_of_an_inbox_count_its_folders(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    ids = [await send(http, one, other) for _ in range(4)]
    await post(http, f"{INBOX}/{other.id}/{ids[0]}/claim", other)
    await post(http, f"{INBOX}/{other.id}/{ids[1]}/complete", other)
    await post(http, f"{INBOX}/{other.id}/{ids[2]}/complete", other, {"status": "dead"})
    assert await get(http, f"{INBOX}/other/stats", other) == {
        "ok": True,
        "agent_id": other.id,
        "stats": {"new": 1, "cur": 1, "done": 1, "dead": 1, "unread": 1},
    }


# -- read ------------------------------------------------------------------------------------------------


async def test_one_message_is_read_by_its_owner(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    message_id = await send(http, one, other)
    looked_at = await get(http, f"{INBOX}/{other.id}/{message_id}")
    assert looked_at["message"]["read"] is False  # it was the operator
    answer = await get(http, f"{INBOX}/other/{message_id}", other)
    assert (answer["ok"], answer["agent_id"]) == (True, other.id)
    receipts = answer["message"]["receipts"]
    assert (answer["message"]["read"], receipts["rung"], receipts["seen_via"]) == (True, "seen", "rest")
    assert receipts["seen_at"] == TIME


async def test_messages_are_marked_read_by_their_ids(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    ids = [await send(http, one, other) for _ in range(3)]
    answer = await post(http, f"{INBOX}/{other.id}/read", other, {"message_ids": ids[:2]})
    assert answer.json() == {"ok": True, "agent_id": other.id, "marked": 2}
    assert (await get(http, f"{INBOX}/{other.id}/unread", other))["unread_count"] == 1


async def test_marking_what_is_not_there_is_404(http: httpx.AsyncClient) -> None:
    _, other = await pair(http)
    answer = await post(http, f"{INBOX}/{other.id}/read", other, {"message_ids": ["nothing"]})
    assert answer.status_code == 404
    assert answer.json() == refusal("message_not_found", message_id="nothing")


# -- claim -----------------------------------------------------------------------------------------------


async def test_the_next_message_is_claimed_and_then_none(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    message_id = await send(http, one, other)
    answer = (await post(http, f"{INBOX}/{other.id}/claim", other)).json()
    assert (answer["ok"], answer["agent_id"]) == (True, other.id)
    message = answer["message"]
    assert (message["message_id"], message["folder"]) == (message_id, "cur")
    assert (message["claimed_by"], message["claimed_at"]) == (other.id, TIME)
    again = await post(http, f"{INBOX}/{other.id}/claim", other)
    assert again.json() == {"ok": True, "agent_id": other.id, "message": None}


@pytest.mark.parametrize("how", ["path", "body"])
async def test_a_named_message_is_claimed(http: httpx.AsyncClient, how: str) -> None:
    one, other = await pair(http)
    _, wanted = await send(http, one, other, "a"), await send(http, one, other, "b")
    if how == "path":
        answer = await post(http, f"{INBOX}/{other.id}/{wanted}/claim", other)
    else:
        answer = await post(http, f"{INBOX}/{other.id}/claim", other, {"message_id": wanted})
    assert answer.json()["message"]["content"] == "b"


async def test_exactly_one_of_many_claims_wins(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    message_id = await send(http, one, other)
    path = f"{INBOX}/{other.id}/{message_id}/claim"
    answers = await asyncio.gather(post(http, path, other), *(post(http, path) for _ in range(10)))
    by = [message["claimed_by"] for answer in answers if (message := answer.json().get("message"))]
    assert len(set(by)) == 1
    losers = [answer for answer in answers if answer.status_code == 409]
    assert len(losers) == 11 - len(by)
    assert losers[0].json() == refusal("already_claimed", message_id=message_id, claimed_by=by[0])


async def test_a_finished_message_cannot_be_claimed(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    message_id = await send(http, one, other)
    await post(http, f"{INBOX}/{other.id}/{message_id}/complete", other)
    answer = await post(http, f"{INBOX}/{other.id}/{message_id}/claim", other)
    assert answer.status_code == 409
    assert answer.json() == refusal("already_completed", message_id=message_id, outcome="done")


# -- complete --------------------------------------------------------------------------------------------


async def test_a_message_is_done_unless_said_otherwise(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    message_id = await send(http, one, other)
    answer = (await post(http, f"{INBOX}/{other.id}/{message_id}/complete", other)).json()
    assert (answer["ok"], answer["agent_id"], answer["message"]["folder"]) == (True, other.id, "done")
    assert answer["message"]["receipts"]["completed_at"] == TIME


@pytest.mark.parametrize("status", ["done", "dead"])
async def test_a_message_is_finished_with_words(http: httpx.AsyncClient, status: str) -> None:
    one, other = await pair(http)
    message_id = await send(http, one, other)
    body = {"status": status, "result": "r", "error": "e", "note": "n"}
    message = (await post(http, f"{INBOX}/{other.id}/{message_id}/complete", other, body)).json()["message"]
    assert (message["folder"], message["receipts"]["rung"]) == (status, status)
    assert (message["result"], message["error"], message["note"]) == ("r", "e", "n")


async def test_finishing_twice_the_same_way_is_fine_and_another_way_is_409(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    message_id = await send(http, one, other)
    path = f"{INBOX}/{other.id}/{message_id}/complete"
    first, second = [await post(http, path, other, {"result": "42"}) for _ in range(2)]
    assert first.json() == second.json()
    assert (await post(http, path, other, {"result": "43"})).json()["error"]["code"] == "already_completed"


# -- clear -----------------------------------------------------------------------------------------------


async def test_an_inbox_is_cleared(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    for _ in range(5):
        await send(http, one, other)
    answer = await http.delete(f"{INBOX}/other", headers=other.headers)
    assert answer.json() == {
        "ok": True, "agent_id": other.id, "cleared": 5, "message": f"Cleared 5 message(s) for agent {other.id}",
    }  # fmt: skip
    assert (await get(http, f"{INBOX}/{other.id}", other, unread_only=False))["count"] == 0


@pytest.mark.parametrize("how", ["repeated", "commas"])
async def test_named_messages_are_cleared(http: httpx.AsyncClient, how: str) -> None:
    one, other = await pair(http)
    ids = [await send(http, one, other, f"{n}") for n in range(4)]
    named: Any = ids[:2] if how == "repeated" else ",".join(ids[:2])
    answer = await http.delete(f"{INBOX}/{other.id}", params={"message_ids": named}, headers=other.headers)
    assert answer.json()["cleared"] == 2
    assert contents(await get(http, f"{INBOX}/{other.id}", other)) == ["2", "3"]


@pytest.mark.parametrize("query", ["message_ids=", "message_ids=,", "message_ids=nothing"])
async def test_naming_no_message_of_the_inbox_clears_nothing(http: httpx.AsyncClient, query: str) -> None:
    one, other = await pair(http)
    await send(http, one, other)
    answer = await http.delete(f"{INBOX}/{other.id}?{query}", headers=other.headers)
    assert (answer.status_code, answer.json()["cleared"]) == (200, 0)
    assert (await get(http, f"{INBOX}/{other.id}/unread", other))["unread_count"] == 1


# -- messages by id, threads, search ---------------------------------------------------------------------


async def test_a_message_comes_with_its_receipts(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    message_id = await send(http, one, other)
    await get(http, f"{INBOX}/{other.id}", other)
    answer = await get(http, f"/v1/messages/{message_id}", one)
    assert set(answer) == {"ok", "message", "read_by", "deliveries"}
    assert answer["read_by"] == [other.id]
    (delivery,) = answer["deliveries"]
    assert set(delivery) == {"agent_id", "folder", "read", "claimed_by", "receipts"}
    assert (delivery["agent_id"], delivery["folder"], delivery["read"]) == (other.id, "new", True)
    assert set(answer["message"]) == {
        "message_id", "from_agent_id", "to_agent_id", "message_type", "content", "metadata", "timestamp",
        "reply_to", "thread_id", "conversation", "seq", "priority", "pattern", "expires_at",
        "trace_id", "hops", "task",
    }  # fmt: skip


async def test_a_thread_is_in_order_and_found_from_any_of_its_messages(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    root = await send(http, one, other, "root")
    answer = await send(http, other, one, "answer", reply_to=root)
    last = await send(http, one, other, "last", reply_to=answer)
    for message_id in (root, answer, last):
        thread = await get(http, f"/v1/messages/{message_id}/thread", other)
        assert (contents(thread), thread["count"], thread["ok"]) == (["root", "answer", "last"], 3, True)


async def test_search_finds_words_at_their_beginning_within_what_the_caller_may_see(
    http: httpx.AsyncClient,
) -> None:
    one, other = await pair(http)
    spy = await register(http, "spy")
    await send(http, one, other, "the walnut tree")
    found = await get(http, "/v1/search", one, q="waln")
    assert (contents(found), found["count"], found["ok"]) == (["the walnut tree"], 1, True)
    assert (await get(http, "/v1/search", spy, q="walnut"))["count"] == 0
    assert (await get(http, "/v1/search", q="walnut", agent="one", limit=1))["count"] == 1
    assert (await get(http, "/v1/search", q="walnut", agent="spy"))["count"] == 0


async def test_an_inbox_that_is_not_ones_own_is_404(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    message_id = await send(http, one, other)
    for method, path in (
        ("GET", f"{INBOX}/other"), ("DELETE", f"{INBOX}/other"), ("GET", f"{INBOX}/other/unread"),
        ("GET", f"{INBOX}/other/stats"), ("GET", f"{INBOX}/other/{message_id}"), ("GET", f"{INBOX}/operator"),
        ("POST", f"{INBOX}/other/claim"), ("POST", f"{INBOX}/other/{message_id}/claim"),
        ("POST", f"{INBOX}/other/{message_id}/complete"), ("GET", "/v1/search?q=x&agent=other"),
    ):  # fmt: skip
        answer = await http.request(method, path, headers=one.headers)
        assert (answer.status_code, answer.json()) == (404, refusal("not_found"))


# -- the journal -----------------------------------------------------------------------------------------


async def test_the_journal_is_read_from_a_position_on(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    start = (await get(http, "/v1/events"))["position"]
    message_id = await send(http, one, other)
    page = await get(http, "/v1/events", other, after=start)
    assert {"ok": page["ok"], "position": page["position"], "more": page["more"]} == {
        "ok": True, "position": start + 2, "more": False,
    }  # fmt: skip
    assert [(event["type"], event["position"]) for event in page["events"]] == [
        ("agent_message", start + 1),
        ("inbox_message_sent", start + 2),
    ]
    assert all(event["message_id"] == message_id == MESSAGE_ID for event in page["events"])
    first = await get(http, "/v1/events", other, after=start, limit=1)
    assert (len(first["events"]), first["position"], first["more"]) == (1, start + 1, True)


async def test_a_wait_holds_the_answer_for_the_first_news(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    start = (await get(http, "/v1/events"))["position"]
    asking = asyncio.create_task(get(http, "/v1/events", other, after=start, wait=20))
    await send(http, one, other, "news")
    assert (await asking)["events"][0]["content"] == "news"
    assert (await get(http, "/v1/events", other, after=start + 2, wait=0.01))["events"] == []
