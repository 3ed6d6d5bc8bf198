"""Facts in the past tense, and the journal entry that carries one.

A fact is written in the transaction that made it true and holds all that is needed to repeat the change:
applying the facts from the first position on, over nothing, gives the present state (see `View`).
"""

from dataclasses import dataclass, field, replace

from rookery.domain.agents import Agent, Kind, Mode, Role, Status
from rookery.domain.channels import Channel
from rookery.domain.deliveries import Delivery, Outcome
from rookery.domain.ids import HUB, OPERATOR
from rookery.domain.messages import Message


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


@dataclass(slots=True)
class View:
    """The state that follows from the facts alone: what any reader of the journal can keep for itself."""

    agents: dict[str, Agent] = field(default_factory=dict[str, Agent])
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    deliveries: dict[tuple[str, str], Delivery] = field(default_factory=dict[tuple[str, str], Delivery])
    channels: dict[str, Channel] = field(default_factory=dict[str, Channel])

    def apply(self, entry: Entry) -> None:
        match entry.fact:
            case AgentRegistered(agent=agent):
                self.agents[agent.id] = agent
            case AgentRenamed(agent_id=agent_id, name=name):
                self.agents[agent_id] = replace(self.agents[agent_id], name=name)
            case AgentUpdated() as f:
                self.agents[f.agent_id] = replace(
                    self.agents[f.agent_id], kind=f.kind, role=f.role, mode=f.mode, manager=f.manager,
                    project=f.project, model_name=f.model_name,
                )  # fmt: skip
            case AgentStatusChanged(agent_id=agent_id, status=status):
                self.agents[agent_id] = replace(self.agents[agent_id], status=status)
            case AgentDeleted(agent_id=agent_id, at=at):
                self.agents[agent_id] = replace(self.agents[agent_id], deleted_at=at, status="offline")
            case MessageSent(message_id=message_id):
                if entry.message is not None:
                    self.messages[message_id] = entry.message
            case MessageStored() as f:
                for recipient in f.recipients:
                    self.deliveries[f.message_id, recipient] = Delivery(
                        message_id=f.message_id, recipient=recipient, stored_at=f.at
                    )
            case MessageHandedOff() as f:
                for recipient in f.recipients:
                    key = (f.message_id, recipient)
                    self.deliveries[key] = self.deliveries[key].handed_off(f.at, f.via)
            case MessagesCleared() as f:
                for message_id in f.message_ids:
                    key = (message_id, f.recipient)
                    if key in self.deliveries:  # else it was pruned, and others that were cleared with it not
                        self.deliveries[key] = self.deliveries[key].cleared(f.at)
            case (
                MessageSeen() | MessageRead() | MessageClaimed() | ClaimExpired() | MessageCompleted()
                | MessageReplied()
            ) as f:  # fmt: skip
                key = (f.message_id, f.recipient)
                self.deliveries[key] = _moved(self.deliveries[key], f)
            case ChannelCreated(channel=channel):
                self.channels[channel.name] = channel
            case ChannelJoined(channel=name, member=member):
                self.channels[name] = self.channels[name].joined(member)
            case ChannelLeft(channel=name, member=member):
                self.channels[name] = self.channels[name].left(member)
            case ChannelArchived(channel=name, at=at):
                self.channels[name] = self.channels[name].archived(at)
            case TokenIssued() | TokenRevoked() | AccessRefused() | MessagesPruned():
                pass


def _moved(
    delivery: Delivery,
    fact: MessageSeen | MessageRead | MessageClaimed | ClaimExpired | MessageCompleted | MessageReplied,
) -> Delivery:
    match fact:
        case MessageSeen(at=at, via=via):
            return delivery.seen(at, via)
        case MessageRead():
            return delivery  # the proof is in MessageSeen; this one is the inbox's own notice of it
        case MessageClaimed(at=at, by=by, via=via):
            return delivery.claimed(at, by, via)
        case ClaimExpired():
            return delivery.claim_expired()
        case MessageCompleted() as f:
            return delivery.completed(f.at, f.by, f.outcome, result=f.result, error=f.error, note=f.note)
        case MessageReplied(at=at, reply_id=reply_id):
            return delivery.replied(at, reply_id)
