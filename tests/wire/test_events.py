"""The journal as its readers see it."""

import json
from dataclasses import replace
from typing import Any, get_args

import pytest

from rookery.domain import events as facts
from rookery.domain.agents import Agent
from rookery.domain.approvals import Approval
from rookery.domain.asks import Ask
from rookery.domain.channels import Channel
from rookery.domain.events import Entry, Fact
from rookery.domain.messages import Message
from rookery.domain.permissions import Rule
from rookery.domain.tasks import Task
from rookery.wire.events import EVENT_TYPES, encoded_event, event

AT = 1_800_000_000_123
TIME = "2027-01-15T08:00:00.123Z"
LATER, LATER_TIME = AT + 1000, "2027-01-15T08:00:01.123Z"

MESSAGE = Message(
    id="m1", conversation="dm:fox:owl", seq=7, sender="fox", recipient="owl", type="direct", content="hello",
    metadata='{"a": [1, 2.0]}', thread="m1", created_at=AT,
)  # fmt: skip
AGENT = Agent(
    id="fox", name="Foxy", kind="codex", role="leader", mode="strict", manager="owl", project="/p", model_name="m",
    status="idle", created_at=AT, last_active=AT,
)  # fmt: skip


def entry(fact: Fact, message: Message | None = None) -> Entry:
    return Entry(position=42, at=AT, actor="fox", token_id="t-1", audience=None, fact=fact, message=message)


def told(fact: Fact, message: Message | None = None) -> dict[str, Any]:
    """The frame, without what every frame carries."""
    frame = json.loads(encoded_event(entry(fact, message)))
    assert frame.pop("position") == 42
    assert frame.pop("timestamp") == TIME
    assert (frame.pop("actor"), frame.pop("actor_token")) == ("fox", "t-1")
    return frame


def sent(message: Message) -> dict[str, Any]:
    return told(facts.MessageSent(message_id=message.id), message)


def test_every_fact_has_a_type_of_its_own_on_the_wire() -> None:
    assert set(EVENT_TYPES) == set(get_args(Fact))
    assert len(set(EVENT_TYPES.values())) == len(EVENT_TYPES)


def test_types_tell_the_parties_and_the_owner_apart() -> None:
    types = dict(EVENT_TYPES)
    assert types == {
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


# -- messages, with the fields of the documented protocol first ------------------------------------------


def test_agent_message() -> None:
    assert sent(MESSAGE) == {
        "type": "agent_message",
        "message_id": "m1",
        "from_agent_id": "fox",
        "to_agent_id": "owl",
        "content": "hello",
        "message_type": "direct",
        "metadata": {"a": [1, 2.0]},
        "reply_to": None,
        # beyond the documented ones:
        "thread_id": "m1",
        "conversation": "dm:fox:owl",
        "seq": 7,
        "priority": "normal",
        "expires_at": None,
        "pattern": None,
        "trace_id": "m1",
        "hops": 0,
        "task": None,
    }


def test_agent_message_of_a_reply() -> None:
    frame = sent(replace(MESSAGE, type="reply", reply_to="m0", thread="m0", priority="high", expires_at=LATER))
    assert (frame["type"], frame["message_type"], frame["reply_to"]) == ("agent_message", "reply", "m0")
    assert (frame["thread_id"], frame["priority"], frame["expires_at"]) == ("m0", "high", LATER_TIME)


def test_agent_message_that_the_hub_made_of_a_call() -> None:
    frame = sent(replace(MESSAGE, pattern="delegate", trace="m0", hops=2, task="task-7"))
    assert (frame["pattern"], frame["trace_id"], frame["hops"], frame["task"]) == ("delegate", "m0", 2, "task-7")


def test_agent_broadcast() -> None:
    shout = replace(MESSAGE, type="broadcast", recipient="broadcast", conversation="broadcast")
    assert sent(shout) == {
        "type": "agent_broadcast",
        "message_id": "m1",
        "from_agent_id": "fox",
        "content": "hello",
        "metadata": {"a": [1, 2.0]},
        # beyond the documented ones:
        "message_type": "broadcast",
        "reply_to": None,
        "thread_id": "m1",
        "conversation": "broadcast",
        "seq": 7,
        "priority": "normal",
        "expires_at": None,
        "pattern": None,
        "trace_id": "m1",
        "hops": 0,
        "task": None,
    }


def test_agent_message_in_a_channel_is_addressed_to_the_channel() -> None:
    frame = sent(replace(MESSAGE, type="channel", recipient="#build", conversation="channel:build"))
    assert (frame["type"], frame["message_type"]) == ("agent_message", "channel")
    assert (frame["to_agent_id"], frame["conversation"]) == ("#build", "channel:build")


def test_a_message_that_was_pruned_is_told_by_its_id() -> None:
    assert told(facts.MessageSent(message_id="m1")) == {"type": "agent_message", "message_id": "m1"}


def test_metadata_travels_as_it_was_sent() -> None:
    text = '{"z":1,"a":{"n":-0.0,"big":9223372036854775807,"s":"\\u00e9é"},"e":[]}'
    frame = encoded_event(entry(facts.MessageSent(message_id="m1"), replace(MESSAGE, metadata=text)))
    assert f'"metadata":{text}'.encode() in frame


def test_agent_message_delivered() -> None:
    fact = facts.MessageHandedOff(message_id="m1", recipient="owl", recipients=("owl",), via="websocket", at=LATER)
    assert told(fact) == {
        "type": "agent_message_delivered",
        "message_id": "m1",
        "to_agent_id": "owl",
        "delivered_at": LATER_TIME,
        "via": "websocket",
    }


def test_agent_message_delivered_of_a_broadcast_names_those_who_got_it() -> None:
    fact = facts.MessageHandedOff(message_id="m1", recipient="broadcast", recipients=("owl",), via="ws", at=LATER)
    assert told(fact)["to_agent_id"] == "broadcast"
    assert told(fact)["recipients"] == ["owl"]


def test_agent_message_read() -> None:
    assert told(facts.MessageSeen(message_id="m1", recipient="owl", via="rest", at=LATER)) == {
        "type": "agent_message_read",
        "message_id": "m1",
        "agent_id": "owl",
        "read_at": LATER_TIME,
        "via": "rest",
    }


def test_agent_message_replied() -> None:
    assert told(facts.MessageReplied(message_id="m1", recipient="owl", reply_id="m2", at=LATER)) == {
        "type": "agent_message_replied",
        "message_id": "m1",
        "agent_id": "owl",
        "reply_id": "m2",
        "replied_at": LATER_TIME,
    }


# -- inboxes ---------------------------------------------------------------------------------------------


def test_inbox_message_sent() -> None:
    fact = facts.MessageStored(message_id="m1", sender="fox", recipient="owl", recipients=("owl",), at=LATER)
    assert told(fact) == {
        "type": "inbox_message_sent",
        "message_id": "m1",
        "from_agent_id": "fox",
        "to_agent_id": "owl",
        "folder": "new",
    }


def test_inbox_message_sent_of_a_channel_names_those_who_were_mentioned() -> None:
    fact = facts.MessageStored(message_id="m1", sender="fox", recipient="#build", recipients=("owl",), at=LATER)
    assert told(fact)["to_agent_id"] == "#build"
    assert told(fact)["recipients"] == ["owl"]
    assert told(replace(fact, recipients=()))["recipients"] == []


def test_inbox_message_read() -> None:
    assert told(facts.MessageRead(message_id="m1", recipient="owl", by="operator", at=LATER)) == {
        "type": "inbox_message_read",
        "message_id": "m1",
        "agent_id": "owl",
        "read_at": LATER_TIME,
        "read_by": "operator",
    }


def test_inbox_message_claimed() -> None:
    assert told(facts.MessageClaimed(message_id="m1", recipient="owl", by="owl", via="rest", at=LATER)) == {
        "type": "inbox_message_claimed",
        "message_id": "m1",
        "agent_id": "owl",
        "claimed_by": "owl",
        "claimed_at": LATER_TIME,
        "folder": "cur",
    }


def test_inbox_claim_expired() -> None:
    assert told(facts.ClaimExpired(message_id="m1", recipient="owl", by="owl", at=LATER)) == {
        "type": "inbox_claim_expired",
        "message_id": "m1",
        "agent_id": "owl",
        "claimed_by": "owl",
        "expired_at": LATER_TIME,
        "folder": "new",
    }


@pytest.mark.parametrize("outcome", ["done", "dead"])
def test_inbox_message_completed(outcome: Any) -> None:
    fact = facts.MessageCompleted(
        message_id="m1", recipient="owl", by="owl", outcome=outcome, result="r", error="e", note="n", at=LATER
    )
    assert told(fact) == {
        "type": "inbox_message_completed",
        "message_id": "m1",
        "agent_id": "owl",
        "completed_by": "owl",
        "completed_at": LATER_TIME,
        "status": outcome,
        "folder": outcome,
        "result": "r",
        "error": "e",
        "note": "n",
    }


def test_inbox_messages_cleared() -> None:
    assert told(facts.MessagesCleared(recipient="owl", message_ids=("m1", "m2"), at=LATER)) == {
        "type": "inbox_messages_cleared",
        "agent_id": "owl",
        "message_ids": ["m1", "m2"],
    }


# -- agents ----------------------------------------------------------------------------------------------


def test_agent_registered() -> None:
    assert told(facts.AgentRegistered(agent=AGENT)) == {
        "type": "agent_registered",
        "agent_id": "fox",
        "name": "Foxy",
        "kind": "codex",
        "role": "leader",
        "mode": "strict",
        "manager": "owl",
        "project": "/p",
        "model_name": "m",
        "status": "idle",
        "online": True,
        "sleeping_until": None,
        "created_at": TIME,
        "last_active": TIME,
    }


def test_agent_renamed() -> None:
    assert told(facts.AgentRenamed(agent_id="fox", previous_name="a", name="b")) == {
        "type": "agent_renamed",
        "agent_id": "fox",
        "previous_name": "a",
        "name": "b",
    }


def test_agent_updated() -> None:
    fact = facts.AgentUpdated(
        agent_id="fox", kind="codex", role="worker", mode="strict", manager=None, project="/p", model_name=None
    )
    assert told(fact) == {
        "type": "agent_updated",
        "agent_id": "fox",
        "kind": "codex",
        "role": "worker",
        "mode": "strict",
        "manager": None,
        "project": "/p",
        "model_name": None,
    }


def test_agent_status_changed() -> None:
    assert told(facts.AgentStatusChanged(agent_id="fox", previous_status="idle", status="working")) == {
        "type": "agent_status_changed",
        "agent_id": "fox",
        "previous_status": "idle",
        "status": "working",
        "sleeping_until": None,
    }


def test_agent_status_changed_to_sleeping_says_until_when() -> None:
    fact = facts.AgentStatusChanged(
        agent_id="fox", previous_status="idle", status="sleeping", sleeping_until=LATER
    )
    assert (told(fact)["status"], told(fact)["sleeping_until"]) == ("sleeping", LATER_TIME)


def test_agent_deleted() -> None:
    assert told(facts.AgentDeleted(agent_id="fox", name="Foxy", at=LATER)) == {
        "type": "agent_deleted",
        "agent_id": "fox",
        "name": "Foxy",
    }


# -- channels --------------------------------------------------------------------------------------------


def test_channel_created() -> None:
    channel = Channel(name="build", topic="it breaks", members=("fox", "owl"), created_by="fox", created_at=AT)
    assert told(facts.ChannelCreated(channel=channel)) == {
        "type": "channel_created",
        "channel": "#build",
        "topic": "it breaks",
        "members": ["fox", "owl"],
        "created_by": "fox",
        "created_at": TIME,
        "archived_at": None,
    }


@pytest.mark.parametrize(
    ("fact", "frame"),
    [
        (
            facts.ChannelJoined(channel="build", member="owl"),
            {"type": "channel_joined", "channel": "#build", "agent_id": "owl"},
        ),
        (
            facts.ChannelLeft(channel="build", member="owl"),
            {"type": "channel_left", "channel": "#build", "agent_id": "owl"},
        ),
        (
            facts.ChannelArchived(channel="build", at=LATER),
            {"type": "channel_archived", "channel": "#build", "archived_at": LATER_TIME},
        ),
    ],
)
def test_what_becomes_of_a_channel(fact: Fact, frame: dict[str, Any]) -> None:
    assert told(fact) == frame


# -- contact ---------------------------------------------------------------------------------------------

ASK = Ask(message_id="m1", asker="fox", target="owl", depth=2, asked_at=AT, deadline=LATER)
ASKED = {
    "message_id": "m1", "asker": "fox", "target": "owl", "depth": 2, "status": "open", "asked_at": TIME,
    "deadline": LATER_TIME, "answer_id": None, "error": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("fact", "frame"),
    [
        (facts.AskOpened(ask=ASK), {"type": "ask_opened"} | ASKED),
        (
            facts.AskEnded(ask=ASK.answered(LATER, "m2")),
            {"type": "ask_ended"} | ASKED | {"status": "answered", "answer_id": "m2"},
        ),
        (
            facts.AskEnded(ask=ASK.failed(LATER, "it broke")),
            {"type": "ask_ended"} | ASKED | {"status": "failed", "error": "it broke"},
        ),
        (facts.AskEnded(ask=ASK.timed_out(LATER)), {"type": "ask_ended"} | ASKED | {"status": "timed_out"}),
        (facts.AskEnded(ask=ASK.abandoned(LATER)), {"type": "ask_ended"} | ASKED | {"status": "abandoned"}),
    ],
    ids=lambda each: each["status"] if isinstance(each, dict) else None,
)
def test_what_becomes_of_a_question(fact: Fact, frame: dict[str, Any]) -> None:
    assert told(fact) == frame


# -- tasks -----------------------------------------------------------------------------------------------

TASK = Task(
    id="task-7", requester="fox", assignee="owl", request="build it\nwith care", context="version 2",
    parent="task-3", priority="high", origin="dm:fox:owl", not_before=LATER, created_at=AT,
)  # fmt: skip
TOLD_OF_TASK = {
    "task_id": "task-7", "title": "build it", "status": "pending", "requester": "fox", "assignee": "owl",
    "parent": "task-3", "priority": "high", "request": "build it\nwith care", "context": "version 2",
    "result": None, "error": None, "message_id": None, "not_before": LATER_TIME, "created_at": TIME,
    "started_at": None, "ended_at": None, "ended_by": None,
}  # fmt: skip
POSTED = {"message_id": "m1", "not_before": None}


@pytest.mark.parametrize(
    ("fact", "frame"),
    [
        (facts.TaskOpened(task=TASK), {"type": "task_opened"} | TOLD_OF_TASK),
        (facts.TaskPosted(task=TASK.posted("m1")), {"type": "task_posted"} | TOLD_OF_TASK | POSTED),
        (
            facts.TaskStarted(task=TASK.posted("m1").started(LATER)),
            {"type": "task_started"} | TOLD_OF_TASK | POSTED | {"status": "active", "started_at": LATER_TIME},
        ),
        (
            facts.TaskEnded(task=TASK.posted("m1").ended(LATER, "owl", "failed", result="r", error="e")),
            {"type": "task_ended"} | TOLD_OF_TASK | POSTED
            | {"status": "failed", "ended_at": LATER_TIME, "ended_by": "owl", "result": "r", "error": "e"},
        ),
    ],
    ids=lambda each: each["type"] if isinstance(each, dict) else None,
)  # fmt: skip
def test_what_becomes_of_a_task(fact: Fact, frame: dict[str, Any]) -> None:
    assert told(fact) == frame


# -- rules and approvals ---------------------------------------------------------------------------------

APPROVAL = Approval(
    id="k3m9", kind="contact", agent="fox", tool="contact_agent", arguments=(("action", "ask"), ("agent", "owl")),
    nonce="a secret of the hub", digest="d" * 64, created_at=AT, expires_at=LATER, key="k", previous_status="idle",
)  # fmt: skip
TOLD_OF_APPROVAL = {
    "approval_id": "k3m9", "kind": "contact", "agent_id": "fox", "tool": "contact_agent",
    "arguments": {"action": "ask", "agent": "owl"}, "digest": "d" * 64, "status": "pending", "created_at": TIME,
    "expires_at": LATER_TIME, "answered_at": None, "answered_by": None, "note": None, "used_at": None,
}  # fmt: skip
ANSWERED = APPROVAL.answered(LATER, "operator", "denied", note="not now")
TOLD_OF_ANSWER = {"status": "denied", "answered_at": LATER_TIME, "answered_by": "operator", "note": "not now"}


@pytest.mark.parametrize(
    ("fact", "frame"),
    [
        (
            facts.RuleSet(rule=Rule(agent="fox", target="*", permission="allow", requires_approval=True)),
            {
                "type": "rule_set", "agent_id": "fox", "target": "*", "permission": "allow",
                "requires_approval": True,
            },
        ),
        (
            facts.RuleRemoved(agent="fox", target="owl"),
            {"type": "rule_removed", "agent_id": "fox", "target": "owl"},
        ),
        (facts.ApprovalRequested(approval=APPROVAL), {"type": "approval_requested"} | TOLD_OF_APPROVAL),
        (
            facts.ApprovalAnswered(approval=ANSWERED),
            {"type": "approval_answered"} | TOLD_OF_APPROVAL | TOLD_OF_ANSWER,
        ),
        (
            facts.ApprovalUsed(approval=ANSWERED.used(LATER)),
            {"type": "approval_used"} | TOLD_OF_APPROVAL | TOLD_OF_ANSWER | {"used_at": LATER_TIME},
        ),
    ],
    ids=lambda each: each["type"] if isinstance(each, dict) else None,
)  # fmt: skip
def test_what_the_operator_decides(fact: Fact, frame: dict[str, Any]) -> None:
    assert told(fact) == frame


@pytest.mark.parametrize(("kind", "name"), [("held", "MessageHeld"), ("dropped", "MessageDropped")])
def test_a_message_that_waits_for_the_operator_is_told_of_without_its_words(kind: str, name: str) -> None:
    fact = getattr(facts, name)(message_id="m1", approval="k3m9", sender="fox", recipient="owl")
    assert told(fact) == {
        "type": f"message_{kind}", "message_id": "m1", "approval_id": "k3m9", "from_agent_id": "fox",
        "to_agent_id": "owl",
    }  # fmt: skip


# -- the audit trail -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fact", "frame"),
    [
        (
            facts.TokenIssued(token_id="t", holder="fox"),
            {"type": "token_issued", "token_id": "t", "holder": "fox"},
        ),
        (
            facts.TokenRevoked(token_id="t", holder="fox"),
            {"type": "token_revoked", "token_id": "t", "holder": "fox"},
        ),
        (facts.AccessRefused(action="a", reason="r"), {"type": "access_refused", "action": "a", "reason": "r"}),
        (
            facts.MessagesPruned(count=3, before=LATER),
            {"type": "messages_pruned", "count": 3, "before": LATER_TIME},
        ),
    ],
)
def test_the_audit_trail(fact: Fact, frame: dict[str, Any]) -> None:
    assert told(fact) == frame


def test_no_fact_overwrites_what_every_frame_carries() -> None:
    assert list(event(entry(facts.MessageSent(message_id="m1"), MESSAGE)))[:3] == ["type", "position", "timestamp"]
