"""The journal as its readers see it: one JSON object per entry, each with its type and position.

`agent_*` events tell the parties of a message about it; `inbox_*` events tell the owner of an inbox what
changed in it; the rest of the journal keeps the names of its facts.
"""

from typing import Any

import msgspec

from rookery.domain import events as facts
from rookery.domain.events import Entry, Fact
from rookery.domain.ids import BROADCAST
from rookery.domain.messages import Message
from rookery.wire.times import iso, iso_or_none
from rookery.wire.views import agent_view, approval_view, ask_view, channel_view, rule_view, task_view

EVENT_TYPES: dict[type[Any], str] = {
    facts.MessageSent: "agent_message",
    facts.MessageStored: "inbox_message_sent",
    facts.MessageHandedOff: "agent_message_delivered",
    facts.MessageSeen: "agent_message_read",
    facts.MessageRead: "inbox_message_read",
    facts.MessageClaimed: "inbox_message_claimed",
    facts.MessageCompleted: "inbox_message_completed",
    facts.ClaimExpired: "inbox_claim_expired",
    facts.MessageReplied: "agent_message_replied",
    facts.MessagesCleared: "inbox_messages_cleared",
    facts.AgentRegistered: "agent_registered",
    facts.AgentRenamed: "agent_renamed",
    facts.AgentUpdated: "agent_updated",
    facts.AgentStatusChanged: "agent_status_changed",
    facts.AgentDeleted: "agent_deleted",
    facts.ChannelCreated: "channel_created",
    facts.ChannelJoined: "channel_joined",
    facts.ChannelLeft: "channel_left",
    facts.ChannelArchived: "channel_archived",
    facts.AskOpened: "ask_opened",
    facts.AskEnded: "ask_ended",
    facts.TaskOpened: "task_opened",
    facts.TaskPosted: "task_posted",
    facts.TaskStarted: "task_started",
    facts.TaskEnded: "task_ended",
    facts.RuleSet: "rule_set",
    facts.RuleRemoved: "rule_removed",
    facts.ApprovalRequested: "approval_requested",
    facts.ApprovalAnswered: "approval_answered",
    facts.ApprovalUsed: "approval_used",
    facts.MessageHeld: "message_held",
    facts.MessageDropped: "message_dropped",
    facts.TokenIssued: "token_issued",
    facts.TokenRevoked: "token_revoked",
    facts.AccessRefused: "access_refused",
    facts.MessagesPruned: "messages_pruned",
}
"""A message to everybody is told as `agent_broadcast` instead of `agent_message`."""

_encoder = msgspec.json.Encoder()


def encoded_event(entry: Entry) -> bytes:
    return _encoder.encode(event(entry))


def event(entry: Entry) -> dict[str, Any]:
    """Frames of one entry are the same for every reader, so they are made once."""
    kind = EVENT_TYPES[type(entry.fact)]
    if entry.message is not None and entry.message.type == "broadcast":
        kind = "agent_broadcast"
    return {
        "type": kind,
        "position": entry.position,
        "timestamp": iso(entry.at),
        **_details(entry.fact, entry.message),
        **_reached(entry),
        "actor": entry.actor,
        "actor_token": entry.token_id,
    }


def _details(fact: Fact, message: Message | None) -> dict[str, Any]:
    match fact:
        case facts.MessageSent():
            return {"message_id": fact.message_id} if message is None else _message(message)
        case facts.MessageStored():
            return {
                "message_id": fact.message_id,
                "from_agent_id": fact.sender,
                "to_agent_id": fact.recipient,
                "folder": "new",
            }
        case facts.MessageHandedOff():
            several = {"recipients": fact.recipients} if fact.recipients != (fact.recipient,) else {}
            return {
                "message_id": fact.message_id,
                "to_agent_id": fact.recipient,
                "delivered_at": iso(fact.at),
                "via": fact.via,
                **several,
            }
        case facts.MessageSeen():
            return _of_inbox(fact) | {"read_at": iso(fact.at), "via": fact.via}
        case facts.MessageRead():
            return _of_inbox(fact) | {"read_at": iso(fact.at), "read_by": fact.by}
        case facts.MessageClaimed():
            return _of_inbox(fact) | {"claimed_by": fact.by, "claimed_at": iso(fact.at), "folder": "cur"}
        case facts.ClaimExpired():
            return _of_inbox(fact) | {"claimed_by": fact.by, "expired_at": iso(fact.at), "folder": "new"}
        case facts.MessageCompleted():
            return _of_inbox(fact) | {
                "completed_by": fact.by,
                "completed_at": iso(fact.at),
                "status": fact.outcome,
                "folder": fact.outcome,
                "result": fact.result,
                "error": fact.error,
                "note": fact.note,
            }
        case facts.MessageReplied():
            return _of_inbox(fact) | {"reply_id": fact.reply_id, "replied_at": iso(fact.at)}
        case facts.MessagesCleared():
            return {"agent_id": fact.recipient, "message_ids": fact.message_ids}
        case facts.AgentRegistered():
            return msgspec.to_builtins(agent_view(fact.agent))
        case facts.ChannelCreated():
            return msgspec.to_builtins(channel_view(fact.channel))
        case facts.ChannelJoined() | facts.ChannelLeft():
            return {"channel": f"#{fact.channel}", "agent_id": fact.member}
        case facts.ChannelArchived():
            return {"channel": f"#{fact.channel}", "archived_at": iso(fact.at)}
        case facts.AskOpened() | facts.AskEnded():
            return msgspec.to_builtins(ask_view(fact.ask))
        case facts.TaskOpened() | facts.TaskPosted() | facts.TaskStarted() | facts.TaskEnded():
            return msgspec.to_builtins(task_view(fact.task))
        case facts.RuleSet():
            return msgspec.to_builtins(rule_view(fact.rule))
        case facts.RuleRemoved():
            return {"agent_id": fact.agent, "target": fact.target}
        case facts.ApprovalRequested() | facts.ApprovalAnswered() | facts.ApprovalUsed():
            return msgspec.to_builtins(approval_view(fact.approval))
        case facts.MessageHeld() | facts.MessageDropped():
            return {
                "message_id": fact.message_id,
                "approval_id": fact.approval,
                "from_agent_id": fact.sender,
                "to_agent_id": fact.recipient,
            }
        case facts.AgentStatusChanged():
            return msgspec.to_builtins(fact) | {"sleeping_until": iso_or_none(fact.sleeping_until)}
        case facts.AgentDeleted():
            return {"agent_id": fact.agent_id, "name": fact.name}
        case facts.MessagesPruned():
            return {"count": fact.count, "before": iso_or_none(fact.before)}
        case _:
            return msgspec.to_builtins(fact)


def _reached(entry: Entry) -> dict[str, Any]:
    """Without these a reader could not tell who was left out of a broadcast, for each recipient is paced alone,
    nor whom a message in a channel called upon."""
    fact = entry.fact
    if not isinstance(fact, facts.MessageStored):
        return {}
    to_some = fact.recipient == BROADCAST and entry.audience is not None
    return {"recipients": fact.recipients} if to_some or fact.recipient.startswith("#") else {}


def _of_inbox(
    fact: facts.MessageSeen
    | facts.MessageRead
    | facts.MessageClaimed
    | facts.ClaimExpired
    | facts.MessageCompleted
    | facts.MessageReplied,
) -> dict[str, Any]:
    return {"message_id": fact.message_id, "agent_id": fact.recipient}


def _message(message: Message) -> dict[str, Any]:
    addressed: dict[str, Any] = {}
    if message.type != "broadcast":
        addressed = {"to_agent_id": message.recipient}
    return {
        "message_id": message.id,
        "from_agent_id": message.sender,
        **addressed,
        "content": message.content,
        "message_type": message.type,
        "metadata": msgspec.Raw(message.metadata.encode()),
        "reply_to": message.reply_to,
        "thread_id": message.thread,
        "conversation": message.conversation,
        "seq": message.seq,
        "priority": message.priority,
        "expires_at": iso_or_none(message.expires_at),
        "pattern": message.pattern,
        "trace_id": message.traced_to,
        "hops": message.hops,
        "task": message.task,
    }
