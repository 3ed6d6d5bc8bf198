"""Just enough of a WebSocket client to count what arrives, a thousand times over, without being the slow part."""

import asyncio
import base64
import os
from collections.abc import Callable
from typing import cast

_TEXT, _CLOSE, _PING = 1, 8, 9


class Socket(asyncio.Protocol):
    """Calls `on_text` with each text frame. Answers pings. `opened` is done once the server has agreed."""

    def __init__(self, port: int, token: str, on_text: Callable[[bytes], None]) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        authorization = f"Authorization: Bearer {token}\r\n" if token else ""
        self._hello = (
            f"GET /ws/agents HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"{authorization}\r\n"
        ).encode()
        self._on_text = on_text
        self._rest = b""
        self._open = False
        self._transport: asyncio.Transport | None = None
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.lost: Callable[[str], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._hello)

    def data_received(self, data: bytes) -> None:
        if self._rest:
            data = self._rest + data
        if not self._open:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                self._rest = data
                return
            if data[9:12] != b"101":
                self.opened.set_exception(ConnectionError(data[:600].decode(errors="replace")))
                return
            self._open = True
            self.opened.set_result(None)
            data = data[end + 4 :]
        self._rest = self._frames(data)

    def _frames(self, data: bytes) -> bytes:
        """Take the whole frames off the front; a server's are never masked. Returns what is left."""
        at = 0
        while len(data) - at >= 2:
            length, start = data[at + 1], at + 2
            if length == 126:
                length, start = int.from_bytes(data[start : start + 2], "big"), start + 2
            elif length == 127:
                length, start = int.from_bytes(data[start : start + 8], "big"), start + 8
            if len(data) < start + length:
                break
            kind = data[at] & 15
            if kind == _TEXT:
                self._on_text(data[start : start + length])
            elif kind == _PING:
                self._pong(data[start : start + length])
            elif kind == _CLOSE and self.lost is not None:
                self.lost(f"the server closed a socket: {data[start : start + length]!r}")
            at = start + length
        return data[at:]

    def _pong(self, payload: bytes) -> None:
        assert self._transport is not None
        # A client must mask; four zero bytes are a mask that changes nothing.
        self._transport.write(bytes((0x8A, 0x80 | len(payload), 0, 0, 0, 0)) + payload)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.opened.done():
            self.opened.set_exception(ConnectionError(f"no handshake: {exc}"))
        elif self.lost is not None:
            self.lost(f"a socket was lost: {exc}")

    def close(self) -> None:
        self.lost = None
        if self._transport is not None:
            self._transport.abort()
