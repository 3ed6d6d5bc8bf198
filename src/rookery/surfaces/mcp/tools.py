"""The tools, in one table: name, words, arguments, and what they do."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from rookery.domain.ids import BROADCAST
from rookery.domain.principals import Principal
from rookery.services.agents import Change
from rookery.services.hub import Hub
from rookery.services.messaging import Draft
from rookery.surfaces import by_name
from rookery.surfaces.mcp import arguments as take
from rookery.surfaces.mcp import inbox
from rookery.wire.strict_json import converted

Work = Callable[[Hub, Principal, Any], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """`also` are other names for arguments, as other systems call them."""

    name: str
    description: str
    arguments: type[take.Arguments]
    work: Work
    also: dict[str, str] = field(default_factory=dict[str, str])

    def schema(self) -> dict[str, Any]:
        """Plain, without references: some clients do not follow them."""
        (reference,), components = msgspec.json.schema_components([self.arguments])
        shape = components[reference["$ref"].rpartition("/")[2]]
        return {key: value for key, value in shape.items() if key != "title"}

    def parsed(self, given: dict[str, Any]) -> take.Arguments:
        said = {self.also.get(name, name): value for name, value in given.items()}
        return converted(said, self.arguments)


async def _list_agents(hub: Hub, by: Principal, _: take.NoArguments) -> Any:
    return await by_name.agents(hub, by.id)


async def _send_to_agent(hub: Hub, by: Principal, said: take.SendArguments) -> Any:
    draft = Draft(to=said.target, content=said.message, between_models=True)
    return (await by_name.send(hub, by, draft))[0]


async def _broadcast(hub: Hub, by: Principal, said: take.BroadcastArguments) -> Any:
    return await by_name.broadcast(hub, by, Draft(to=BROADCAST, content=said.message, between_models=True))


async def _set_name(hub: Hub, by: Principal, said: take.NameArguments) -> Any:
    return await by_name.update(hub, by, by.id, Change(name=said.name))


async def _send_channel_message(hub: Hub, by: Principal, said: take.ChannelArguments) -> Any:
    channel = await hub.channels.get(said.channel)
    draft = Draft(to=channel.address, content=said.content, between_models=True)
    receipt = await hub.messaging.send(by, draft)
    return {
        "sent": True,
        "channel": channel.address,
        "message_id": receipt.message.id,
        "mentioned": list(await hub.agents.names(receipt.recipients)),
    }


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
            name="inbox",
            description="Your messages: list (marks read), read, claim, complete, mark_read, stats, search, send.",
            arguments=take.InboxArguments,
            work=inbox.act,
        ),
    )
}
