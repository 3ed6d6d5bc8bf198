"""A program at the other end of a WebSocket: it connects, keeps what it hears, and resumes where it was."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect

from tests.scenarios.switchboard import PATIENCE, Json
from tests.support.hub_process import HubProcess


def socket_url(hub: HubProcess, **query: Any) -> str:
    asked = urlencode({name: value for name, value in query.items() if value is not None})
    return f"ws{hub.url.removeprefix('http')}/ws/agents" + (f"?{asked}" if asked else "")


class Listener:
    """`events` are all that came, over all connections; `position` is the cursor to resume from."""

    def __init__(self, hub: HubProcess, *, token: str | None = None, agent: str | None = None) -> None:
        self.hub = hub
        self.token = token
        self.events: list[Json] = []
        self.position: int | None = None
        self._agent = agent
        self._headers = {"Authorization": f"Bearer {token}"} if token else hub.headers
        self._socket: ClientConnection | None = None

    @property
    def positions(self) -> list[int]:
        return [event["position"] for event in self.events]

    @asynccontextmanager
    async def connected(self) -> AsyncIterator["Listener"]:
        """From the cursor on; from now on if nothing was heard yet."""
        url = socket_url(self.hub, after=self.position, agent=self._agent)
        async with connect(
            url, additional_headers=self._headers, proxy=None, max_size=None, compression=None, max_queue=64
        ) as socket:
            hello = json.loads(await socket.recv())
            assert hello["type"] == "connected", hello
            if self.position is None:
                self.position = hello["position"]
            self._socket = socket
            yield self

    async def hear(self) -> Json:
        """The next event. Raises ConnectionClosed, with the hub's reason, when there will be none."""
        assert self._socket is not None
        event = json.loads(await self._socket.recv())
        self.events.append(event)
        self.position = event["position"]
        return event

    def break_off(self) -> None:
        """As when a cable is pulled: no goodbye."""
        assert self._socket is not None
        self._socket.transport.abort()

    async def hear_until(self, meant: Callable[[Json], bool]) -> Json:
        async with asyncio.timeout(PATIENCE):
            while not meant(event := await self.hear()):
                pass
            return event

    async def hear_through(self, position: int) -> None:
        """Everything up to a position, for a listener whom every event concerns."""
        async with asyncio.timeout(PATIENCE):
            while self.position is None or self.position < position:
                await self.hear()
