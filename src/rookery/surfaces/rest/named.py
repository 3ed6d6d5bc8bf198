"""Handlers for callers that know agents by name only, with answers made for models.

Pacing holds here. Whoever makes the call, a message that names a `sender` is paced as that agent's.
"""

from rookery.domain.errors import AgentNotFound, RateLimited
from rookery.domain.ids import BROADCAST
from rookery.domain.names import same_name
from rookery.services.agents import Change
from rookery.services.messaging import Draft, NobodyReached
from rookery.surfaces.http import refusal_headers
from rookery.surfaces.rest.call import Call, Refused
from rookery.wire import requests as ask
from rookery.wire import responses as answer
from rookery.wire.errors import translate


async def named_agents(call: Call) -> answer.NamedAgentsResponse:
    agents = await call.hub.agents.living()
    caller = call.acting_as or call.principal.id
    own = next((a.name for a in agents if a.id == caller or same_name(a.name) == same_name(caller)), None)
    return answer.NamedAgentsResponse(
        agents=[answer.NamedAgent(name=a.name, status=a.status, project=a.project) for a in agents],
        self_name=own,
    )


async def named_send(call: Call) -> answer.NamedSendResponse | Refused:
    body: ask.NamedMessageRequest = call.body
    target = call.path["agent"]
    try:
        if target == BROADCAST:
            await call.hub.agents.get(target)  # nobody is called that: all are reached by their own call
        receipt = await call.hub.messaging.send(call.principal, _draft(call, body, target))
    except (AgentNotFound, RateLimited) as error:
        title = translate(error).title
        told = answer.NamedSendResponse(delivered=False, error=title)
        if isinstance(error, AgentNotFound):
            told.available = list(error.available)
        else:
            told.retry_after_ms = error.retry_after_ms
        return Refused(translate(error).http, told, tuple(refusal_headers(error)))
    names = await call.hub.agents.names(receipt.recipients)
    return answer.NamedSendResponse(delivered=True, target=names[0])


async def named_broadcast(call: Call) -> answer.NamedBroadcastResponse:
    body: ask.NamedMessageRequest = call.body
    try:
        receipt = await call.hub.messaging.send(call.principal, _draft(call, body, BROADCAST))
        recipients, refused = receipt.recipients, receipt.refused
    except NobodyReached as held_back:
        recipients, refused = (), held_back.refused
    reached = await call.hub.agents.names(recipients)
    left_out = await call.hub.agents.names([each.recipient for each in refused])
    return answer.NamedBroadcastResponse(
        delivered_to=list(reached),
        failed=[
            answer.FailedRecipient(name=name, error="Rate limited", retry_after_ms=each.retry_after_ms)
            for name, each in zip(left_out, refused, strict=True)
        ],
    )


async def named_update(call: Call) -> answer.NamedUpdateResponse:
    body: ask.NamedUpdateRequest = call.body
    before = await call.hub.agents.get(call.path["agent"])
    change = Change(name=body.name, project=body.project)
    after = await call.hub.agents.update(call.principal, before.id, change)
    return answer.NamedUpdateResponse(success=True, previous_name=before.name, new_name=after.name)


def _draft(call: Call, body: ask.NamedMessageRequest, to: str) -> Draft:
    return Draft(
        to=to,
        content=body.message,
        sender=body.sender or call.acting_as,
        between_models=True,
        idempotency_key=call.idempotency_key,
    )
