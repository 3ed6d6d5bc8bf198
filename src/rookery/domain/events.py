"""Facts in the past tense, and the journal entry that carries one.

A fact is written in the transaction that made it true and holds all that is needed to repeat the change:
applying the facts from the first position on, over nothing, gives the present state (see `rookery.domain.view`).
"""

from dataclasses import dataclass

from rookery.domain.agents import Agent, Kind, Mode, Role, Status
from rookery.domain.approvals import Approval
from rookery.domain.asks import Ask
from rookery.domain.channels import Channel
from rookery.domain.deliveries import Outcome
from rookery.domain.ids import HUB, OPERATOR
from rookery.domain.messages import Message
from rookery.domain.permissions import Rule
from rookery.domain.tasks import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRegistered:
    agent: Agent


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRenamed:
    agent_id: str
    previous_name: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentUpdated:
    """Holds every field that an update may touch, as it is afterwards."""

    agent_id: str
    kind: Kind
    role: Role
    mode: Mode
    manager: str | None
    project: str | None
    model_name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatusChanged:
    agent_id: str
    previous_status: Status
    status: Status
    sleeping_until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDeleted:
    agent_id: str
    name: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSent:
    """A message entered its conversation. The entry that carries this fact carries the message too."""

    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStored:
    """The message was put into the inboxes of its recipients."""

    message_id: str
    sender: str
    recipient: str
    recipients: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageHandedOff:
    """The message was given to a socket, a process or a pane of these recipients."""

    message_id: str
    recipient: str
    recipients: tuple[str, ...]
    via: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSeen:
    """It is proved that the recipient has the message before it."""

    message_id: str
    recipient: str
    via: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRead:
    """The message counts as read in the recipient's inbox."""

    message_id: str
    recipient: str
    by: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageClaimed:
    message_id: str
    recipient: str
    by: str
    via: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimExpired:
    """The one who claimed the message gave no sign of life; it is open again."""

    message_id: str
    recipient: str
    by: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCompleted:
    message_id: str
    recipient: str
    by: str
    outcome: Outcome
    result: str | None = None
    error: str | None = None
    note: str | None = None
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReplied:
    message_id: str
    recipient: str
    reply_id: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesCleared:
    """Taken out of the inbox by its owner. The messages stay in their conversations."""

    recipient: str
    message_ids: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelCreated:
    channel: Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelJoined:
    channel: str
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelLeft:
    channel: str
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelArchived:
    channel: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOpened:
    """Somebody waits for the answer to a question, which was sent just before."""

    ask: Ask

    @property
    def message_id(self) -> str:
        return self.ask.message_id


@dataclass(frozen=True, slots=True, kw_only=True)
class AskEnded:
    """With its answer, or without."""

    ask: Ask

    @property
    def message_id(self) -> str:
        return self.ask.message_id


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOpened:
    task: Task


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPosted:
    """The request lies before its assignee; at once, or when it woke."""

    task: Task


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStarted:
    task: Task


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnded:
    task: Task


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRemoved:
    agent: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested:
    approval: Approval


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAnswered:
    """By the operator, or by time."""

    approval: Approval


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalUsed:
    """The one who waited has taken the answer, which serves no second time."""

    approval: Approval


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageHeld:
    """What an agent wanted to send waits for an approval. When it is sent, that is a fact of its own."""

    message_id: str
    approval: str
    sender: str
    recipient: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDropped:
    """It was not approved, and is never sent."""

    message_id: str
    approval: str
    sender: str
    recipient: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenIssued:
    token_id: str
    holder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRevoked:
    token_id: str
    holder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRefused:
    """Somebody with a valid token tried what that token may not do."""

    action: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesPruned:
    """The operator removed finished messages for good; their own facts went with them."""

    count: int
    before: int


Fact = (
    AgentRegistered
    | AgentRenamed
    | AgentUpdated
    | AgentStatusChanged
    | AgentDeleted
    | MessageSent
    | MessageStored
    | MessageHandedOff
    | MessageSeen
    | MessageRead
    | MessageClaimed
    | ClaimExpired
    | MessageCompleted
    | MessageReplied
    | MessagesCleared
    | ChannelCreated
    | ChannelJoined
    | ChannelLeft
    | ChannelArchived
    | AskOpened
    | AskEnded
    | TaskOpened
    | TaskPosted
    | TaskStarted
    | TaskEnded
    | RuleSet
    | RuleRemoved
    | ApprovalRequested
    | ApprovalAnswered
    | ApprovalUsed
    | MessageHeld
    | MessageDropped
    | TokenIssued
    | TokenRevoked
    | AccessRefused
    | MessagesPruned
)

EVERYONE = None
"""The audience of what every agent may know."""


def audience(*parties: str) -> tuple[str, ...]:
    """The agents among the parties: the operator and the hub see everything and are never named."""
    return tuple(dict.fromkeys(party for party in parties if party not in (OPERATOR, HUB)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the journal. The operator sees all; an agent sees those whose audience names it.

    `actor` and `token_id` say who did it and by which token; both are the hub's own when nobody asked.
    `message` is there when the fact is MessageSent.
    """

    position: int
    at: int
    actor: str
    token_id: str
    audience: tuple[str, ...] | None
    fact: Fact
    message: Message | None = None
