"""The journal as its readers see it."""

import json
from dataclasses import replace
from typing import Any, get_args

import pytest

from rookery.domain import events as facts
from rookery.domain.agents import Agent
from rookery.domain.channels import Channel
from rookery.domain.events import Entry, Fact
from rookery.domain.messages import Message
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
    }


def test_agent_message_of_a_reply() -> None:
    frame = sent(replace(MESSAGE, type="reply", reply_to="m0", thread="m0", priority="high", expires_at=LATER))
    assert (frame["type"], frame["message_type"], frame["reply_to"]) == ("agent_message", "reply", "m0")
    assert (frame["thread_id"], frame["priority"], frame["expires_at"]) == ("m0", "high", LATER_TIME)


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
    }


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
