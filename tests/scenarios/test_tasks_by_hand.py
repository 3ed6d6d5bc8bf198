"""Work in a maildir can be finished by moving its file; whoever asked for it hears of it all the same."""

import asyncio
from pathlib import Path

import pytest

from tests.scenarios.switchboard import Agent, Json, Switchboard
from tests.support.fixtures import HubFactory


def move(data: Path, agent: Agent, message_id: str, folder: str) -> None:
    inbox = data / "inbox" / agent.id
    (inbox / "new" / f"{message_id}.json").rename(inbox / folder / f"{message_id}.json")


@pytest.mark.parametrize("running", [True, False], ids=["while it runs", "while it is down"])
@pytest.mark.parametrize(
    ("folder", "told"),
    [
        ("done", "[Delegation Result from worker | task-1]\nDone."),
        (
            "dead",
            "[Delegation Failed | worker | task-1]\nError: worker failed to complete the task: It gave no reason.",
        ),
    ],
)
async def test_a_request_that_is_moved_ends_its_task_once(
    hub_factory: HubFactory, running: bool, folder: str, told: str
) -> None:
    hub = hub_factory(store="maildir")
    async with Switchboard(hub) as board:
        boss, worker = await board.register_many("boss", "worker")
        task = (await board.contact("delegate", boss, worker, "sweep the floor"))["task"]
        if running:
            move(hub.data, worker, task["message_id"], folder)
        else:
            hub.stop()
            move(hub.data, worker, task["message_id"], folder)
            hub.start()
        await board.event_of("task_ended", task_id="task-1")
        hub.stop()
        hub.start()
        results: list[Json] = [m for m in await board.inbox(boss) if m["pattern"] == "result"]
        assert [result["content"] for result in results] == [told]


async def test_a_question_that_is_moved_to_the_dead_has_failed(hub_factory: HubFactory) -> None:
    hub = hub_factory(store="maildir")
    async with Switchboard(hub) as board:
        one, other = await board.register_many("one", "other")
        body = {"action": "ask", "agent": other.id, "message": "well?"}
        asking = board.request("POST", "/v1/contact", body, token=one.token)
        waiting = asyncio.ensure_future(asking)
        question = await board.event_of("ask_opened", target=other.id)
        move(hub.data, other, question["message_id"], "dead")
        refused = (await waiting).json()["error"]
        assert (refused["code"], refused["message"]) == (
            "ask_failed",
            "other failed to respond: it gave no reason.",
        )
