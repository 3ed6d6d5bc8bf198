"""Handlers for contact between agents, and what was said between two."""

from rookery.services.contact import Wish
from rookery.surfaces.departures import departure
from rookery.surfaces.rest.call import Call
from rookery.wire import contact as told
from rookery.wire import requests as ask
from rookery.wire import responses as answer
from rookery.wire.views import agent_view, ask_view, contact_response, message_view


async def contact(call: Call) -> told.ContactResponse:
    body: ask.ContactRequest = call.body
    wish = Wish(
        action=body.action,
        to=body.agent,
        message=body.message,
        context=body.context,
        priority=body.priority,
        sender=body.from_agent_id or call.acting_as,
        timeout=None if body.timeout_seconds is None else max(1, round(body.timeout_seconds * 1000)),
        task=body.task,
        idempotency_key=call.idempotency_key,
    )
    with departure(call.receive) as leaving:
        gone = leaving.gone if wish.action == "ask" else None
        return contact_response(await call.hub.contact.contact(call.principal, wish, gone=gone))


async def list_asks(call: Call) -> told.AsksResponse:
    asks = [ask_view(ask) for ask in await call.hub.asking.open(call.principal)]
    return told.AsksResponse(asks=asks, count=len(asks))


async def conversation(call: Call) -> told.ConversationResponse:
    query: ask.ConversationQuery = call.query
    name, said = await call.hub.inbox.conversation(
        call.principal,
        call.path["agent"],
        party=query.agent or call.acting_as,
        before=query.before,
        limit=query.limit,
    )
    messages = [message_view(message) for message in said]
    return told.ConversationResponse(conversation=name, messages=messages, count=len(messages))


async def sleep(call: Call) -> answer.AgentResponse:
    body: ask.SleepRequest = call.body
    agent = await call.hub.agents.sleep(call.principal, call.path["agent"], max(1, round(body.seconds * 1000)))
    return answer.AgentResponse(agent=agent_view(agent))


async def wake(call: Call) -> answer.AgentResponse:
    agent = await call.hub.agents.wake(call.principal, call.path["agent"])
    await call.hub.tasks.post_put_off()
    return answer.AgentResponse(agent=agent_view(agent))
