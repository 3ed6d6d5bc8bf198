"""Handlers for callers that know agents by name only."""

from rookery.domain.ids import BROADCAST
from rookery.services.agents import Change
from rookery.services.messaging import Draft
from rookery.surfaces import by_name
from rookery.surfaces.http import refusal_headers
from rookery.surfaces.rest.call import Call, Refused
from rookery.wire import requests as ask
from rookery.wire import responses as answer


async def named_agents(call: Call) -> answer.NamedAgentsResponse:
    return await by_name.agents(call.hub, call.acting_as or call.principal.id)


async def named_send(call: Call) -> answer.NamedSendResponse | Refused:
    told, error = await by_name.send(call.hub, call.principal, _draft(call, call.path["agent"]))
    if error is None:
        return told
    return Refused(error, told, tuple(refusal_headers(error)))


async def named_broadcast(call: Call) -> answer.NamedBroadcastResponse:
    return await by_name.broadcast(call.hub, call.principal, _draft(call, BROADCAST))


async def named_update(call: Call) -> answer.NamedUpdateResponse:
    body: ask.NamedUpdateRequest = call.body
    change = Change(name=body.name, project=body.project)
    return await by_name.update(call.hub, call.principal, call.path["agent"], change)


def _draft(call: Call, to: str) -> Draft:
    body: ask.NamedMessageRequest = call.body
    return Draft(
        to=to,
        content=body.message,
        sender=body.sender or call.acting_as,
        between_models=True,
        idempotency_key=call.idempotency_key,
    )
