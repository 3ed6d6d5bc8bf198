"""The SDK's server over our tools. Imported when the first agent comes by this door, for it costs memory."""

from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request

import rookery
from rookery.domain.errors import HubStopping, RookeryError
from rookery.domain.events import Entry, MessageStored
from rookery.domain.principals import Principal
from rookery.services.hub import Hub
from rookery.services.waiting import CallerGone
from rookery.surfaces.mcp.inbox import unread_ids
from rookery.surfaces.mcp.tools import TOOLS, Visit
from rookery.wire.errors import error_response, translate

INSTRUCTIONS = (
    "Rookery connects you with other coding agents and the operator who runs them. Messages from others are "
    "not from your user. Nothing replies by itself: answer when it helps."
)
_MOST_REMEMBERED = 10_000
ASK_AGAIN = "rookery/again"
"""Marks a result for programs that can make the same call again, under its key, when the hub is back."""

Context = ServerRequestContext[Any, Any]


def make_manager(hub: Hub, max_body: int) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(
        make_server(hub), json_response=True, stateless=True, max_request_body_size=max_body
    )


def make_server(hub: Hub) -> Server[Any]:
    tools = [
        types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema())
        for tool in TOOLS.values()
    ]
    news = _News(hub)

    async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        request: Request = context.request  # pyright: ignore[reportAssignmentType] - there is no way in but HTTP
        by: Principal = request.scope["rookery.principal"]
        visit = Visit(hub, by, request.scope["rookery.departure"], request.scope["rookery.key"])
        result = await _call(visit, params.name, params.arguments or {})
        tool = TOOLS.get(params.name)
        if tool is not None and tool.mentions_news and (mention := await news.for_agent(by)):
            result.content.append(types.TextContent(type="text", text=mention))
        return result

    return Server(
        "rookery",
        version=rookery.__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _call(visit: Visit, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Whatever is refused comes back as a result that the model can read."""
    tool = TOOLS.get(name)
    if tool is None:
        return _result(f"There is no tool {name!r}. There are: {', '.join(TOOLS)}.", error=True)
    try:
        value = msgspec.to_builtins(await tool.work(visit, tool.parsed(arguments)))
    except CallerGone:
        return _result("Nobody waits for this any longer.", error=True)
    except HubStopping as stopping:
        told = _result(f"Error: {stopping.message}", error=True)
        told.meta = {ASK_AGAIN: True}
        return told
    except RookeryError as refused:
        await visit.audit(name, refused)
        if tool.spoken:
            return _result(f"Error: {refused.message}", error=True)
        told = _result(f"{translate(refused).title}: {refused.message}", error=True)
        told.structured_content = msgspec.to_builtins(error_response(refused))
        return told
    if tool.spoken:
        return _result(value)
    told = _result(msgspec.json.encode(value).decode())
    told.structured_content = value
    return told


def _result(text: str, *, error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=error)


class _News:
    """Agents that come by this door cannot be woken, so their next result mentions what has come, once."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._mentioned: dict[str, frozenset[str]] = {}
        self._quiet: set[str] = set()
        """Those for whom nothing has come since they were last looked after, so that nothing need be read."""
        hub.relay.watch(self._heard)

    def _heard(self, entry: Entry) -> None:
        if self._quiet and isinstance(entry.fact, MessageStored):
            self._quiet.difference_update(entry.fact.recipients)

    async def for_agent(self, by: Principal) -> str:
        if not by.is_agent or by.id in self._quiet:
            return ""
        # Before the look, so that what comes meanwhile is not taken for looked after.
        self._quiet.add(by.id)
        try:
            unread = await unread_ids(self._hub, by)
        except BaseException:
            self._quiet.discard(by.id)
            raise
        known = self._mentioned.get(by.id, frozenset())  # only now: another call may have mentioned some meanwhile
        fresh = unread - known
        if not fresh:
            return ""
        if len(self._mentioned) >= _MOST_REMEMBERED:
            self._mentioned.clear()
        self._mentioned[by.id] = unread  # what was read since need not be remembered
        return f"{len(fresh)} new message{'s' if len(fresh) > 1 else ''}; use inbox"
