"""The tools by which agents turn to one another, ask the operator, and finish what was handed to them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from mcp.client.session import ClientSession

from tests.surfaces.mcp.talk import called, done, posted, refused, talking, texts
from tests.surfaces.served import Member, Served, register, served

PAYLOAD = {"command": "ls -la", "n": [1, {"a": None}]}
QUICK = {
    "pacing_first_gap": 0.001, "pacing_longest_gap": 0.001, "pacing_most_in_window": 10_000, "ask_patience": 15,
    "ask_grace": 0.05,
}  # fmt: skip


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Served]:
    """Contact is not held up by pacing, and callers who left are given up soon."""
    async with served(tmp_path / "data", **QUICK) as hub:
        yield hub


@pytest.fixture
async def writer(http: httpx.AsyncClient) -> Member:
    return await register(http, "writer")


@pytest.fixture
async def boss(http: httpx.AsyncClient) -> Member:
    return await register(http, "boss")


async def event_of(http: httpx.AsyncClient, kind: str) -> Any:
    position = 0
    async with asyncio.timeout(20):
        while True:
            page = (await http.get("/v1/events", params={"after": position, "wait": 5})).json()
            position = page["position"]
            for event in page["events"]:
                if event["type"] == kind:
                    return event


async def answered(session: ClientSession, words: str) -> None:
    """Read what came, and answer the question among it as it says."""
    (message,) = (await done(session, "inbox"))["messages"]
    assert message["answer_with"] == f"inbox(action='send', reply_to='{message['message_id']}', content=...)"
    await done(session, "inbox", action="send", reply_to=message["message_id"], content=words)


@pytest.mark.parametrize("argument", ["agent", "agentId", "target"])
@pytest.mark.parametrize("by", ["name", "id"])
async def test_an_ask_gives_the_answer_as_text_and_nothing_else(
    hub: Served, http: httpx.AsyncClient, boss: Member, writer: Member, argument: str, by: str
) -> None:
    async with talking(hub, boss) as asker, talking(hub, writer) as asked:
        target = writer.name if by == "name" else writer.id
        asking = asyncio.ensure_future(
            called(asker, "contact_agent", action="ask", message="ready?", **{argument: target})
        )
        await event_of(http, "ask_opened")
        await answered(asked, "since noon")
        told = await asking
    assert texts(told) == ["Response from writer: since noon"]
    assert (told.structured_content, told.is_error) == (None, False)


async def test_a_plain_message_to_the_asker_is_no_answer_but_one_that_replies_is(
    hub: Served, http: httpx.AsyncClient, boss: Member, writer: Member
) -> None:
    async with talking(hub, boss) as asker, talking(hub, writer) as asked:
        asking = asyncio.ensure_future(
            called(asker, "contact_agent", action="ask", agent="writer", message="ready?")
        )
        question = await event_of(http, "ask_opened")
        await done(asked, "send_to_agent", target="boss", message="one moment")
        assert not asking.done()
        reply = {"target": "boss", "message": "ready", "reply_to": question["message_id"]}
        assert await done(asked, "send_to_agent", **reply) == {"delivered": True, "target": "boss"}
        told = await asking
    assert texts(told) == ["Response from writer: ready", "1 new message; use inbox"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"agent": "boss"}, "Error: You cannot contact yourself; name another agent."),
        ({"agent": "ghost"}, "Error: No agent is called 'ghost'. Known agents: writer, boss."),
        (
            {"agent": "operator", "action": "delegate"},
            "Error: The operator takes no tasks; ask or notify instead.",
        ),
    ],
)
async def test_refusals_are_sentences(
    hub: Served, writer: Member, boss: Member, said: dict[str, str], words: str
) -> None:
    async with talking(hub, boss) as session:
        assert await refused(session, "contact_agent", **{"action": "ask", "message": "x", **said}) == words


async def test_arguments_that_are_none_are_told_by_name(hub: Served, writer: Member, boss: Member) -> None:
    async with talking(hub, boss) as session:
        told = await refused(session, "contact_agent", action="beg", agent="writer", message="please")
        assert "action" in told
        told = await refused(
            session, "contact_agent", action="ask", agent="writer", message="please", urgency="max"
        )
        assert "urgency" in told


async def test_work_is_handed_over_finished_and_brought_back(hub: Served, boss: Member, writer: Member) -> None:
    async with talking(hub, boss) as session, talking(hub, writer) as working:
        told = await called(session, "contact_agent", action="delegate", agent="writer", message="a post")
        assert texts(told) == [
            "Delegated to writer (subtask task-1). You'll receive the result automatically when writer finishes."
        ]
        (work,) = (await done(working, "inbox"))["messages"]
        assert work["finish_with"] == "complete_task(task_id='task-1', result=...)"
        ended = await done(working, "complete_task", taskId="task-1", result="written")
        assert ended == {"task_id": "task-1", "status": "completed"}
        (result,) = (await done(session, "inbox"))["messages"]
        assert result["text"] == "[Delegation Result from writer | task-1]\nwritten"
        assert "already completed" in await refused(working, "complete_task", task_id="task-1", result="again")
        assert "no open task" in await refused(working, "complete_task", result="again")


async def test_finishing_the_message_finishes_the_task(hub: Served, boss: Member, writer: Member) -> None:
    async with talking(hub, boss) as session, talking(hub, writer) as working:
        for _ in range(2):
            await called(session, "contact_agent", action="delegate", agent="writer", message="a post")
        first, second = (await done(working, "inbox"))["messages"]
        assert "say which: task-1, task-2" in await refused(working, "complete_task", result="which?")
        await done(working, "inbox", action="complete", message_id=first["message_id"], result="written")
        await done(
            working, "inbox", action="complete", message_id=second["message_id"], status="dead", error="no ink"
        )
        results = [message["text"] for message in (await done(session, "inbox"))["messages"]]
    assert results == [
        "[Delegation Result from writer | task-1]\nwritten",
        "[Delegation Failed | writer | task-2]\nError: writer failed to complete the task: no ink",
    ]


async def test_an_asker_that_hangs_up_leaves_no_question_open(
    hub: Served, http: httpx.AsyncClient, boss: Member, writer: Member
) -> None:
    arguments = {"action": "ask", "agent": "writer", "message": "ready?"}
    call = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "contact_agent", "arguments": arguments},
    }  # fmt: skip
    async with hub.client({}) as leaving:
        asking = asyncio.ensure_future(posted(leaving, boss, call))
        await event_of(http, "ask_opened")
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    assert (await event_of(http, "ask_ended"))["status"] == "abandoned"
    async with talking(hub, writer) as asked:
        await answered(asked, "ready now")
    async with talking(hub, boss) as back:
        (late,) = (await done(back, "inbox"))["messages"]
    assert late["text"] == '[From agent "writer"]:\nready now'


# -- permission_prompt ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (
            {"decision": "approve"},
            {"behavior": "allow", "updatedInput": {"command": "ls -la", "n": [1, {"a": None}]}},
        ),
        ({"decision": "deny"}, {"behavior": "deny", "message": "The operator said no."}),
        ({"decision": "deny", "note": "not here"}, {"behavior": "deny", "message": "not here"}),
    ],
)
async def test_a_program_asks_whether_it_may_use_a_tool(
    hub: Served, http: httpx.AsyncClient, boss: Member, decision: dict[str, str], expected: dict[str, Any]
) -> None:
    async with talking(hub, boss) as session:
        asking = asyncio.ensure_future(
            called(session, "permission_prompt", tool_name="Bash", input=PAYLOAD, tool_use_id="toolu_1")
        )
        asked = await event_of(http, "approval_requested")
        news = {"to_agent_id": boss.id, "content": "news"}
        assert (await http.post("/v1/agents/messages/send", json=news)).status_code == 200
        assert (asked["tool"], asked["kind"], asked["agent_id"]) == ("Bash", "tool", boss.id)
        assert msgspec.json.decode(asked["arguments"]["input"]) == PAYLOAD
        answer = await http.post(
            f"/v1/approvals/{asked['approval_id']}", json=decision | {"digest": asked["digest"]}
        )
        assert answer.status_code == 200
        told = await asking
    (text,) = texts(told)  # Claude Code wants one block of text and nothing structured beside it
    assert (msgspec.json.decode(text), told.structured_content) == (expected, None)


async def test_a_permission_that_nobody_answers_is_a_denial(tmp_path: Path) -> None:
    quickly = served(tmp_path / "data", approval_patience=0.2, sweep_every=0.05)
    async with quickly as hub, hub.client() as http:
        agent = await register(http, "claude")
        async with talking(hub, agent) as session:
            told = await called(session, "permission_prompt", tool_name="Bash", input={"command": "ls"})
        assert msgspec.json.decode(texts(told)[0]) == {"behavior": "deny", "message": "Nobody answered in time."}


async def test_the_operator_has_no_permission_to_ask(hub: Served) -> None:
    async with talking(hub, None) as session:
        assert "needs no permission" in await refused(session, "permission_prompt", tool_name="Bash", input={})
