"""What to try a store with: agents, messages and what comes of them, made the way the services make them."""

import random
from collections.abc import Sequence

from rookery.domain.agents import Agent
from rookery.domain.approvals import Approval, Held
from rookery.domain.asks import Ask
from rookery.domain.channels import Channel
from rookery.domain.events import (
    AgentRegistered,
    ApprovalRequested,
    AskEnded,
    AskOpened,
    ChannelCreated,
    Entry,
    MessageHeld,
    RuleSet,
    TaskEnded,
    TaskOpened,
    audience,
)
from rookery.domain.ids import BROADCAST, MessageIds
from rookery.domain.messages import Message, Priority
from rookery.domain.permissions import Rule
from rookery.domain.principals import Principal
from rookery.domain.tasks import Task, task_id
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


def asked(
    tx: Transaction,
    content: str = "why?",
    *,
    by: str = FOX,
    to: str = OWL,
    deadline: int = NOW + 60_000,
    at: int = NOW,
) -> Ask:
    """A question, and that its asker waits."""
    question = posted(tx, content, sender=by, to=to, at=at)
    ask = Ask(message_id=question.id, asker=by, target=to, depth=1, asked_at=at, deadline=deadline)
    tx.asks.put(ask)
    tx.journal.record(AskOpened(ask=ask), at=at, by=BY_FOX, audience=audience(by, to))
    return ask


def ask_ended(tx: Transaction, ask: Ask) -> None:
    """`ask` as it ended."""
    tx.asks.put(ask)
    tx.journal.record(AskEnded(ask=ask), at=NOW, by=BY_FOX, audience=audience(ask.asker, ask.target))


def a_task(
    number: int,
    *,
    requester: str = FOX,
    assignee: str = OWL,
    parent: str | None = None,
    not_before: int | None = None,
) -> Task:
    return Task(
        id=task_id(number), requester=requester, assignee=assignee, request=f"do {number}", parent=parent,
        origin=f"dm:{FOX}:operator", not_before=not_before, created_at=NOW,
    )  # fmt: skip


def handed_over(tx: Transaction, *tasks: Task) -> None:
    """Add tasks together with the fact that they were opened."""
    for task in tasks:
        tx.tasks.put(task)
        parties = audience(task.requester, task.assignee)
        tx.journal.record(TaskOpened(task=task), at=NOW, by=BY_FOX, audience=parties)


def task_ended(tx: Transaction, task: Task) -> None:
    """`task` as it ended."""
    tx.tasks.put(task)
    parties = audience(task.requester, task.assignee)
    tx.journal.record(TaskEnded(task=task), at=NOW, by=BY_FOX, audience=parties)


def ruled(tx: Transaction, *rules: Rule) -> None:
    """Set rules together with the fact that they were set."""
    for rule in rules:
        tx.rules.put(rule)
        tx.journal.record(RuleSet(rule=rule), at=NOW, by=BY_FOX, audience=())


def an_approval(
    approval_id: str, *, agent: str = FOX, key: str | None = None, expires_at: int = NOW + 60_000
) -> Approval:
    return Approval(
        id=approval_id, kind="contact", agent=agent, tool="ask", arguments=(("to", OWL),), nonce="n", digest="d",
        created_at=NOW, expires_at=expires_at, key=key,
    )  # fmt: skip


def requested(tx: Transaction, *approvals: Approval) -> None:
    """Add approvals together with the fact that they were requested."""
    for approval in approvals:
        tx.approvals.put(approval)
        fact = ApprovalRequested(approval=approval)
        tx.journal.record(fact, at=NOW, by=BY_FOX, audience=audience(approval.agent))


def held_back(tx: Transaction, *messages: Held) -> None:
    """Keep messages together with the fact that they wait for an approval."""
    for held in messages:
        tx.held.put(held)
        fact = MessageHeld(
            message_id=held.message_id, approval=held.approval, sender=held.sender, recipient=held.to
        )
        tx.journal.record(fact, at=NOW, by=BY_FOX, audience=audience(held.sender))


def journal(tx: Transaction) -> Sequence[Entry]:
    return tx.journal.after(0, limit=1_000_000)


def contents(messages: Sequence[Message] | Sequence[InboxItem]) -> list[str]:
    return [(one.message if isinstance(one, InboxItem) else one).content for one in messages]
