"""The state that follows from the facts alone."""

from dataclasses import dataclass, field, replace

from rookery.domain.agents import Agent
from rookery.domain.approvals import Approval
from rookery.domain.asks import Ask
from rookery.domain.channels import Channel
from rookery.domain.deliveries import Delivery
from rookery.domain.events import (
    AccessRefused,
    AgentDeleted,
    AgentRegistered,
    AgentRenamed,
    AgentStatusChanged,
    AgentUpdated,
    ApprovalAnswered,
    ApprovalRequested,
    ApprovalUsed,
    AskEnded,
    AskOpened,
    ChannelArchived,
    ChannelCreated,
    ChannelJoined,
    ChannelLeft,
    ClaimExpired,
    Entry,
    MessageClaimed,
    MessageCompleted,
    MessageDropped,
    MessageHandedOff,
    MessageHeld,
    MessageRead,
    MessageReplied,
    MessagesCleared,
    MessageSeen,
    MessageSent,
    MessagesPruned,
    MessageStored,
    RuleRemoved,
    RuleSet,
    TaskEnded,
    TaskOpened,
    TaskPosted,
    TaskStarted,
    TokenIssued,
    TokenRevoked,
)
from rookery.domain.messages import Message
from rookery.domain.permissions import Rule
from rookery.domain.tasks import Task


@dataclass(slots=True)
class View:
    """What any reader of the journal can keep for itself."""

    agents: dict[str, Agent] = field(default_factory=dict[str, Agent])
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    deliveries: dict[tuple[str, str], Delivery] = field(default_factory=dict[tuple[str, str], Delivery])
    channels: dict[str, Channel] = field(default_factory=dict[str, Channel])
    asks: dict[str, Ask] = field(default_factory=dict[str, Ask])
    tasks: dict[str, Task] = field(default_factory=dict[str, Task])
    rules: dict[tuple[str, str], Rule] = field(default_factory=dict[tuple[str, str], Rule])
    approvals: dict[str, Approval] = field(default_factory=dict[str, Approval])

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
            case AgentStatusChanged(agent_id=agent_id, status=status, sleeping_until=until):
                self.agents[agent_id] = replace(self.agents[agent_id], status=status, sleeping_until=until)
            case AgentDeleted(agent_id=agent_id, at=at):
                self.agents[agent_id] = replace(
                    self.agents[agent_id], deleted_at=at, status="offline", sleeping_until=None
                )
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
            case AskOpened(ask=ask) | AskEnded(ask=ask):
                self.asks[ask.message_id] = ask
            case TaskOpened(task=task) | TaskPosted(task=task) | TaskStarted(task=task) | TaskEnded(task=task):
                self.tasks[task.id] = task
            case RuleSet(rule=rule):
                self.rules[rule.agent, rule.target] = rule
            case RuleRemoved(agent=agent_id, target=target):
                self.rules.pop((agent_id, target), None)
            case (
                ApprovalRequested(approval=approval) | ApprovalAnswered(approval=approval)
                | ApprovalUsed(approval=approval)
            ):  # fmt: skip
                self.approvals[approval.id] = approval
            case (
                TokenIssued() | TokenRevoked() | AccessRefused() | MessagesPruned() | MessageHeld()
                | MessageDropped()
            ):  # fmt: skip
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
