"""What every request passes first, on HTTP and WebSocket alike: is it meant for this hub, is there room.

A web page in the operator's browser can reach a loopback address. It cannot choose its Origin, and a name it
rebinds to 127.0.0.1 shows in Host; so both are compared exactly, port included.
"""

import logging
from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from rookery.domain.errors import HostRefused, OriginRefused, Overloaded, RookeryError
from rookery.surfaces.http import answer, header, refusal
from rookery.surfaces.meter import Meter

_log = logging.getLogger(__name__)


class Gate:
    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], max_requests: int, meter: Meter) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(f"{scheme}://{host}" for host in self._hosts for scheme in ("http", "https"))
        self._max_requests = max_requests
        self._meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check(scope)
        except RookeryError as error:
            self._meter.refused_at_gate[error.code] += 1
            await refuse(scope, receive, send, error)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._meter.in_flight += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._meter.in_flight -= 1

    def _check(self, scope: Scope) -> None:
        hosts = [value for key, value in scope["headers"] if key == b"host"]
        host = hosts[0].decode("latin-1") if len(hosts) == 1 else ""
        if host.lower() not in self._hosts:
            raise HostRefused(host)
        origin = header(scope, b"origin")
        if origin is not None and origin.lower() not in self._origins:
            raise OriginRefused(origin)
        if scope["type"] == "http" and self._meter.in_flight >= self._max_requests:
            raise Overloaded("requests")


async def refuse(scope: Scope, receive: Receive, send: Send, error: RookeryError) -> None:
    """Answer with an error before anything was accepted; a WebSocket handshake is answered by HTTP too."""
    status, headers, body = refusal(error)
    if scope["type"] == "http":
        await answer(send, status, headers, body)
        return
    await receive()  # websocket.connect
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "websocket.http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "websocket.http.response.body", "body": body})
