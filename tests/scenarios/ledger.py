"""What senders know for certain: which messages they tried to send, and which the hub acknowledged."""

import asyncio
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from tests.scenarios.switchboard import Agent, Json, Switchboard

BROADCAST = "broadcast"


@dataclass(frozen=True)
class Draft:
    sender: Agent
    to: Agent | str
    content: str


@dataclass
class Ledger:
    """Keyed by idempotency key. A draft without an id was sent, but its answer never came."""

    agents: list[Agent]
    drafts: dict[str, Draft] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    claimed: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    acknowledgements: int = 0
    _awaited: tuple[int, asyncio.Event] | None = None

    @property
    def unanswered(self) -> list[str]:
        return [key for key in self.drafts if key not in self.ids]

    def acknowledge(self, key: str, message_id: str) -> None:
        """However often a key is repeated, it stands for one message."""
        assert self.ids.setdefault(key, message_id) == message_id, f"{key} became two messages"
        self.acknowledgements += 1
        if self._awaited is not None and self.acknowledgements >= self._awaited[0]:
            self._awaited[1].set()

    async def reached(self, acknowledgements: int) -> None:
        """Returns at the acknowledgement of that number."""
        self._awaited = (acknowledgements, asyncio.Event())
        await self._awaited[1].wait()

    async def send(self, board: Switchboard, key: str) -> None:
        draft = self.drafts[key]
        answer = await board.send(draft.sender, draft.to, draft.content, idempotency_key=key)
        self.acknowledge(key, answer["message_id"])

    def recipients(self, key: str) -> list[Agent]:
        draft = self.drafts[key]
        if isinstance(draft.to, Agent):
            return [draft.to]
        return [agent for agent in self.agents if agent != draft.sender]

    # -- what must be true of the hub ----------------------------------------------------------------

    async def check(self, board: Switchboard) -> None:
        """Every draft has its id by now; the hub holds exactly these messages, whole, once and in order."""
        assert self.unanswered == []
        inboxes = {agent.id: await board.inbox(agent) for agent in self.agents}
        self._check_inboxes(inboxes)
        _check_sequences([message for inbox in inboxes.values() for message in inbox])
        self._check_journal(await board.events(), await board.position())

    def _check_inboxes(self, inboxes: dict[str, list[Json]]) -> None:
        expected = {
            (recipient.id, message_id, self.drafts[key].content)
            for key, message_id in self.ids.items()
            for recipient in self.recipients(key)
        }
        held = [(owner, m["message_id"], m["content"]) for owner, inbox in inboxes.items() for m in inbox]
        assert not expected - set(held), "acknowledged messages are lost"
        assert not set(held) - expected, "there are messages that nobody sent"
        assert len(held) == len(expected), "a message lies twice in an inbox"
        folders = {m["message_id"]: m["folder"] for inbox in inboxes.values() for m in inbox}
        assert {folders[message_id] for message_id in self.done} <= {"done"}
        assert {folders[message_id] for message_id in self.claimed} <= {"cur", "done"}

    def _check_journal(self, events: list[Json], end: int) -> None:
        assert [event["position"] for event in events] == list(range(1, end + 1))
        told = Counter(
            event["message_id"] for event in events if event["type"] in ("agent_message", "agent_broadcast")
        )
        assert told == Counter(self.ids.values())


def _check_sequences(messages: list[Json]) -> None:
    """The sequence of each conversation, from 1 on, has neither a gap nor two messages in one place."""
    conversations: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for message in messages:
        places = conversations[message["conversation"]]
        assert places.setdefault(message["seq"], message["message_id"]) == message["message_id"]
    for conversation, places in conversations.items():
        assert sorted(places) == list(range(1, len(places) + 1)), f"{conversation} has a gap"
