"""What a store should hold, kept in plain dictionaries: the other half of the comparison in `machine`."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rookery.domain.agents import Agent
from rookery.domain.approvals import Approval
from rookery.domain.asks import Ask
from rookery.domain.channels import Channel
from rookery.domain.deliveries import Delivery
from rookery.domain.messages import RANKS, Message
from rookery.domain.permissions import Rule
from rookery.domain.tasks import Task
from rookery.domain.view import View
from rookery.ports import InboxItem, InboxQuery, InboxStats

Key = tuple[str, str]


@dataclass(slots=True)
class Model:
    """`messages` is in order of arrival. `numbers` is the last number of each conversation."""

    agents: dict[str, Agent] = field(default_factory=dict[str, Agent])
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    deliveries: dict[Key, Delivery] = field(default_factory=dict[Key, Delivery])
    channels: dict[str, Channel] = field(default_factory=dict[str, Channel])
    asks: dict[str, Ask] = field(default_factory=dict[str, Ask])
    tasks: dict[str, Task] = field(default_factory=dict[str, Task])
    rules: dict[Key, Rule] = field(default_factory=dict[Key, Rule])
    approvals: dict[str, Approval] = field(default_factory=dict[str, Approval])
    numbers: dict[str, int] = field(default_factory=dict[str, int])

    # -- what happened -------------------------------------------------------------------------------

    def sent(self, message: Message, recipients: Sequence[str]) -> None:
        assert message.id not in self.messages, f"{message.id} was given twice"
        expected = self.numbers.get(message.conversation, 0) + 1
        assert message.seq == expected, f"{message.conversation} went from {expected - 1} to {message.seq}"
        self.numbers[message.conversation] = expected
        self.messages[message.id] = message
        for recipient in recipients:
            self.deliveries[message.id, recipient] = Delivery(
                message_id=message.id, recipient=recipient, stored_at=message.created_at
            )
        if message.reply_to is not None and (answered := self.deliveries.get((message.reply_to, message.sender))):
            self.save(answered.replied(message.created_at, message.id))

    def save(self, delivery: Delivery) -> None:
        self.deliveries[delivery.message_id, delivery.recipient] = delivery

    def deleted(self, agent: Agent, at: int) -> None:
        for delivery in self.of(agent.id):
            if delivery.folder in ("new", "cur"):
                finisher = delivery.claimed_by or "hub"
                self.save(delivery.completed(at, finisher, "dead", error=f"{agent.name} was deleted"))
        self.channels = {name: channel.left(agent.id) for name, channel in self.channels.items()}
        self.agents[agent.id] = replace(agent, deleted_at=at, status="offline")

    def pruned(self, before: int) -> int:
        finished = [
            message_id
            for message_id, message in self.messages.items()
            if message.created_at < before
            and all(
                delivery.cleared_at is not None or delivery.folder in ("done", "dead")
                for key, delivery in self.deliveries.items()
                if key[0] == message_id
            )
        ]
        for message_id in finished:
            del self.messages[message_id]
            self.asks.pop(message_id, None)
        self.deliveries = {key: value for key, value in self.deliveries.items() if key[0] in self.messages}
        return len(finished)

    # -- what should be found ------------------------------------------------------------------------

    def view(self) -> View:
        agents = {agent.id: replace(agent, last_active=0) for agent in self.agents.values()}
        return View(
            agents,
            dict(self.messages),
            dict(self.deliveries),
            dict(self.channels),
            asks=dict(self.asks),
            tasks=dict(self.tasks),
            rules=dict(self.rules),
            approvals=dict(self.approvals),
        )

    def living(self) -> list[Agent]:
        return [agent for agent in self.agents.values() if agent.living]

    def of(self, recipient: str) -> list[Delivery]:
        """What lies in an inbox, oldest first: all that was not cleared."""
        return [
            delivery
            for message_id in self.messages
            if (delivery := self.deliveries.get((message_id, recipient))) and delivery.cleared_at is None
        ]

    def expired(self, delivery: Delivery, now: int) -> bool:
        expires_at = self.messages[delivery.message_id].expires_at
        return delivery.unread and expires_at is not None and expires_at <= now

    def inbox(self, query: InboxQuery) -> list[InboxItem]:
        items = [
            InboxItem(self.messages[delivery.message_id], delivery)
            for delivery in self.of(query.recipient)
            if not self.expired(delivery, query.now)
            and (query.folder is None or delivery.folder == query.folder)
            and (delivery.unread or not query.unread_only)
        ]
        if query.order == "latest":
            items.reverse()
        elif query.order == "urgency":
            items.sort(key=lambda item: -RANKS[item.message.priority])
        return items[: query.limit]

    def next_open(self, recipient: str, now: int) -> Delivery | None:
        items = self.inbox(InboxQuery(recipient=recipient, folder="new", order="urgency", limit=1, now=now))
        return items[0].delivery if items else None

    def stats(self, recipient: str) -> InboxStats:
        deliveries = self.of(recipient)
        folders = [delivery.folder for delivery in deliveries]
        return InboxStats(
            new=folders.count("new"),
            cur=folders.count("cur"),
            done=folders.count("done"),
            dead=folders.count("dead"),
            unread=sum(delivery.unread for delivery in deliveries),
        )

    def silent_claims(self, moment: int) -> list[Delivery]:
        return [
            delivery
            for delivery in self.deliveries.values()
            if delivery.folder == "cur" and delivery.cleared_at is None
            and delivery.claimed_at is not None and delivery.claimed_at < moment
            and (holder := self.agents.get(delivery.claimed_by or "")) and holder.last_active < moment
        ]  # fmt: skip

    def late(self, now: int) -> list[Delivery]:
        return [
            delivery
            for delivery in self.deliveries.values()
            if delivery.cleared_at is None and self.expired(delivery, now)
        ]
