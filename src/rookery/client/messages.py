"""Calls about messages: sending them, and finding them again."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import msgspec

from rookery.client.agents import agent, me
from rookery.client.call import call_of
from rookery.client.exchange import Session, Steps, exchange
from rookery.wire import requests as ask
from rookery.wire import responses as answer
from rookery.wire.requests import Priority

BROADCAST = "broadcast"


def send(
    session: Session,
    to: str,
    content: str,
    *,
    metadata: Mapping[str, Any] | None = None,
    reply_to: str | None = None,
    priority: Priority | None = None,
    ttl: float | None = None,
    key: str | None = None,
    sender: str | None = None,
) -> Steps[answer.SendResponse]:
    """Store a message for an agent, the `operator`, a `#channel` or everybody (`broadcast`).

    Returns once it is on the hub's disk. Each call has its own idempotency key, which its repetitions share,
    so that a lost answer never makes two messages; give `key` to hold on to it across your own restarts.
    `ttl` is in seconds. `sender` is for the operator, who may speak as any agent.
    """
    wanted = ask.SendRequest(
        to_agent_id=to,
        content=content,
        from_agent_id=sender,
        metadata=None if metadata is None else dict(metadata),
        reply_to=reply_to,
        priority=priority,
        ttl_seconds=ttl,
        idempotency_key=key or uuid4().hex,
    )
    call = call_of("send_message", answer.SendResponse, body=wanted, repeatable=True)
    return (yield from exchange(session, call))


def broadcast(
    session: Session,
    content: str,
    *,
    metadata: Mapping[str, Any] | None = None,
    reply_to: str | None = None,
    priority: Priority | None = None,
    ttl: float | None = None,
    key: str | None = None,
    sender: str | None = None,
) -> Steps[answer.SendResponse]:
    """A message to every other agent, each with its own copy to read and to finish."""
    steps = send(
        session, BROADCAST, content, metadata=metadata, reply_to=reply_to, priority=priority, ttl=ttl,
        key=key, sender=sender,
    )  # fmt: skip
    return (yield from steps)


def reply(
    session: Session,
    to: str | answer.MessageView,
    content: str,
    *,
    metadata: Mapping[str, Any] | None = None,
    priority: Priority | None = None,
    ttl: float | None = None,
    key: str | None = None,
    sender: str | None = None,
) -> Steps[answer.SendResponse]:
    """Answer a message, given whole or by its id. It goes to whoever sent it, on to the recipient if it was
    one's own, and into the channel if it was said in one."""
    parent = (yield from message(session, to)).message if isinstance(to, str) else to
    myself = (yield from agent(session, sender)).agent.agent_id if sender else (yield from me(session))
    own_or_public = parent.from_agent_id == myself or parent.message_type == "channel"
    addressee = parent.to_agent_id if own_or_public else parent.from_agent_id
    steps = send(
        session, addressee, content, reply_to=parent.message_id, metadata=metadata, priority=priority,
        ttl=ttl, key=key, sender=sender,
    )  # fmt: skip
    return (yield from steps)


def message(session: Session, message_id: str) -> Steps[answer.MessageResponse]:
    """A message that one sent or received, with the receipts of its deliveries."""
    places = {"message_id": message_id}
    return (yield from exchange(session, call_of("get_message", answer.MessageResponse, places=places)))


def thread(session: Session, message_id: str) -> Steps[answer.ThreadResponse]:
    """All messages of the thread that this one belongs to, oldest first."""
    places = {"message_id": message_id}
    return (yield from exchange(session, call_of("get_thread", answer.ThreadResponse, places=places)))


def search(
    session: Session, text: str, *, agent: str | None = None, limit: int = 50
) -> Steps[answer.SearchResponse]:
    """Messages that hold these words, best match first: one's own, and for the operator everybody's."""
    query = {"q": text, "agent": agent, "limit": limit}
    return (yield from exchange(session, call_of("search", answer.SearchResponse, query=query)))


def metadata_of(message: answer.MessageView) -> dict[str, Any]:
    """What its sender attached to a message."""
    return msgspec.json.decode(message.metadata, type=dict[str, Any])
