"""The inbox as one tool, and the news that other tools mention."""

from typing import Any

from rookery.domain.errors import InvalidRequest
from rookery.domain.framing import framed
from rookery.domain.messages import Message
from rookery.domain.principals import Principal
from rookery.ports import InboxItem
from rookery.services.closing import Completion
from rookery.services.hub import Hub
from rookery.services.messaging import Draft
from rookery.surfaces import by_name
from rookery.surfaces.mcp.arguments import InboxArguments
from rookery.wire.times import iso

VIA = "mcp"


async def act(hub: Hub, by: Principal, said: InboxArguments) -> Any:
    match said.action:
        case "list":
            listing = await hub.inbox.list(
                by, by.id, unread_only=said.unread_only, mark_read=True, folder=said.folder, limit=said.limit,
                via=VIA,
            )  # fmt: skip
            return {"messages": [await _item(hub, item) for item in listing.items], "unread": listing.unread}
        case "read":
            return await _item(hub, await hub.inbox.read(by, by.id, _one(said), via=VIA))
        case "claim":
            _, claimed = await hub.inbox.claim(by, by.id, said.message_id, via=VIA)
            return {"claimed": None if claimed is None else await _item(hub, claimed)}
        case "complete":
            completion = Completion(outcome=said.status, result=said.result, error=said.error, note=said.note)
            done = await hub.inbox.complete(by, by.id, _one(said), completion, via=VIA)
            return {"completed": done.message.id, "status": done.delivery.folder}
        case "mark_read":
            ids = said.message_ids or [_one(said)]
            return {"marked": (await hub.inbox.mark_read(by, by.id, ids, via=VIA))[1]}
        case "stats":
            _, stats = await hub.inbox.stats(by, by.id)
            return stats
        case "search":
            found = await hub.inbox.search(by, _needed(said.query, "query"), limit=said.limit)
            return {"messages": [await _message(hub, message) for message in found]}
        case "send":
            content = _needed(said.content, "content")
            to = said.to or await _answered(hub, by, _needed(said.reply_to, "to"))
            draft = Draft(to=to, content=content, reply_to=said.reply_to, between_models=True)
            return (await by_name.send(hub, by, draft))[0]
        case "history":
            other = _needed(said.to, "to")
            _, spoken = await hub.inbox.conversation(by, other, limit=said.limit)
            return {"messages": [await _message(hub, message) for message in spoken]}


async def unread_ids(hub: Hub, by: Principal) -> frozenset[str]:
    """Of the latest messages that this agent has not read."""
    listing = await hub.inbox.list(by, by.id, unread_only=True, limit=100, latest=True)
    return frozenset(item.message.id for item in listing.items)


async def _answered(hub: Hub, by: Principal, message_id: str) -> str:
    """To whom a reply goes: into the channel if it was said in one, else to whoever wrote it."""
    message, _ = await hub.inbox.deliveries(by, message_id)
    return message.recipient if message.type == "channel" else message.sender


async def _item(hub: Hub, item: InboxItem) -> dict[str, Any]:
    return await _message(hub, item.message) | {"folder": item.delivery.folder} | _to_do(item.message)


async def _message(hub: Hub, message: Message) -> dict[str, Any]:
    (name,) = await hub.agents.names([message.sender])
    return {
        "message_id": message.id,
        "from": name,
        "to": message.recipient if message.type == "channel" else None,
        "reply_to": message.reply_to,
        "priority": message.priority,
        "time": iso(message.created_at),
        "text": framed(message.sender, name, message.content, message.pattern),
    }


def _to_do(message: Message) -> dict[str, str]:
    """How what was asked for reaches the one who waits for it."""
    match message.pattern:
        case "ask":
            return {"answer_with": f"inbox(action='send', reply_to='{message.id}', content=...)"}
        case "delegate" if message.task is not None:
            return {"finish_with": f"complete_task(task_id='{message.task}', result=...)"}
        case _:
            return {}


def _one(said: InboxArguments) -> str:
    return _needed(said.message_id, "message_id")


def _needed(value: str | None, name: str) -> str:
    if not value:
        raise InvalidRequest(f"Say which: the argument {name!r} is missing.")
    return value
