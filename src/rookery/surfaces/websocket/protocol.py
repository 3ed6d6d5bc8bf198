"""The server's side of the handshake, with one thing added: a way to hang up on a peer that never reads."""

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

HANG_UP = "rookery.hang_up"


class HangUpProtocol(WebSocketsSansIOProtocol):
    """Closing a transport waits until its buffer is flushed, which a peer that never reads prevents for ever.

    The connection is told how to drop it at once.
    """

    def handle_connect(self, event: Any) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):
            # The task that serves the socket was just created and has not run yet.
            self.scope.setdefault("state", {})[HANG_UP] = self.transport.abort
