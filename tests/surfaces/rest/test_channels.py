"""Channels over REST: creating, looking, joining, leaving, ending, and what is said in them."""

from typing import Any
from unittest.mock import ANY

import httpx
import pytest

from tests.surfaces.served import Member, Served, register
from tests.surfaces.shapes import MESSAGE_ID, TEXT, TIME, Like, refusal

CHANNELS = "/v1/channels"
SEND = "/v1/agents/messages/send"

BUILD: dict[str, Any] = {
    "channel": "#build", "topic": None, "members": [], "created_by": "operator", "created_at": TIME,
    "archived_at": None,
}  # fmt: skip


async def pair(http: httpx.AsyncClient) -> tuple[Member, Member]:
    return await register(http, "one"), await register(http, "other")


async def created(http: httpx.AsyncClient, by: Member | None = None, name: str = "build", **said: Any) -> Any:
    answer = await http.post(CHANNELS, json={"name": name} | said, headers=by.headers if by else None)
    assert answer.status_code == 200, answer.text
    return answer.json()["channel"]


async def said(http: httpx.AsyncClient, by: Member | None, content: str, **more: Any) -> httpx.Response:
    body = {"to_agent_id": "#build", "content": content} | more
    return await http.post(SEND, json=body, headers=by.headers if by else None)


async def members(http: httpx.AsyncClient, name: str = "build") -> list[str]:
    return (await http.get(f"{CHANNELS}/{name}")).json()["channel"]["members"]


async def unread(http: httpx.AsyncClient, agent: str) -> int:
    return (await http.get(f"/v1/agents/messages/{agent}/unread")).json()["unread_count"]


# -- create ----------------------------------------------------------------------------------------------


async def test_the_operator_creates_a_channel_and_is_not_a_member(http: httpx.AsyncClient) -> None:
    answer = await http.post(CHANNELS, json={"name": "build"})
    assert (answer.status_code, answer.json()) == (200, {"ok": True, "channel": BUILD})


async def test_an_agent_that_creates_a_channel_is_its_first_member(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    wanted = {"topic": "version 2", "members": ["other", other.id, "ONE"]}
    channel = await created(http, one, **wanted)
    assert channel == BUILD | {"topic": "version 2", "members": [one.id, other.id], "created_by": one.id}


async def test_the_operator_creates_a_channel_as_an_agent(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    answer = await http.post(CHANNELS, json={"name": "build"}, headers={"X-Agent-ID": "one"})
    assert answer.json()["channel"] == BUILD | {"members": [one.id], "created_by": one.id}
    assert (await http.post(f"{CHANNELS}/build/archive", headers=one.headers)).status_code == 200


@pytest.mark.parametrize("name", ["#build", "Build", "#BUILD"])
async def test_a_name_is_written_with_or_without_its_sign_and_in_any_case(
    http: httpx.AsyncClient, name: str
) -> None:
    assert (await created(http, name=name))["channel"] == "#build"


@pytest.mark.parametrize("name", ["b", "7", "a.b_c-d", "x" * 64, "#" + "x" * 64])
async def test_names_of_1_to_64_characters_are_taken(http: httpx.AsyncClient, name: str) -> None:
    assert (await created(http, name=name))["channel"] == f"#{name.removeprefix('#')}"


@pytest.mark.parametrize("name", ["", "#", "##build", "two words", "-x", ".x", "a/b", "é", "x" * 65])
async def test_a_name_that_no_channel_may_have_is_400(http: httpx.AsyncClient, name: str) -> None:
    answer = await http.post(CHANNELS, json={"name": name})
    assert (answer.status_code, answer.json()) == (400, refusal("name_refused", name=name))


async def test_a_name_that_is_there_is_409_even_when_it_is_archived(http: httpx.AsyncClient) -> None:
    await created(http)
    for hint in ("join it", "archived"):
        answer = await http.post(CHANNELS, json={"name": "#Build"})
        assert (answer.status_code, answer.json()) == (409, refusal("conflict", channel="build"))
        assert hint in answer.json()["error"]["message"]
        await http.post(f"{CHANNELS}/build/archive")


async def test_an_unknown_member_is_404_and_nothing_is_created(http: httpx.AsyncClient) -> None:
    await register(http, "one")
    answer = await http.post(CHANNELS, json={"name": "build", "members": ["one", "ghost"]})
    assert answer.status_code == 404
    assert answer.json() == refusal("agent_not_found", agent="ghost", available=["one"])
    assert (await http.get(CHANNELS)).json()["count"] == 0


@pytest.mark.parametrize(
    "body",
    [{}, {"name": None}, {"name": 5}, {"name": "x", "colour": "red"}, {"name": "x", "members": "one"},
     {"name": "x", "members": [""]}, {"name": "x", "members": ["a"] * 1001}, {"name": "x", "topic": "t" * 1025}],
)  # fmt: skip
async def test_a_body_that_makes_no_sense_is_400(http: httpx.AsyncClient, body: dict[str, Any]) -> None:
    answer = await http.post(CHANNELS, json=body)
    assert (answer.status_code, answer.json()) == (400, refusal("invalid_request"))
    assert (await http.get(CHANNELS)).json()["count"] == 0


# -- look ------------------------------------------------------------------------------------------------


async def test_channels_are_listed_in_order_of_creation_for_everybody(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    assert (await http.get(CHANNELS)).json() == {"ok": True, "channels": [], "count": 0}
    for name in ("zebra", "build"):
        await created(http, one, name)
    await http.post(f"{CHANNELS}/zebra/archive")
    told = (await http.get(CHANNELS, headers=other.headers)).json()
    made = BUILD | {"members": [one.id], "created_by": one.id}
    assert told == {
        "ok": True, "channels": [made | {"channel": "#zebra", "archived_at": TIME}, made], "count": 2,
    }  # fmt: skip


@pytest.mark.parametrize("called", ["build", "BUILD", "%23build", "%23Build"])
async def test_a_channel_is_found_by_any_spelling_of_its_name(http: httpx.AsyncClient, called: str) -> None:
    one, _ = await pair(http)
    await created(http)
    for path, method in (("", "GET"), ("/messages", "GET"), ("/join", "POST"), ("/leave", "POST")):
        body = {"agent_id": one.id} if method == "POST" else None
        answer = await http.request(method, f"{CHANNELS}/{called}{path}", json=body)
        assert answer.status_code == 200, answer.text
    assert (await http.get(f"{CHANNELS}/{called}")).json() == {"ok": True, "channel": BUILD}
    assert (await http.post(f"{CHANNELS}/{called}/archive")).json()["channel"]["archived_at"] == TIME


async def test_who_looks_need_not_be_in_it(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await created(http, one)
    told = (await http.get(f"{CHANNELS}/build", headers=other.headers)).json()
    assert told["channel"]["members"] == [one.id]


CALLS = [("GET", ""), ("GET", "/messages"), ("POST", "/join"), ("POST", "/leave"), ("POST", "/archive")]


@pytest.mark.parametrize(("method", "path"), CALLS)
async def test_an_unknown_channel_is_404_with_those_that_are_open(
    http: httpx.AsyncClient, method: str, path: str
) -> None:
    one, _ = await pair(http)
    for name in ("release", "build", "old"):
        await created(http, name=name)
    await http.post(f"{CHANNELS}/old/archive")
    answer = await http.request(method, f"{CHANNELS}/bild{path}", headers=one.headers)
    assert answer.status_code == 404
    assert answer.json() == refusal("channel_not_found", channel="bild", available=["#release", "#build"])


async def test_where_there_is_no_channel_the_refusal_says_how_to_make_one(http: httpx.AsyncClient) -> None:
    answer = await http.get(f"{CHANNELS}/build")
    assert answer.json() == refusal("channel_not_found", channel="build", available=[])
    assert "rook channel create" in answer.json()["error"]["message"]


@pytest.mark.parametrize("path", ["", "/build", "/build/messages"])
async def test_head_answers_without_a_body(http: httpx.AsyncClient, path: str) -> None:
    await created(http)
    head, get = await http.head(CHANNELS + path), await http.get(CHANNELS + path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"]


@pytest.mark.parametrize(("method", "path"), [*CALLS, ("POST", None), ("GET", None)])
async def test_without_a_token_every_call_is_401(
    hub: Served, http: httpx.AsyncClient, method: str, path: str | None
) -> None:
    await created(http)
    async with hub.client(headers={}) as stranger:
        target = CHANNELS if path is None else f"{CHANNELS}/build{path}"
        answer = await stranger.request(method, target, json={"name": "x"} if method == "POST" else None)
    assert (answer.status_code, answer.json()) == (401, refusal("unauthorized"))


# -- join ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [None, {}, {"agent_id": None}, {"agent_id": "one"}])
async def test_an_agent_joins_by_itself(http: httpx.AsyncClient, body: Any) -> None:
    one, _ = await pair(http)
    await created(http)
    answer = await http.post(f"{CHANNELS}/build/join", json=body, headers=one.headers)
    assert (answer.status_code, answer.json()) == (200, {"ok": True, "channel": BUILD | {"members": [one.id]}})


async def test_joining_again_changes_nothing(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    await created(http, one)
    before = (await http.get("/v1/status")).json()["position"]
    for _ in range(2):
        answer = await http.post(f"{CHANNELS}/build/join", headers=one.headers)
        assert answer.json()["channel"]["members"] == [one.id]
    assert (await http.get("/v1/status")).json()["position"] == before


async def test_a_member_brings_another_and_a_stranger_may_not(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    third = await register(http, "third")
    await created(http, one)
    bring = {"agent_id": "third"}
    answer = await http.post(f"{CHANNELS}/build/join", json=bring, headers=other.headers)
    assert (answer.status_code, answer.json()) == (403, refusal("forbidden", channel="build"))
    assert await members(http) == [one.id]
    answer = await http.post(f"{CHANNELS}/build/join", json=bring, headers=one.headers)
    assert answer.json()["channel"]["members"] == [one.id, third.id]


@pytest.mark.parametrize("how", ["field", "header", "both"])
@pytest.mark.parametrize("verb", ["join", "leave"])
async def test_the_operator_names_the_agent_that_it_means(http: httpx.AsyncClient, verb: str, how: str) -> None:
    one, other = await pair(http)
    await created(http, members=["other"] if verb == "join" else ["one", "other"])
    body = {"agent_id": "one"} if how != "header" else {}
    headers = {"header": {"X-Agent-ID": "one"}, "both": {"X-Agent-ID": "other"}}.get(how)
    answer = await http.post(f"{CHANNELS}/build/{verb}", json=body, headers=headers)
    assert answer.status_code == 200
    assert answer.json()["channel"]["members"] == ([other.id, one.id] if verb == "join" else [other.id])


@pytest.mark.parametrize("verb", ["join", "leave"])
async def test_the_operator_itself_neither_joins_nor_leaves(http: httpx.AsyncClient, verb: str) -> None:
    await created(http)
    answer = await http.post(f"{CHANNELS}/build/{verb}")
    assert (answer.status_code, answer.json()) == (400, refusal("invalid_request"))
    assert "name the agent" in answer.json()["error"]["message"]


@pytest.mark.parametrize("verb", ["join", "leave"])
async def test_an_unknown_agent_is_404(http: httpx.AsyncClient, verb: str) -> None:
    await created(http)
    wanted = refusal("agent_not_found", agent="ghost", available=[])
    for body, headers in (({"agent_id": "ghost"}, None), ({}, {"X-Agent-ID": "ghost"})):
        answer = await http.post(f"{CHANNELS}/build/{verb}", json=body, headers=headers)
        assert (answer.status_code, answer.json()) == (404, wanted)


@pytest.mark.parametrize("verb", ["join", "leave"])
@pytest.mark.parametrize("body", [{"agent": "one"}, {"agent_id": 5}, {"agent_id": ""}, [], "one"])
async def test_a_body_that_names_nobody_is_400(http: httpx.AsyncClient, verb: str, body: Any) -> None:
    one, _ = await pair(http)
    await created(http)
    answer = await http.post(f"{CHANNELS}/build/{verb}", json=body, headers=one.headers)
    assert (answer.status_code, answer.json()) == (400, refusal("invalid_request"))


@pytest.mark.parametrize("verb", ["join", "leave"])
async def test_an_agent_that_says_it_is_another_is_403(http: httpx.AsyncClient, verb: str) -> None:
    one, other = await pair(http)
    await created(http, members=["other"])
    headers = one.headers | {"X-Agent-ID": "other"}
    answer = await http.post(f"{CHANNELS}/build/{verb}", headers=headers)
    assert (answer.status_code, answer.json()) == (
        403, refusal("sender_forged", principal=one.id, claimed="other"),
    )  # fmt: skip
    assert await members(http) == [other.id]


# -- leave -----------------------------------------------------------------------------------------------


async def test_an_agent_leaves_by_itself_and_leaving_again_changes_nothing(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await created(http, one, members=["other"])
    for _ in range(2):
        answer = await http.post(f"{CHANNELS}/build/leave", headers=one.headers)
        assert (answer.status_code, answer.json()["channel"]["members"]) == (200, [other.id])


async def test_no_agent_takes_out_another(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await created(http, one, members=["other"])
    body = {"agent_id": "other"}
    answer = await http.post(f"{CHANNELS}/build/leave", json=body, headers=one.headers)
    assert (answer.status_code, answer.json()) == (403, refusal("forbidden", agent="other"))
    assert await members(http) == [one.id, other.id]


async def test_a_deleted_agent_is_a_member_of_nothing(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await created(http, one, members=["other"])
    await http.delete(f"/v1/agents/{other.id}")
    assert await members(http) == [one.id]


# -- archive ---------------------------------------------------------------------------------------------


async def test_who_created_a_channel_archives_it_and_once_more_changes_nothing(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    await created(http, one)
    first = (await http.post(f"{CHANNELS}/build/archive", headers=one.headers)).json()
    assert first["channel"] == BUILD | {"members": [one.id], "created_by": one.id, "archived_at": TIME}
    assert (await http.post(f"{CHANNELS}/build/archive")).json() == first


async def test_another_member_does_not_archive_it(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await created(http, one, members=["other"])
    answer = await http.post(f"{CHANNELS}/build/archive", headers=other.headers)
    assert (answer.status_code, answer.json()) == (403, refusal("forbidden"))
    assert (await http.get(f"{CHANNELS}/build")).json()["channel"]["archived_at"] is None


async def test_an_archived_channel_is_read_and_left_and_takes_nothing_more(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await created(http, one)
    await said(http, one, "last words")
    await http.post(f"{CHANNELS}/build/archive")
    for answer in (
        await said(http, one, "one more"),
        await said(http, None, "one more"),
        await http.post(f"{CHANNELS}/build/join", headers=other.headers),
    ):
        assert (answer.status_code, answer.json()) == (409, refusal("conflict", channel="build"))
    history = (await http.get(f"{CHANNELS}/build/messages", headers=one.headers)).json()
    assert [message["content"] for message in history["messages"]] == ["last words"]
    assert (await http.post(f"{CHANNELS}/build/leave", headers=one.headers)).json()["channel"]["members"] == []


# -- say -------------------------------------------------------------------------------------------------


async def test_what_mentions_nobody_is_said_and_waits_in_no_inbox(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await created(http, one, members=["other"])
    answer = await said(http, one, "the branch is ready")
    assert answer.status_code == 200
    assert answer.json() == {
        "ok": True, "message_id": MESSAGE_ID, "delivered": False, "queued": False, "timestamp": TIME,
    }  # fmt: skip
    assert await unread(http, other.id) == 0


@pytest.mark.parametrize("mention", ["@other", "@OTHER,", "hello @other.", "(@other)"])
async def test_whom_it_mentions_has_it_in_the_inbox(http: httpx.AsyncClient, mention: str) -> None:
    one, other = await pair(http)
    await register(http, "third")
    await created(http, one, members=["other", "third"])
    told = (await said(http, one, f"{mention} look")).json()
    assert told["queued"] is True
    (message,) = (await http.get(f"/v1/agents/messages/{other.id}", headers=other.headers)).json()["messages"]
    assert (message["message_id"], message["to_agent_id"], message["message_type"]) == (
        told["message_id"], "#build", "channel",
    )  # fmt: skip
    assert (await unread(http, "third"), await unread(http, "one")) == (0, 0)


@pytest.mark.parametrize("content", ["@ghost", "@third", "mail@other", "`@other`", "@one"])
async def test_what_calls_on_no_other_member_waits_in_no_inbox(http: httpx.AsyncClient, content: str) -> None:
    one, _ = await pair(http)
    await register(http, "third")
    await created(http, one, members=["other"])
    assert (await said(http, one, content)).json()["queued"] is False
    assert [await unread(http, name) for name in ("one", "other", "third")] == [0, 0, 0]


async def test_the_operator_is_mentioned_like_a_member(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    await created(http, one)
    assert (await said(http, one, "@operator please decide")).json()["queued"] is True
    assert await unread(http, "operator") == 1


async def test_a_mention_of_one_who_listens_is_delivered(hub: Served, http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await created(http, one, members=["other"])
    async with hub.socket(other.headers) as socket:
        await socket.recv()
        assert (await said(http, one, "@other now")).json()["delivered"] is True
        assert (await said(http, one, "to all of you")).json()["delivered"] is False


async def test_who_is_not_in_it_says_nothing_there(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await created(http, one)
    by_header = await http.post(
        SEND, json={"to_agent_id": "#build", "content": "hi"}, headers={"X-Agent-ID": "other"}
    )
    for answer in (await said(http, other, "hi"), await said(http, None, "hi", from_agent_id="other"), by_header):
        assert (answer.status_code, answer.json()) == (403, refusal("forbidden", channel="build"))
    assert (await http.get(f"{CHANNELS}/build/messages")).json()["count"] == 0


async def test_the_operator_speaks_as_itself_and_as_a_member(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    await created(http, one)
    body = {"to_agent_id": "#BUILD", "content": "as one"}
    assert (await http.post(SEND, json=body, headers={"X-Agent-ID": "one"})).status_code == 200
    assert (await said(http, None, "as one too", from_agent_id="one")).status_code == 200
    assert (await said(http, None, "as myself")).status_code == 200
    messages = (await http.get(f"{CHANNELS}/build/messages")).json()["messages"]
    assert [message["from_agent_id"] for message in messages] == [one.id, one.id, "operator"]


async def test_a_send_to_an_unknown_channel_is_404(http: httpx.AsyncClient) -> None:
    await created(http)
    answer = await http.post(SEND, json={"to_agent_id": "#bild", "content": "hi"})
    assert answer.status_code == 404
    assert answer.json() == refusal("channel_not_found", channel="#bild", available=["#build"])


async def test_a_channel_is_no_agent_without_its_sign(http: httpx.AsyncClient) -> None:
    await created(http)
    answer = await http.post(SEND, json={"to_agent_id": "build", "content": "hi"})
    assert answer.json() == refusal("agent_not_found", agent="build", available=[])


async def test_an_answer_to_a_mention_is_noted_and_part_of_the_thread(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    third = await register(http, "third")
    await created(http, one, members=["other", "third"])
    question = (await said(http, one, "@other how many?")).json()["message_id"]
    answer = (await said(http, other, "42", reply_to=question)).json()
    thread = (await http.get(f"/v1/messages/{answer['message_id']}/thread", headers=third.headers)).json()
    assert [message["content"] for message in thread["messages"]] == ["@other how many?", "42"]
    told = (await http.get(f"/v1/messages/{question}", headers=one.headers)).json()
    assert told["deliveries"][0]["receipts"]["reply_id"] == answer["message_id"]


async def test_what_was_said_elsewhere_is_answered_there(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await created(http, one, members=["other"])
    direct = (await said(http, one, "psst", to_agent_id="other")).json()["message_id"]
    answer = await said(http, other, "aloud", reply_to=direct)
    assert (answer.status_code, answer.json()) == (400, refusal("invalid_request"))


async def test_a_message_of_a_channel_is_there_for_members_alone(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    stranger = await register(http, "stranger")
    await created(http, one, members=["other"])
    path = f"/v1/messages/{(await said(http, one, 'among us')).json()['message_id']}"
    assert (await http.get(path, headers=other.headers)).json()["message"]["content"] == "among us"
    assert (await http.get(path, headers=stranger.headers)).status_code == 404


async def test_a_send_repeated_with_its_key_is_said_once(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    await created(http, one, members=["other"])
    first, second = [(await said(http, one, "@other once", idempotency_key="k")).json() for _ in range(2)]
    assert first == second
    assert (await http.get(f"{CHANNELS}/build/messages")).json()["count"] == 1


# -- by name ---------------------------------------------------------------------------------------------


async def named(http: httpx.AsyncClient, by: Member, message: str, channel: str = "%23build") -> httpx.Response:
    return await http.post(f"/api/agents/{channel}/messages", json={"message": message}, headers=by.headers)


@pytest.mark.parametrize("message", ["the branch is ready", "@other look", "@other and @third, look"])
async def test_by_name_a_message_goes_into_a_channel_too(http: httpx.AsyncClient, message: str) -> None:
    one, _ = await pair(http)
    await register(http, "third")
    await created(http, one, members=["other", "third"])
    answer = await named(http, one, message)
    assert (answer.status_code, answer.json()) == (200, {"delivered": True, "target": "#build"})
    assert [await unread(http, name) for name in ("other", "third")] == [message.count(n) for n in ("@o", "@t")]
    assert (await http.get(f"{CHANNELS}/build/messages")).json()["messages"][0]["content"] == message


async def test_by_name_those_who_are_mentioned_are_paced(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    await created(http, one, members=["other"])
    assert (await named(http, one, "@other look")).status_code == 200
    answer = await named(http, one, "@other look again")
    assert answer.status_code == 429
    assert answer.json() == {"delivered": False, "error": "Rate limited", "retry_after_ms": ANY}
    assert (await named(http, one, "to all of you")).status_code == 200
    history = (await http.get(f"{CHANNELS}/build/messages")).json()["messages"]
    assert [message["content"] for message in history] == ["@other look", "to all of you"]


async def test_by_name_a_channel_refuses_as_it_does_elsewhere(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await created(http, one)
    answer = await named(http, other, "hi")
    assert (answer.status_code, answer.json()) == (403, refusal("forbidden", channel="build"))
    answer = await named(http, one, "hi", "%23bild")
    unknown = refusal("channel_not_found", channel="#bild", available=["#build"])
    assert (answer.status_code, answer.json()) == (404, unknown)
    await http.post(f"{CHANNELS}/build/archive")
    answer = await named(http, one, "hi")
    assert (answer.status_code, answer.json()) == (409, refusal("conflict", channel="build"))


# -- history ---------------------------------------------------------------------------------------------


async def test_the_history_has_what_was_said_with_all_its_fields(http: httpx.AsyncClient) -> None:
    one, _ = await pair(http)
    await created(http, one)
    told = (await said(http, one, "hi", metadata={"pr": 12}, priority="high", ttl_seconds=60)).json()
    history = (await http.get(f"{CHANNELS}/build/messages", headers=one.headers)).json()
    message = {
        "message_id": told["message_id"], "from_agent_id": one.id, "to_agent_id": "#build",
        "message_type": "channel", "content": "hi", "metadata": {"pr": 12}, "timestamp": told["timestamp"],
        "reply_to": None, "thread_id": told["message_id"], "conversation": "channel:build", "seq": 1,
        "priority": "high", "pattern": None, "expires_at": TIME, "trace_id": told["message_id"], "hops": 0,
        "task": None,
    }  # fmt: skip
    assert history == {"ok": True, "channel": "#build", "messages": [message], "count": 1}


async def test_the_history_is_for_members_and_the_operator(http: httpx.AsyncClient) -> None:
    one, other = await pair(http)
    await created(http, one)
    await said(http, one, "before you came")
    path = f"{CHANNELS}/build/messages"
    answer = await http.get(path, headers=other.headers)
    assert (answer.status_code, answer.json()) == (403, refusal("forbidden", channel="build"))
    assert answer.json()["error"]["message"] == Like(".*join it first.*")
    refused = (await http.get("/v1/events", params={"limit": 1000})).json()["events"][-1]
    assert (refused["type"], refused["action"], refused["reason"]) == ("access_refused", "channel_history", TEXT)
    await http.post(f"{CHANNELS}/build/join", headers=other.headers)
    for headers in (other.headers, None):
        assert (await http.get(path, headers=headers)).json()["messages"][0]["content"] == "before you came"
    await http.post(f"{CHANNELS}/build/leave", headers=other.headers)
    assert (await http.get(path, headers=other.headers)).status_code == 403


async def test_a_page_has_the_newest_and_the_next_one_what_was_before(http: httpx.AsyncClient) -> None:
    await created(http)
    for n in range(5):
        await said(http, None, f"{n}")
    before: int | None = None
    pages: list[list[str]] = []
    while not pages or pages[-1]:
        query = {"limit": 2} | ({} if before is None else {"before": before})
        told = (await http.get(f"{CHANNELS}/build/messages", params=query)).json()
        assert told["count"] == len(told["messages"])
        pages.append([message["content"] for message in told["messages"]])
        before = min((message["seq"] for message in told["messages"]), default=None)
    assert pages == [["3", "4"], ["1", "2"], ["0"], []]


async def test_a_page_has_fifty_unless_told_otherwise(http: httpx.AsyncClient) -> None:
    await created(http)
    for n in range(51):
        await said(http, None, f"{n}")
    told = (await http.get(f"{CHANNELS}/build/messages")).json()
    assert [message["seq"] for message in told["messages"]] == list(range(2, 52))
    assert (await http.get(f"{CHANNELS}/build/messages", params={"limit": 1000})).json()["count"] == 51


async def test_a_page_of_long_texts_ends_early_with_the_newest(http: httpx.AsyncClient) -> None:
    await created(http)
    for n in range(4):
        await said(http, None, f"{n}" * 1_000_000)
    told = (await http.get(f"{CHANNELS}/build/messages")).json()
    assert [message["seq"] for message in told["messages"]] == [2, 3, 4]
    rest = (await http.get(f"{CHANNELS}/build/messages", params={"before": 2})).json()
    assert [message["seq"] for message in rest["messages"]] == [1]


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=1001", "limit=x", "before=-1", "before=x", "before=", "before=4611686018427387905",
     "after=1", "limit=1&limit=2", "colour=red"],
)  # fmt: skip
async def test_a_query_that_makes_no_sense_is_400(http: httpx.AsyncClient, query: str) -> None:
    await created(http)
    answer = await http.get(f"{CHANNELS}/build/messages?{query}")
    assert (answer.status_code, answer.json()) == (400, refusal("invalid_request"))


async def test_without_tokens_the_header_says_who_joins(open_hub: Served) -> None:
    async with open_hub.client() as http:
        one, _ = await pair(http)
        await created(http)
        joined = await http.post(f"{CHANNELS}/build/join", headers={"X-Agent-ID": "one"})
        assert joined.json()["channel"]["members"] == [one.id]
        assert (await said(http, None, "hi", from_agent_id="one")).json()["ok"] is True
