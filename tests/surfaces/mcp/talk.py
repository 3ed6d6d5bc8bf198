"""The official SDK's own client, on the hub's door for MCP.

async with talking(hub, agent.token) as session:
    told = await session.call_tool("list_agents")
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from tests.surfaces.served import Member, Served, bearer

ACCEPT = {"Accept": "application/json, text/event-stream"}
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@asynccontextmanager
async def talking(hub: Served, who: Member | None) -> AsyncGenerator[ClientSession]:
    """As that agent, or as the operator."""
    headers = who.headers if who else hub.operator
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=20) as http,
        streamable_http_client(f"{hub.url}/mcp", http_client=http) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        await session.initialize()
        yield session


async def called(session: ClientSession, tool: str, **arguments: Any) -> CallToolResult:
    told = await session.call_tool(tool, arguments)
    assert isinstance(told, CallToolResult)
    return told


async def done(session: ClientSession, tool: str, **arguments: Any) -> Any:
    """What the tool gave, which must have worked."""
    told = await called(session, tool, **arguments)
    assert not told.is_error, texts(told)
    return told.structured_content


async def refused(session: ClientSession, tool: str, **arguments: Any) -> str:
    """The words of the refusal."""
    told = await called(session, tool, **arguments)
    assert told.is_error, texts(told)
    return texts(told)[0]


def texts(told: CallToolResult) -> list[str]:
    return [part.text for part in told.content if isinstance(part, TextContent)]


async def posted(
    http: httpx.AsyncClient, who: Member | str | None, body: Any = LIST_TOOLS, **headers: str
) -> httpx.Response:
    """A request by hand. Bytes are sent as they are."""
    token = who.token if isinstance(who, Member) else who
    said = ACCEPT | {"Content-Type": "application/json"} | (bearer(token) if token else {})
    said |= {name.replace("_", "-"): value for name, value in headers.items()}
    if isinstance(body, bytes):
        return await http.post("/mcp", content=body, headers=said)
    return await http.post("/mcp", json=body, headers=said)
