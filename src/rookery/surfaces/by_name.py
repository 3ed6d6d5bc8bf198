"""Answers made for models, which know agents by name: the same words over REST and over MCP.

Pacing holds here. Whoever makes the call, a message that names a `sender` is paced as that agent's.
"""

from rookery.domain.errors import AgentNotFound, NotPermitted, RateLimited, RookeryError, TraceStopped
from rookery.domain.ids import BROADCAST
from rookery.domain.names import same_name
from rookery.domain.principals import Principal
from rookery.services.agents import Change
from rookery.services.hub import Hub
from rookery.services.messaging import Draft, NobodyReached
from rookery.wire import responses as answer
from rookery.wire.errors import translate


async def agents(hub: Hub, caller: str) -> answer.NamedAgentsResponse:
    living = await hub.agents.living()
    own = next((a.name for a in living if a.id == caller or same_name(a.name) == same_name(caller)), None)
    return answer.NamedAgentsResponse(
        agents=[answer.NamedAgent(name=a.name, status=a.status, project=a.project) for a in living],
        self_name=own,
    )


async def send(hub: Hub, by: Principal, draft: Draft) -> tuple[answer.NamedSendResponse, RookeryError | None]:
    """The answer, and the refusal behind it when the message was not taken."""
    try:
        if draft.to == BROADCAST:
            await hub.agents.get(draft.to)  # nobody is called that: all are reached by their own call
        receipt = await hub.messaging.send(by, draft)
    except (AgentNotFound, RateLimited, NotPermitted, TraceStopped) as error:
        told = answer.NamedSendResponse(delivered=False, error=translate(error).title)
        if isinstance(error, AgentNotFound):
            told.available = list(error.available)
        elif isinstance(error, RateLimited):
            told.retry_after_ms = error.retry_after_ms
        else:
            told.error = error.message
        return told, error
    if receipt.held is not None:
        return answer.NamedSendResponse(delivered=False, error=receipt.told, approval=receipt.held), None
    if receipt.message.type == "channel":  # whoever it mentions, if anybody: it was said to all who are there
        return answer.NamedSendResponse(delivered=True, target=receipt.message.recipient), None
    names = await hub.agents.names(receipt.recipients)
    return answer.NamedSendResponse(delivered=True, target=names[0]), None


async def broadcast(hub: Hub, by: Principal, draft: Draft) -> answer.NamedBroadcastResponse:
    try:
        receipt = await hub.messaging.send(by, draft)
        if receipt.held is not None:
            return answer.NamedBroadcastResponse(
                delivered_to=[], failed=[], error=receipt.told, approval=receipt.held
            )
        recipients, refused = receipt.recipients, receipt.refused
    except NobodyReached as held_back:
        recipients, refused = (), held_back.refused
    reached = await hub.agents.names(recipients)
    left_out = await hub.agents.names([each.recipient for each in refused])
    return answer.NamedBroadcastResponse(
        delivered_to=list(reached),
        failed=[
            answer.FailedRecipient(name=name, error=each.reason, retry_after_ms=each.retry_after_ms)
            for name, each in zip(left_out, refused, strict=True)
        ],
    )


async def update(hub: Hub, by: Principal, agent: str, change: Change) -> answer.NamedUpdateResponse:
    before = await hub.agents.get(agent)
    after = await hub.agents.update(by, before.id, change)
    return answer.NamedUpdateResponse(success=True, previous_name=before.name, new_name=after.name)
