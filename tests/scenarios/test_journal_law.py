"""The law of the journal: what follows from its events is what the hub answers.

A history of calls is played at random; then the journal, read from its first position, must give the agents and
the inboxes that fresh calls give. The same holds for each agent and its own share of the journal.
"""

import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.scenarios.stores import STORES
from tests.scenarios.switchboard import Agent, Json, Refused, Switchboard
from tests.scenarios.view import AGENT_FIELDS, Item, View
from tests.support.fixtures import HubFactory

CALLS = 250
QUICK = {
    "ROOKERY_CLAIM_SILENCE": "0.2",
    "ROOKERY_CLAIM_MOST_LOSSES": "2",
    "ROOKERY_SILENT_AFTER": "0.4",
    "ROOKERY_SWEEP_EVERY": "0.05",
    "ROOKERY_PACING_FIRST_GAP": "0.05",
    "ROOKERY_PACING_MOST_IN_WINDOW": "3",
}
"""So that claims are lost, agents fall silent, messages expire and broadcasts leave somebody out."""


class History:
    """Calls at random, most of them good ones, by the operator and by agents."""

    def __init__(self, board: Switchboard, chance: random.Random) -> None:
        self.board = board
        self.chance = chance
        self.agents: list[Agent] = []
        self.messages: list[tuple[Agent, str]] = []
        self._deeds: dict[Callable[[], Awaitable[Any]], int] = {
            self.register: 2, self.change: 2, self.heartbeat: 2, self.delete: 1, self.send: 12,
            self.broadcast: 3, self.broadcast_by_name: 3, self.reply: 4, self.read: 4, self.mark: 3,
            self.claim: 5, self.complete: 5, self.clear: 2, self.prune: 1,
        }  # fmt: skip

    async def play(self, calls: int) -> None:
        for deed in (self.register, self.register, self.register, self.register, self.send):
            await deed()
        deeds = self.chance.choices(list(self._deeds), weights=list(self._deeds.values()), k=calls)
        refusals = [refusal for deed in deeds if (refusal := await _refusal(deed))]
        assert {refusal.status for refusal in refusals} <= {400, 401, 404, 409}, refusals
        assert len(refusals) < calls / 2, "a history of refusals proves little"

    def someone(self) -> Agent:
        return self.chance.choice(self.agents)

    def some_message(self) -> tuple[str, str, str]:
        """The address of a message in an inbox, its id, and a token for it: the owner's or the operator's."""
        owner, message_id = self.chance.choice(self.messages)
        return f"/v1/agents/messages/{owner.id}", message_id, self.chance.choice([owner.token, ""])

    # -- deeds ---------------------------------------------------------------------------------------

    async def register(self) -> None:
        name = f"agent-{self.chance.randrange(10_000)}"
        self.agents.append(await self.board.register(name, role=self.chance.choice(["leader", "worker"])))

    async def change(self) -> None:
        changes: list[Json] = [
            {"name": f"renamed-{self.chance.randrange(10_000)}"},
            {"project": "/somewhere", "mode": "strict"},
            {"manager": self.someone().id},
            {"manager": None, "project": None},
        ]
        await self.board.call("PATCH", f"/v1/agents/{self.someone().id}", self.chance.choice(changes))

    async def heartbeat(self) -> None:
        status = self.chance.choice(["idle", "working", None])
        await self.board.post(f"/v1/agents/{self.someone().id}/heartbeat", {"status": status})

    async def delete(self) -> None:
        if len(self.agents) > 3:
            gone = self.someone()
            await self.board.call("DELETE", f"/v1/agents/{gone.id}")
            self.agents.remove(gone)

    async def send(self) -> None:
        sender, target = self.chance.sample(self.agents, 2)
        more: Json = {"ttl_seconds": 0.3} if self.chance.random() < 0.15 else {}
        answer = await self.board.send(sender, target, f"message {self.chance.random()}", **more)
        self.messages.append((target, answer["message_id"]))

    async def broadcast(self) -> None:
        sender = self.someone()
        answer = await self.board.send(sender, "broadcast", f"to all {self.chance.random()}")
        self.messages += [(agent, answer["message_id"]) for agent in self.agents if agent != sender]

    async def broadcast_by_name(self) -> None:
        body = {"message": f"to all {self.chance.random()}", "sender": self.someone().id}
        await self.board.post("/api/agents/broadcast", body)

    async def reply(self) -> None:
        owner, message_id = self.chance.choice(self.messages)
        sender = (await self.board.get(f"/v1/messages/{message_id}"))["message"]["from_agent_id"]
        answer = await self.board.send(owner, sender, "a reply", reply_to=message_id)
        self.messages += [(agent, answer["message_id"]) for agent in self.agents if agent.id == sender]

    async def read(self) -> None:
        await self.board.get(f"/v1/agents/messages/{self.someone().id}", limit=3)

    async def mark(self) -> None:
        inbox, message_id, token = self.some_message()
        await self.board.post(f"{inbox}/read", {"message_ids": [message_id]}, token=token)

    async def claim(self) -> None:
        inbox, message_id, token = self.some_message()
        named = self.chance.random() < 0.5
        await self.board.post(f"{inbox}/{message_id}/claim" if named else f"{inbox}/claim", token=token)

    async def complete(self) -> None:
        inbox, message_id, token = self.some_message()
        how = self.chance.choice([{}, {"status": "dead", "error": "no"}, {"result": "yes", "note": "!"}])
        await self.board.post(f"{inbox}/{message_id}/complete", how, token=token)

    async def clear(self) -> None:
        inbox, message_id, _ = self.some_message()
        await self.board.call("DELETE", inbox, message_ids=message_id)

    async def prune(self) -> None:
        await self.board.post("/v1/prune", {"older_than_seconds": 0})


async def _refusal(deed: Callable[[], Awaitable[Any]]) -> Refused | None:
    try:
        await deed()
    except Refused as refusal:
        return refusal
    return None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("store", STORES)
async def test_the_journal_from_its_start_gives_the_agents_and_the_inboxes(
    hub_factory: HubFactory, store: str, seed: int
) -> None:
    async with Switchboard(hub_factory(store=store, env=QUICK)) as board:
        history = History(board, random.Random(seed))
        await history.play(CALLS)
        board.hub.restart()
        await everything_overdue_is_swept(board, *history.agents[:2])
        told, answered = await in_a_quiet_moment(board, history)

    view = View()
    for event in told["operator"]:
        view.apply(event)
    agents = {agent["agent_id"]: agent for agent in answered["agents"]}
    assert view.agents == {key: {name: agent[name] for name in AGENT_FIELDS} for key, agent in agents.items()}
    for owner, inbox in answered["inboxes"].items():
        assert list(view.inboxes.get(owner, {}).values()) == [as_item(message) for message in inbox]

    kinds = {event["type"] for event in told["operator"]}
    assert kinds >= {
        "agent_message", "agent_broadcast", "inbox_message_claimed", "inbox_claim_expired",
        "inbox_message_completed", "inbox_messages_cleared", "agent_message_replied", "agent_deleted",
        "agent_status_changed", "messages_pruned",
    }  # fmt: skip

    for agent in history.agents:
        own = View(reader=agent.id)
        for event in told[agent.id]:
            own.apply(event)
        inbox = answered["inboxes"][agent.id]
        assert list(own.inboxes.get(agent.id, {}).values()) == [as_item(message) for message in inbox]


async def everything_overdue_is_swept(board: Switchboard, sender: Agent, target: Agent) -> None:
    """Between the moment a message expires and the next sweep, answers leave out what the journal still has.
    One sweep takes all that is overdue, so the end of the newest is the end of all."""
    last = (await board.send(sender, target, "the last one", ttl_seconds=0.001))["message_id"]
    await board.event_of("inbox_message_completed", message_id=last)


async def in_a_quiet_moment(board: Switchboard, history: History) -> tuple[dict[str, list[Json]], dict[str, Any]]:
    """The journals and the answers, between which nothing has happened."""
    while True:
        before = await board.position()
        answered = {
            "agents": (await board.get("/v1/agents"))["agents"],
            "inboxes": {
                owner: await board.inbox(owner) for owner in ["operator", *(agent.id for agent in history.agents)]
            },
        }
        told = {"operator": await board.events()}
        for agent in history.agents:
            told[agent.id] = await board.events(token=agent.token)
        if await board.position() == before and told["operator"][-1]["position"] == before:
            return told, answered


def as_item(message: Json) -> Item:
    return Item(
        message_id=message["message_id"],
        content=message["content"],
        folder=message["folder"],
        read=message["read"],
        claimed_by=message["claimed_by"],
        result=message["result"],
        error=message["error"],
        note=message["note"],
        replied=message["receipts"]["replied_at"] is not None,
    )
