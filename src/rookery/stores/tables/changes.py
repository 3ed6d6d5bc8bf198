"""Records as JSON-ready dictionaries: what an export holds, and what a store that keeps its truth elsewhere
is told of each change. Each has a `record` key that names its kind; bytes are hexadecimal.
"""

from collections.abc import Iterable

import msgspec

from rookery.domain.agents import Agent
from rookery.domain.channels import Channel
from rookery.domain.deliveries import Delivery
from rookery.domain.messages import Message
from rookery.domain.principals import Token

Record = dict[str, object]
Changes = list[Record]

FORMAT = 1
"""The version in the first record of an export."""


def header_record(*, records: int, position: int) -> Record:
    return {"record": "rookery", "version": FORMAT, "records": records, "position": position}


def agent_record(agent: Agent, born: int) -> Record:
    return {"record": "agent", **msgspec.to_builtins(agent), "born": born}


def conversation_record(conversation: str, last_seq: int) -> Record:
    return {"record": "conversation", "id": conversation, "last_seq": last_seq}


def message_record(message: Message) -> Record:
    return {"record": "message", **msgspec.to_builtins(message), "digest": message.digest().hex()}


def delivery_record(delivery: Delivery) -> Record:
    return {"record": "delivery", **msgspec.to_builtins(delivery)}


def event_record(
    position: int,
    at: int,
    actor: str,
    token_id: str,
    kind: str,
    audience: str,
    message_id: str | None,
    data: str,
) -> Record:
    """`audience` as it is in the table: '*' for everyone, else the ids, separated by spaces."""
    return {
        "record": "event", "position": position, "at": at, "actor": actor, "token_id": token_id, "type": kind,
        "audience": None if audience == "*" else audience.split(), "message_id": message_id,
        "data": msgspec.json.decode(data),
    }  # fmt: skip


def token_record(token: Token) -> Record:
    return {
        "record": "token", "id": token.id, "digest": token.digest.hex(), "holder": token.holder,
        "created_at": token.created_at, "revoked_at": token.revoked_at,
    }  # fmt: skip


def idempotency_record(sender: str, key: str, message_id: str, digest: bytes) -> Record:
    return {
        "record": "idempotency", "sender": sender, "key": key, "message_id": message_id,
        "digest": digest.hex(),
    }  # fmt: skip


def channel_record(channel: Channel) -> Record:
    return {"record": "channel", **msgspec.to_builtins(channel), "members": list(channel.members)}


def pacing_record(sender: str, target: str, level: int, accepted: list[int]) -> Record:
    return {"record": "pacing", "sender": sender, "target": target, "level": level, "accepted": accepted}


def paper_record(kind: str, paper: str) -> Record:
    """Of what is kept whole as JSON."""
    return {"record": kind, **msgspec.json.decode(paper, type=dict[str, object])}


def removed_paper_record(kind: str, key: dict[str, str]) -> Record:
    return {"record": f"{kind}_removed", **key}


def attention_record(papers: Iterable[str]) -> Record:
    return {"record": "attention", "given": [msgspec.json.decode(paper) for paper in papers]}
