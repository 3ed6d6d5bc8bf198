"""The table of routes with a handler behind every row."""

from collections import defaultdict

from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from rookery.domain.errors import NotFound
from rookery.services.hub import Hub
from rookery.surfaces.gate import refuse
from rookery.surfaces.meter import Meter
from rookery.surfaces.rest import agents, approvals, channels, contact, hub, messages, named, tasks
from rookery.surfaces.rest.call import Handler
from rookery.surfaces.rest.endpoint import Endpoint
from rookery.surfaces.rest.parcels import Parcels
from rookery.wire import routes as table

HANDLERS: dict[str, Handler] = {
    "register_agent": agents.register_agent,
    "list_agents": agents.list_agents,
    "get_agent": agents.get_agent,
    "update_agent": agents.update_agent,
    "put_agent": agents.update_agent,
    "delete_agent": agents.delete_agent,
    "heartbeat": agents.heartbeat,
    "new_token": agents.new_token,
    "revoke_tokens": agents.revoke_tokens,
    "send_message": messages.send_message,
    "queue_stats": messages.queue_stats,
    "test_broadcast": messages.test_broadcast,
    "list_inbox": messages.list_inbox,
    "clear_inbox": messages.clear_inbox,
    "unread_count": messages.unread_count,
    "inbox_stats": messages.inbox_stats,
    "claim_next": messages.claim_next,
    "mark_read": messages.mark_read,
    "read_message": messages.read_message,
    "claim_message": messages.claim_message,
    "complete_message": messages.complete_message,
    "get_message": messages.get_message,
    "get_thread": messages.get_thread,
    "search": messages.search,
    "create_channel": channels.create_channel,
    "list_channels": channels.list_channels,
    "get_channel": channels.get_channel,
    "channel_history": channels.channel_history,
    "join_channel": channels.join_channel,
    "leave_channel": channels.leave_channel,
    "archive_channel": channels.archive_channel,
    "contact": contact.contact,
    "list_asks": contact.list_asks,
    "conversation": contact.conversation,
    "sleep": contact.sleep,
    "wake": contact.wake,
    "list_tasks": tasks.list_tasks,
    "get_task": tasks.get_task,
    "complete_task": tasks.complete_task,
    "cancel_task": tasks.cancel_task,
    "list_rules": approvals.list_rules,
    "set_rule": approvals.set_rule,
    "remove_rule": approvals.remove_rule,
    "list_approvals": approvals.list_approvals,
    "get_approval": approvals.get_approval,
    "answer_approval": approvals.answer_approval,
    "events": messages.events,
    "named_agents": named.named_agents,
    "named_broadcast": named.named_broadcast,
    "named_send": named.named_send,
    "named_update": named.named_update,
    "status": hub.status,
    "prune": hub.prune,
    "export": hub.export,
    "healthz": hub.healthz,
    "metrics": hub.metrics,
    "openapi": hub.openapi,
    "docs": hub.docs,
    "front": hub.front,
}


def rest_routes(the_hub: Hub, meter: Meter, *, max_body: int) -> list[BaseRoute]:
    """One route for each path, in the order of the table: fixed words stand before places."""
    by_path: defaultdict[str, dict[str, tuple[table.Route, Handler]]] = defaultdict(dict)
    for route in table.ROUTES:
        by_path[route.path][route.method] = (route, HANDLERS[route.name])
    parcels = Parcels()
    return [Route(path, Endpoint(served, the_hub, meter, parcels, max_body)) for path, served in by_path.items()]


async def nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    """For requests and for handshakes alike."""
    nothing = NotFound(f"There is nothing at {scope['path']}; /docs lists what there is.")
    await refuse(scope, receive, send, nothing)
