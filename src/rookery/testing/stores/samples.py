"""Agents and messages to try a store with. They are made the way the services make them."""

import random
from collections.abc import Sequence

from rookery.domain.agents import Agent
from rookery.domain.channels import Channel
from rookery.domain.events import AgentRegistered, ChannelCreated, Entry
from rookery.domain.ids import BROADCAST, MessageIds
from rookery.domain.messages import Message, Priority
from rookery.domain.principals import Principal
from rookery.ports import InboxItem, Transaction
from rookery.services.posting import Letter, Posting

FOX, OWL, BEAR = "swift-fox", "wise-owl", "calm-bear"
BY_FOX = Principal(FOX, "token-of-fox")
NOW = 1_800_000_000_000

posting = Posting(MessageIds(random.Random(7).getrandbits))


class Mishap(Exception):
    """What goes wrong in a work that fails on purpose."""


def an_agent(agent_id: str, name: str | None = None, *, last_active: int = NOW) -> Agent:
    return Agent(
        id=agent_id,
        name=name or agent_id.replace("-", "."),
        kind="codex",
        role="leader",
        mode="strict",
        manager=OWL,
        project="/home/fox/den",
        model_name="gpt-5",
        status="working",
        created_at=NOW,
        last_active=last_active,
    )


def registered(tx: Transaction, *agents: Agent | str) -> None:
    """Add agents together with the fact of their registration."""
    for agent in agents:
        newcomer = an_agent(agent) if isinstance(agent, str) else agent
        tx.agents.add(newcomer)
        tx.journal.record(AgentRegistered(agent=newcomer), at=NOW, by=BY_FOX, audience=None)


def posted(
    tx: Transaction,
    content: str = "hello",
    *,
    sender: str = FOX,
    to: str = OWL,
    at: int = NOW,
    priority: Priority = "normal",
    expires_at: int | None = None,
    parent: Message | None = None,
) -> Message:
    """A direct message, with its delivery and its facts."""
    letter = Letter(
        sender=sender,
        recipient=to,
        recipients=(to,),
        type="reply" if parent else "direct",
        content=content,
        parent=parent,
        priority=priority,
        expires_at=expires_at,
    )
    return posting.post(tx, letter, now=at, by=Principal(sender, f"token-of-{sender}"))


def shouted(
    tx: Transaction, content: str, recipients: Sequence[str], *, sender: str = FOX, at: int = NOW
) -> Message:
    """A broadcast, with a delivery for each recipient and its facts."""
    letter = Letter(
        sender=sender,
        recipient=BROADCAST,
        recipients=tuple(recipients),
        type="broadcast",
        content=content,
        for_everyone=True,
    )
    return posting.post(tx, letter, now=at, by=Principal(sender, f"token-of-{sender}"))


def a_channel(name: str, *members: str, topic: str | None = None) -> Channel:
    return Channel(name=name, topic=topic, members=members, created_by=FOX, created_at=NOW)


def founded(tx: Transaction, *channels: Channel) -> None:
    """Add channels together with the fact of their creation."""
    for channel in channels:
        tx.channels.put(channel)
        tx.journal.record(ChannelCreated(channel=channel), at=NOW, by=BY_FOX, audience=None)


def said(tx: Transaction, content: str, channel: Channel, mentioned: Sequence[str] = ()) -> Message:
    """A message in a channel, by the fox, with a delivery for each of those mentioned and its facts."""
    letter = Letter(
        sender=FOX,
        recipient=channel.address,
        recipients=tuple(mentioned),
        type="channel",
        content=content,
        channel=channel,
    )
    return posting.post(tx, letter, now=NOW, by=BY_FOX)


def journal(tx: Transaction) -> Sequence[Entry]:
    return tx.journal.after(0, limit=1_000_000)


def contents(messages: Sequence[Message] | Sequence[InboxItem]) -> list[str]:
    return [(one.message if isinstance(one, InboxItem) else one).content for one in messages]
