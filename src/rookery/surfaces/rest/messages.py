"""Handlers for messages and inboxes."""

from msgspec import UNSET, Raw

from rookery.domain.errors import InvalidRequest
from rookery.domain.ids import BROADCAST
from rookery.services.closing import Completion
from rookery.services.messaging import Draft
from rookery.surfaces.departures import departure
from rookery.surfaces.http import encoded
from rookery.surfaces.rest.call import Call
from rookery.wire import requests as ask
from rookery.wire import responses as answer
from rookery.wire.events import encoded_event
from rookery.wire.times import iso
from rookery.wire.views import (
    delivery_view,
    inbox_message_view,
    inbox_stats_view,
    message_view,
    queue_stats_view,
)


async def send_message(call: Call) -> answer.SendResponse:
    body: ask.SendRequest = call.body
    draft = Draft(
        to=body.to_agent_id,
        content=body.content,
        sender=body.from_agent_id or call.acting_as,
        metadata=encoded(body.metadata).decode() if body.metadata else "{}",
        reply_to=body.reply_to,
        priority=body.priority or "normal",
        ttl=None if body.ttl_seconds is None else max(1, round(body.ttl_seconds * 1000)),
        idempotency_key=_one_key(call.idempotency_key, body.idempotency_key),
    )
    receipt = await call.hub.messaging.send(call.principal, draft)
    return answer.SendResponse(
        message_id=receipt.message.id,
        delivered=receipt.delivered,
        queued=bool(receipt.recipients),
        timestamp=iso(receipt.message.created_at),
        held=receipt.held or UNSET,
    )


def _one_key(header: str | None, field: str | None) -> str | None:
    if header is not None and field is not None and header != field:
        raise InvalidRequest("Idempotency-Key and idempotency_key differ; send one of them.")
    return header or field


async def test_broadcast(call: Call) -> answer.TestBroadcastResponse:
    query: ask.TestBroadcastQuery = call.query
    draft = Draft(to=BROADCAST, content=query.message, sender=call.acting_as)
    await call.hub.messaging.send(call.principal, draft)
    return answer.TestBroadcastResponse(message="Broadcast sent", content=query.message)


async def list_inbox(call: Call) -> answer.InboxResponse:
    query: ask.InboxQuery = call.query
    listing = await call.hub.inbox.list(
        call.principal,
        call.path["agent"],
        unread_only=query.unread_only,
        mark_read=query.mark_read and not call.head_only,
        folder=query.folder,
        limit=query.limit,
        after=query.after,
        latest=query.latest,
    )
    messages = [inbox_message_view(item) for item in listing.items]
    return answer.InboxResponse(
        agent_id=listing.owner, messages=messages, count=len(messages), unread_count=listing.unread
    )


async def clear_inbox(call: Call) -> answer.ClearedResponse:
    query: ask.ClearQuery = call.query
    owner, cleared = await call.hub.inbox.clear(call.principal, call.path["agent"], query.message_ids)
    return answer.ClearedResponse(
        agent_id=owner, cleared=cleared, message=f"Cleared {cleared} message(s) for agent {owner}"
    )


async def unread_count(call: Call) -> answer.UnreadResponse:
    owner, unread = await call.hub.inbox.unread_count(call.principal, call.path["agent"])
    return answer.UnreadResponse(agent_id=owner, unread_count=unread)


async def inbox_stats(call: Call) -> answer.InboxStatsResponse:
    owner, stats = await call.hub.inbox.stats(call.principal, call.path["agent"])
    return answer.InboxStatsResponse(agent_id=owner, stats=inbox_stats_view(stats))


async def queue_stats(call: Call) -> answer.QueueStatsResponse:
    return answer.QueueStatsResponse(stats=queue_stats_view(await call.hub.inbox.queue_stats()))


async def claim_next(call: Call) -> answer.ClaimResponse:
    body: ask.ClaimRequest = call.body
    owner, item = await call.hub.inbox.claim(call.principal, call.path["agent"], body.message_id)
    return answer.ClaimResponse(agent_id=owner, message=None if item is None else inbox_message_view(item))


async def claim_message(call: Call) -> answer.ItemResponse:
    owner, item = await call.hub.inbox.claim(call.principal, call.path["agent"], call.path["message_id"])
    assert item is not None, "a claim by id wins or raises"  # noqa: S101 - a promise of the service
    return answer.ItemResponse(agent_id=owner, message=inbox_message_view(item))


async def mark_read(call: Call) -> answer.MarkedResponse:
    body: ask.MarkReadRequest = call.body
    owner, marked = await call.hub.inbox.mark_read(call.principal, call.path["agent"], body.message_ids)
    return answer.MarkedResponse(agent_id=owner, marked=marked)


async def read_message(call: Call) -> answer.ItemResponse:
    item = await call.hub.inbox.read(
        call.principal, call.path["agent"], call.path["message_id"], mark_read=not call.head_only
    )
    return answer.ItemResponse(agent_id=item.delivery.recipient, message=inbox_message_view(item))


async def complete_message(call: Call) -> answer.ItemResponse:
    body: ask.CompleteRequest = call.body
    how = Completion(outcome=body.status, result=body.result, error=body.error, note=body.note)
    item = await call.hub.inbox.complete(call.principal, call.path["agent"], call.path["message_id"], how)
    return answer.ItemResponse(agent_id=item.delivery.recipient, message=inbox_message_view(item))


async def get_message(call: Call) -> answer.MessageResponse:
    message, deliveries = await call.hub.inbox.deliveries(call.principal, call.path["message_id"])
    return answer.MessageResponse(
        message=message_view(message),
        read_by=[delivery.recipient for delivery in deliveries if delivery.read],
        deliveries=[delivery_view(delivery) for delivery in deliveries],
    )


async def get_thread(call: Call) -> answer.ThreadResponse:
    messages = [message_view(m) for m in await call.hub.inbox.thread(call.principal, call.path["message_id"])]
    return answer.ThreadResponse(messages=messages, count=len(messages))


async def search(call: Call) -> answer.SearchResponse:
    query: ask.SearchQuery = call.query
    found = await call.hub.inbox.search(call.principal, query.q, agent=query.agent, limit=query.limit)
    return answer.SearchResponse(messages=[message_view(message) for message in found], count=len(found))


async def events(call: Call) -> answer.EventsResponse:
    query: ask.EventsQuery = call.query
    with departure(call.receive) as leaving:
        gone = leaving.gone if query.wait else None
        page = await call.hub.journal.page(
            call.principal, after=query.after, limit=query.limit, wait=query.wait, gone=gone
        )
    return answer.EventsResponse(
        events=[Raw(encoded_event(entry)) for entry in page.entries], position=page.position, more=page.more
    )
