"""The law of the journal: the facts from the first on, over nothing, give the present state."""

from dataclasses import replace
from itertools import combinations_with_replacement

from rookery.domain.agents import Agent
from rookery.domain.conversations import broadcast_conversation, direct_conversation
from rookery.domain.deliveries import Delivery
from rookery.domain.ids import HUB, OPERATOR
from rookery.domain.view import View
from rookery.ports import Transaction

_PAGE = 50


def replayed(tx: Transaction) -> View:
    """What a reader of the journal knows, who followed it page by page."""
    view, position = View(), 0
    while page := tx.journal.after(position, limit=_PAGE):
        for entry in page:
            view.apply(entry)
        position = page[-1].position
    return replace(view, agents=_lifeless(view.agents))


def stored(tx: Transaction) -> View:
    """What lies in the store, found through the conversations and not through the journal."""
    agents = {agent.id: agent for agent in tx.agents.all()}
    pairs = combinations_with_replacement((*agents, OPERATOR, HUB), 2)
    channels = {channel.name: channel for channel in tx.channels.all()}
    conversations = {
        broadcast_conversation(),
        *(direct_conversation(*pair) for pair in pairs),
        *(channel.conversation for channel in channels.values()),
    }
    messages = {
        message.id: message
        for conversation in conversations
        for message in tx.messages.history(conversation, before=None, limit=1_000_000)
    }
    deliveries: dict[tuple[str, str], Delivery] = {
        (message_id, delivery.recipient): delivery
        for message_id in messages
        for delivery in tx.deliveries.of_message(message_id)
    }
    return View(
        _lifeless(agents),
        messages,
        deliveries,
        channels,
        asks={ask.message_id: ask for ask in tx.asks.all()},
        tasks={task.id: task for task in tx.tasks.all()},
        rules={(rule.agent, rule.target): rule for rule in tx.rules.all()},
        approvals={approval.id: approval for approval in tx.approvals.all()},
    )


def _lifeless(agents: dict[str, Agent]) -> dict[str, Agent]:
    # Signs of life are no facts, so the journal does not know of them.
    return {agent_id: replace(agent, last_active=0) for agent_id, agent in agents.items()}
