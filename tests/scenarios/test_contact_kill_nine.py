"""A hub that is killed between a question and its answer, a result and its callback, an approval and its deed."""

import asyncio
import os
import random
from collections import Counter
from contextlib import suppress

import httpx
import pytest

from tests.scenarios.stores import STORES
from tests.scenarios.switchboard import PATIENCE, Agent, Json, Switchboard, contents
from tests.support.fixtures import HubFactory

ROUNDS = int(os.environ.get("KILL_ROUNDS", "8"))

pytestmark = [
    pytest.mark.timeout(60 + 5 * ROUNDS),
    pytest.mark.parametrize("store", STORES),
]


async def restarted(board: Switchboard) -> None:
    board.hub.kill9()
    board.hub.start()


async def at_some_moment(board: Switchboard, chance: random.Random, work: "asyncio.Future[Json]") -> None:
    """Kill the hub while it does this, somewhere from before the request to after the answer."""
    await asyncio.sleep(chance.uniform(0, 0.02))
    await restarted(board)
    with suppress(httpx.TransportError):
        await work


async def question_to(board: Switchboard, target: Agent) -> Json:
    """As it came to this agent, once it has."""
    return await board.event(lambda event: event.get("pattern") == "ask" and event["to_agent_id"] == target.id)


async def test_a_question_outlives_the_hub_and_is_answered_once(hub_factory: HubFactory, store: str) -> None:
    async with Switchboard(hub_factory(store=store)) as board:
        one, other = await board.register_many("one", "other")
        asking = asyncio.ensure_future(board.contact("ask", one, other, "still there?", key="k"))
        question = await question_to(board, other)
        await restarted(board)
        with pytest.raises(httpx.TransportError):
            await asking
        again = asyncio.ensure_future(board.contact("ask", one, other, "still there?", key="k"))
        answer = {"to_agent_id": one.id, "content": "yes", "reply_to": question["message_id"]}
        await board.post("/v1/agents/messages/send", answer, token=other.token)
        told = await again
        assert (told["status"], told["text"]) == ("answered", "Response from other: yes")
        assert told["message_id"] == question["message_id"]
        await restarted(board)
        repeated = await board.contact("ask", one, other, "still there?", key="k")
        assert repeated["answer"] == told["answer"]
        said = await board.get(f"/v1/conversations/{other.id}/messages", agent=one.id)
        assert len(said["messages"]) == 2


async def test_a_question_whose_asker_never_comes_back_ends_once(hub_factory: HubFactory, store: str) -> None:
    env = {"ROOKERY_ASK_PATIENCE": "2", "ROOKERY_SWEEP_EVERY": "0.1"}
    async with Switchboard(hub_factory(store=store, env=env)) as board:
        one, other = await board.register_many("one", "other")
        asking = asyncio.ensure_future(board.contact("ask", one, other, "still there?"))
        question = await question_to(board, other)
        await restarted(board)
        with pytest.raises(httpx.TransportError):
            await asking
        ended = await board.event_of("ask_ended", message_id=question["message_id"])
        assert ended["status"] == "timed_out"
        await restarted(board)
        notices = [m for m in contents(await board.inbox(one)) if m.startswith("Error: other did not respond")]
        assert len(notices) == 1
        assert len([e for e in await board.events() if e["type"] == "ask_ended"]) == 1


async def test_every_result_comes_back_once_whenever_the_hub_dies(hub_factory: HubFactory, store: str) -> None:
    chance = random.Random(11)
    async with Switchboard(hub_factory(store=store)) as board:
        boss, *workers = await board.register_many("boss", "w1", "w2", "w3")
        order = await board.contact("delegate", None, boss, "Prepare the report")
        await board.inbox(boss)
        await board.get(f"/v1/agents/messages/{boss.id}", token=boss.token)  # it reads, and so begins
        results: Counter[str] = Counter()
        for number in range(ROUNDS):
            worker = chance.choice(workers)
            task = (await board.contact("delegate", boss, worker, f"part {number}"))["task"]
            assert task["parent"] == order["task"]["task_id"]
            failed = chance.random() < 0.3
            ending = {"status": "failed", "error": "broken"} if failed else {"result": f"part {number} is done"}
            path = f"/v1/tasks/{task['task_id']}/complete"
            work = asyncio.ensure_future(board.post(path, ending, token=worker.token))
            await at_some_moment(board, chance, work)
            await board.post(path, ending, token=worker.token)  # what a worker does whose answer was lost
            outcome = f"Failed | {worker.name}" if failed else f"Result from {worker.name}"
            results[f"[Delegation {outcome} | {task['task_id']}]"] += 1
        found = Counter(
            message["content"].partition("\n")[0]
            for message in await board.inbox(boss)
            if message["pattern"] == "result"
        )
        assert found == results
        conversations = {m["conversation"] for m in await board.inbox(boss) if m["pattern"] == "result"}
        assert len(conversations) == 1  # where the operator asked for the report
        assert order["task"]["task_id"] in {m["task"] for m in await board.inbox(boss)}
        assert board.hub.stop() == 0


async def test_what_was_approved_is_sent_once_whenever_the_hub_dies(hub_factory: HubFactory, store: str) -> None:
    chance = random.Random(12)
    env = {"ROOKERY_RATE_PER_SECOND": "1000"}
    async with Switchboard(hub_factory(store=store, env=env)) as board:
        intern, senior = await board.register("intern", mode="supervised"), await board.register("senior")
        for number in range(ROUNDS):
            body = {"to_agent_id": senior.id, "content": f"request {number}"}
            held = (await board.post("/v1/agents/messages/send", body, token=intern.token))["held"]
            path = f"/v1/approvals/{held}"
            work = asyncio.ensure_future(board.post(path, {"decision": "approve"}))
            await at_some_moment(board, chance, work)
            again = await board.request("POST", path, {"decision": "approve"})
            assert again.status_code == 200 or again.json()["error"]["code"] == "approval_answered"
        assert contents(await board.inbox(senior)) == [f"request {number}" for number in range(ROUNDS)]


async def test_sleep_and_what_it_puts_off_outlive_the_hub(hub_factory: HubFactory, store: str) -> None:
    async with Switchboard(hub_factory(store=store, env={"ROOKERY_SWEEP_EVERY": "0.1"})) as board:
        boss, worker = await board.register_many("boss", "worker")
        await board.post(f"/v1/agents/{worker.id}/sleep", {"seconds": 2})
        task = (await board.contact("delegate", boss, worker, "when you are up"))["task"]
        assert (task["message_id"], await board.inbox(worker)) == (None, [])
        await restarted(board)
        assert (await board.get(f"/v1/agents/{worker.id}"))["agent"]["status"] == "sleeping"
        await board.event_of("agent_status_changed", agent_id=worker.id, previous_status="sleeping")
        posted = await board.event_of("task_posted", task_id=task["task_id"])
        await restarted(board)
        (message,) = await board.inbox(worker)
        assert message["message_id"] == posted["message_id"]


async def test_a_program_that_waits_for_permission_finds_the_answer_after_a_crash(
    hub_factory: HubFactory, store: str
) -> None:
    async with Switchboard(hub_factory(store=store)) as board:
        claude = await board.register("claude")
        arguments = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "toolu_1"}
        asking = asyncio.ensure_future(permission(board, claude, arguments))
        asked = await board.event_of("approval_requested", agent_id=claude.id)
        await restarted(board)
        with pytest.raises(httpx.TransportError):
            await asking
        await board.post(f"/v1/approvals/{asked['approval_id']}", {"decision": "approve"})
        await restarted(board)
        told = await permission(board, claude, arguments)
        assert told == '{"behavior":"allow","updatedInput":{"command":"ls"}}'


async def permission(board: Switchboard, agent: Agent, arguments: Json) -> str:
    body = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "permission_prompt", "arguments": arguments},
    }  # fmt: skip
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
        headers = {"Authorization": f"Bearer {agent.token}", "Accept": "application/json, text/event-stream"}
        response = await http.post(f"{board.hub.url}/mcp", json=body, headers=headers)
    return response.json()["result"]["content"][0]["text"]


async def test_a_hub_that_stops_sends_away_who_waits_and_keeps_the_question(
    hub_factory: HubFactory, store: str
) -> None:
    async with Switchboard(hub_factory(store=store)) as board:
        one, other, bystander = await board.register_many("one", "other", "bystander")
        body = {"action": "ask", "agent": other.id, "message": "still there?"}
        asking = asyncio.ensure_future(board.request("POST", "/v1/contact", body, token=one.token, key="k"))
        start = await board.position()
        quiet = board.request("GET", "/v1/events", token=bystander.token, after=start, wait=60)
        polling = asyncio.ensure_future(quiet)
        question = await question_to(board, other)
        assert await asyncio.to_thread(board.hub.stop, 4.0) == 0  # and does not wait for those who wait
        refused = await asking
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "hub_stopping")
        assert (await polling).json()["events"] == []
        board.hub.start()
        answer = {"to_agent_id": one.id, "content": "yes", "reply_to": question["message_id"]}
        await board.post("/v1/agents/messages/send", answer, token=other.token)
        told = await board.contact("ask", one, other, "still there?", key="k")
        assert told["text"] == "Response from other: yes"
