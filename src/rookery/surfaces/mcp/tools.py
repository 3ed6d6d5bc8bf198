"""The tools, in one table: name, words, arguments, and what they do."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from rookery.domain.errors import Forbidden, RookeryError
from rookery.domain.ids import BROADCAST
from rookery.domain.principals import Principal
from rookery.services.agents import Change
from rookery.services.contact import Wish
from rookery.services.hub import Hub
from rookery.services.messaging import Draft
from rookery.surfaces import by_name
from rookery.surfaces.departures import Departure
from rookery.surfaces.mcp import arguments as take
from rookery.surfaces.mcp import inbox
from rookery.wire.strict_json import converted

_log = logging.getLogger(__name__)

Work = Callable[["Visit", Any], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Visit:
    """One call of a tool: who calls, whether the caller is still there, and the key under which the same call is
    made again when its answer was lost."""

    hub: Hub
    by: Principal
    leaving: Departure
    key: str | None

    async def audit(self, tool: str, refused: RookeryError | None) -> None:
        """What this token may not do is on record, as at the other doors."""
        if not isinstance(refused, Forbidden):
            return
        try:
            await self.hub.access.record_refusal(self.by, tool, refused.message)
        except RookeryError as failed:
            _log.warning("a refusal could not be written to the audit trail: %s", failed.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """`also` are other names for arguments, as other systems call them. `spoken`: what it gives is a text and
    nothing else, and so are its refusals. `mentions_news`: its result may end with what has come meanwhile."""

    name: str
    description: str
    arguments: type[take.Arguments]
    work: Work
    spoken: bool = False
    mentions_news: bool = True
    also: dict[str, str] = field(default_factory=dict[str, str])

    def schema(self) -> dict[str, Any]:
        """Plain, without references: some clients do not follow them."""
        (reference,), components = msgspec.json.schema_components([self.arguments])
        shape = components[reference["$ref"].rpartition("/")[2]]
        return {key: value for key, value in shape.items() if key != "title"}

    def parsed(self, given: dict[str, Any]) -> take.Arguments:
        said = {self.also.get(name, name): value for name, value in given.items()}
        return converted(said, self.arguments)


async def _list_agents(visit: Visit, _: take.NoArguments) -> Any:
    return await by_name.agents(visit.hub, visit.by.id)


async def _send_to_agent(visit: Visit, said: take.SendArguments) -> Any:
    draft = Draft(
        to=said.target,
        content=said.message,
        reply_to=said.reply_to,
        between_models=True,
        idempotency_key=visit.key,
    )
    told, refused = await by_name.send(visit.hub, visit.by, draft)
    await visit.audit("send_to_agent", refused)
    return told


async def _broadcast(visit: Visit, said: take.BroadcastArguments) -> Any:
    draft = Draft(to=BROADCAST, content=said.message, between_models=True, idempotency_key=visit.key)
    return await by_name.broadcast(visit.hub, visit.by, draft)


async def _set_name(visit: Visit, said: take.NameArguments) -> Any:
    return await by_name.update(visit.hub, visit.by, visit.by.id, Change(name=said.name))


async def _contact_agent(visit: Visit, said: take.ContactArguments) -> str:
    wish = Wish(
        action=said.action,
        to=said.agent,
        message=said.message,
        context=said.context,
        priority=said.priority,
        task=said.task,
        idempotency_key=visit.key,
        between_models=True,
    )
    return (await visit.hub.contact.contact(visit.by, wish, via=inbox.VIA, gone=visit.leaving.gone)).text


async def _complete_task(visit: Visit, said: take.CompleteTaskArguments) -> Any:
    task = await visit.hub.tasks.complete(
        visit.by, said.task_id, said.status, result=said.result, error=said.error
    )
    return {"task_id": task.id, "status": task.status}


async def _permission_prompt(visit: Visit, said: take.PermissionArguments) -> str:
    """The payload goes back as it was shown, byte for byte."""
    payload = msgspec.json.encode(said.input).decode()
    answered = await visit.hub.approvals.ask_for_tool(
        visit.by, said.tool_name, payload, key=said.tool_use_id, gone=visit.leaving.gone
    )
    if answered.status == "approved":
        return f'{{"behavior":"allow","updatedInput":{dict(answered.arguments)["input"]}}}'
    reason = answered.note or "The operator said no."
    return msgspec.json.encode({"behavior": "deny", "message": reason}).decode()


async def _send_channel_message(visit: Visit, said: take.ChannelArguments) -> Any:
    channel = await visit.hub.channels.get(said.channel)
    draft = Draft(to=channel.address, content=said.content, between_models=True, idempotency_key=visit.key)
    receipt = await visit.hub.messaging.send(visit.by, draft)
    if receipt.held is not None:
        return {"sent": False, "channel": channel.address, "error": receipt.told, "approval": receipt.held}
    return {
        "sent": True,
        "channel": channel.address,
        "message_id": receipt.message.id,
        "mentioned": list(await visit.hub.agents.names(receipt.recipients)),
    }


async def _inbox(visit: Visit, said: take.InboxArguments) -> Any:
    return await inbox.act(visit.hub, visit.by, said)


_SET_NAME = Tool(
    name="set_name",
    description="Set the name that other agents see and address you by.",
    arguments=take.NameArguments,
    work=_set_name,
)

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            name="list_agents",
            description="List the agents you can write to, and your own name.",
            arguments=take.NoArguments,
            work=_list_agents,
        ),
        Tool(
            name="send_to_agent",
            description="Send a message to one agent. Returns at once; an answer, if any, comes to your inbox.",
            arguments=take.SendArguments,
            work=_send_to_agent,
            also={"agentId": "target", "agent": "target"},
        ),
        Tool(
            name="broadcast",
            description="Send a message to all other agents. For news that concerns everybody.",
            arguments=take.BroadcastArguments,
            work=_broadcast,
        ),
        _SET_NAME,
        Tool(
            name="set_tab_name",
            description="The same as set_name.",
            arguments=take.NameArguments,
            work=_set_name,
        ),
        Tool(
            name="send_channel_message",
            description="Say something in a channel. It calls upon the members that you @mention.",
            arguments=take.ChannelArguments,
            work=_send_channel_message,
            also={"channelId": "channel", "message": "content"},
        ),
        Tool(
            name="contact_agent",
            description=(
                "Turn to one agent: ask it and wait, delegate work (the result comes to your inbox), or notify it."
            ),
            arguments=take.ContactArguments,
            work=_contact_agent,
            spoken=True,
            also={"agentId": "agent", "target": "agent"},
        ),
        Tool(
            name="complete_task",
            description="Finish work that was delegated to you; whoever asked for it gets the result.",
            arguments=take.CompleteTaskArguments,
            work=_complete_task,
            also={"taskId": "task_id", "task": "task_id"},
        ),
        Tool(
            name="inbox",
            description=(
                "Your messages: list (marks read), read, claim, complete, mark_read, stats, search, send, history."
            ),
            arguments=take.InboxArguments,
            work=_inbox,
            mentions_news=False,
        ),
        Tool(
            name="permission_prompt",
            description="For programs, not for you: asks the operator whether a tool may be used.",
            arguments=take.PermissionArguments,
            work=_permission_prompt,
            spoken=True,
            mentions_news=False,
        ),
    )
}
