"""What the MCP SDK costs by itself: an empty tool, on the hub's own server settings."""

from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from bench.bare import run, serve


async def empty_tool(_: Any, __: types.CallToolRequestParams) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text="{}")], structured_content={})


class Tools:
    def __init__(self) -> None:
        server = Server("bare", on_call_tool=empty_tool)
        self.manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.manager.handle_request(scope, receive, send)


async def _serve() -> None:
    tools = Tools()
    async with tools.manager.run():
        await serve(Router([Route("/mcp", tools)]))


if __name__ == "__main__":
    run(_serve())
