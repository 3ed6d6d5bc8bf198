"""What the stack costs by itself: the hub's own server settings around handlers that keep nothing.

The same uvicorn configuration and event loop, a Starlette route, the request parsed and the answer encoded by
msgspec; and a WebSocket on which one frame goes to everybody. No token is looked at and nothing is stored.
"""

import asyncio
import signal
import socket
from collections.abc import Coroutine
from typing import Any

import msgspec
import uvicorn
import uvloop
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

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


async def serve(app: ASGIApp) -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    await _Server(server_config(app)).serve(sockets=[listener])


def run(serving: Coroutine[Any, Any, None]) -> None:
    raise_file_limit()
    stop_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serving)


def _app() -> ASGIApp:
    send_message = BY_NAME["send_message"]
    return Router(
        [
            Route(send_message.path, take, methods=[send_message.method]),
            Route("/healthz", healthy),
            WebSocketRoute("/ws/agents", Listeners()),
        ]
    )


if __name__ == "__main__":
    run(serve(_app()))
