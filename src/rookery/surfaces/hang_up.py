"""The server's protocols, with one thing added: a way to hang up on a peer that never reads.

Closing a transport waits until its buffer is flushed, which such a peer prevents for ever. Each request is told
how to drop its connection at once.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

_KEY = "rookery.hang_up"


def hang_up_of(scope: Scope) -> Callable[[], None] | None:
    """What drops the connection of this request; None under another server."""
    return scope.get("state", {}).get(_KEY)


class HttpProtocol(HttpToolsProtocol):
    def on_message_begin(self) -> None:
        super().on_message_begin()
        _tell(self.scope, self.transport)


class SocketProtocol(WebSocketsSansIOProtocol):
    def handle_connect(self, event: Any) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):
            # The task that serves the socket was just created and has not run yet.
            _tell(self.scope, self.transport)


def _tell(scope: Any, transport: asyncio.Transport) -> None:
    scope.setdefault("state", {})[_KEY] = transport.abort
