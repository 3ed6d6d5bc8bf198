"""Calls that turn to an agent: to ask it, to hand work over, to let it know, and to see what was said.

Each has an idempotency key, which its repetitions share: a lost answer, or a restart of the hub, never asks
twice, and the repetition comes back to the same question. Give `key` to hold on to it across your own restarts.
"""

from typing import Final
from uuid import uuid4

from rookery.client.call import call_of
from rookery.client.exchange import Session, Steps, exchange
from rookery.wire import requests
from rookery.wire.contact import ContactResponse, ConversationResponse
from rookery.wire.requests import Priority

LONGEST_ASK: Final = 120.0
"""Seconds that a hub waits for an answer, unless its settings say otherwise."""
_MARGIN: Final = 5.0
"""Seconds for the hub itself to say that no answer came, which is better than to hear nothing."""


def ask(
    session: Session,
    agent: str,
    message: str,
    *,
    context: str | None = None,
    timeout: float = LONGEST_ASK,
    key: str | None = None,
    sender: str | None = None,
) -> Steps[ContactResponse]:
    """Ask an agent and wait for its answer: the message in `answer`. Raises AskTimedOut when none came within
    `timeout` seconds, or within what the hub allows, and AskFailed when none can come.

    `status` is `awaiting_approval`, without an answer, while the operator has to be asked first: ask again under
    the same key to learn how that went. `sender` is for the operator, who may speak as any agent.
    """
    wanted = requests.ContactRequest(
        action="ask", agent=agent, message=message, context=context, timeout_seconds=timeout, from_agent_id=sender
    )
    return (yield from _contact(session, wanted, key, timeout + _MARGIN))


def delegate(
    session: Session,
    agent: str,
    message: str,
    *,
    context: str | None = None,
    priority: Priority = "normal",
    task: str | None = None,
    key: str | None = None,
    sender: str | None = None,
) -> Steps[ContactResponse]:
    """Hand work over and go on: the `task` that was made. Its result comes as a message. `task` is the caller's
    own task that it is a part of, when that is not the one that it works on."""
    wanted = requests.ContactRequest(
        action="delegate", agent=agent, message=message, context=context, priority=priority, task=task,
        from_agent_id=sender,
    )  # fmt: skip
    return (yield from _contact(session, wanted, key))


def notify(
    session: Session,
    agent: str,
    message: str,
    *,
    context: str | None = None,
    key: str | None = None,
    sender: str | None = None,
) -> Steps[ContactResponse]:
    """Leave word for an agent. It may be offline, and nobody is set to work by it."""
    wanted = requests.ContactRequest(
        action="notify", agent=agent, message=message, context=context, from_agent_id=sender
    )
    return (yield from _contact(session, wanted, key))


def conversation(
    session: Session, other: str, *, agent: str | None = None, before: int | None = None, limit: int = 20
) -> Steps[ConversationResponse]:
    """What was said between the caller and another, oldest first: the newest page, or the one before a `seq`.
    `agent` is for the operator, who may look at the conversations of any agent."""
    query = {"agent": agent, "before": before, "limit": limit}
    call = call_of("conversation", ConversationResponse, places={"agent": other}, query=query)
    return (yield from exchange(session, call))


def _contact(
    session: Session, wanted: requests.ContactRequest, key: str | None, patient: float = 0.0
) -> Steps[ContactResponse]:
    call = call_of(
        "contact", ContactResponse, body=wanted, repeatable=True, patient=patient, key=key or uuid4().hex
    )
    return (yield from exchange(session, call))
