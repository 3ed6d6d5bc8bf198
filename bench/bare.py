"""What the stack costs by itself: the hub's own server settings around handlers that keep nothing.

The same uvicorn configuration and event loop, a Starlette route, the request parsed and the answer encoded by
msgspec; a WebSocket on which one frame goes to everybody; and the MCP SDK around an empty tool. No token is looked
at and nothing is stored.
"""

import asyncio
import signal
import socket
from typing import Any

import mcp_types as types
import msgspec
import uvicorn
import uvloop
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router, WebSocketRoute
from starlette.types import Receive, Scope, Send

from bench.hub import raise_file_limit, stop_with_parent
from rookery.bootstrap import server_config
from rookery.wire.requests import SendRequest
from rookery.wire.responses import SendResponse
from rookery.wire.routes import BY_NAME

_request = msgspec.json.Decoder(SendRequest)
_response = msgspec.json.Encoder()
_sockets: set[Send] = set()


async def take(request: Request) -> Response:
    body = _request.decode(await request.body())
    if body.to_agent_id == "broadcast":
        text = _response.encode({"type": "agent_broadcast", "position": 1, "content": body.content}).decode()
        for send in list(_sockets):
            await send({"type": "websocket.send", "text": text})
    answer = SendResponse(
        message_id="01hq3m5x8n2v4w6y8z0a1b2c3d", delivered=False, queued=True, timestamp="2026-01-01T00:00:00Z"
    )
    return Response(_response.encode(answer), media_type="application/json")


class Listeners:
    """A class, because Starlette takes a plain function for one that wants its own WebSocket object."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - an ASGI app
        await receive()
        await send({"type": "websocket.accept"})
        _sockets.add(send)
        try:
            while (await receive())["type"] != "websocket.disconnect":
                pass
        finally:
            _sockets.discard(send)


async def healthy(request: Request) -> Response:  # noqa: ARG001 - a Starlette endpoint
    return Response(b'{"ok":true}', media_type="application/json")


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            print(listener.getsockname()[1], flush=True)


async def empty_tool(_: Any, __: types.CallToolRequestParams) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text="{}")], structured_content={})


class Tools:
    """The SDK around a tool that does nothing."""

    def __init__(self) -> None:
        server = Server("bare", on_call_tool=empty_tool)
        self.manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.manager.handle_request(scope, receive, send)


async def _serve() -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    tools = Tools()
    send_message = BY_NAME["send_message"]
    app = Router(
        [
            Route(send_message.path, take, methods=[send_message.method]),
            Route("/healthz", healthy),
            Route("/mcp", tools),
            WebSocketRoute("/ws/agents", Listeners()),
        ]
    )
    async with tools.manager.run():
        await _Server(server_config(app)).serve(sockets=[listener])


def main() -> None:
    raise_file_limit()
    stop_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve())


if __name__ == "__main__":
    main()
