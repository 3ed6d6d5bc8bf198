"""WebSocket clients that connect and then do not read."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.scenarios.listener import socket_url
from tests.scenarios.switchboard import PATIENCE
from tests.support.hub_process import HubProcess

FELL_BEHIND = 4008
DROPPED = 1006


class Sleeper:
    """Connects, with hardly any room to receive in, and then takes nothing until it wakes up."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.positions: list[int] = []

    async def wake_up(self) -> tuple[int, str]:
        """Read what is still there. Returns the code and the reason with which the hub closed the socket."""
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    frame = json.loads(await self.connection.recv())
                    self.positions.append(frame["position"])
        except ConnectionClosed as closed:
            return (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (DROPPED, "")


@asynccontextmanager
async def asleep(hub: HubProcess, count: int, **query: int) -> AsyncIterator[list[Sleeper]]:
    async with AsyncExitStack() as sockets:
        sleepers: list[Sleeper] = []
        for _ in range(count):
            tight = socket.socket()
            tight.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            tight.connect(("127.0.0.1", hub.port))
            tight.setblocking(False)
            connection = await sockets.enter_async_context(
                connect(
                    socket_url(hub, **query), sock=tight, additional_headers=hub.headers, max_queue=1,
                    max_size=None, compression=None, ping_interval=None, close_timeout=0.1, proxy=None,
                )
            )  # fmt: skip
            sleepers.append(Sleeper(connection))
        yield sleepers
        for sleeper in sleepers:
            sleeper.connection.transport.abort()  # a goodbye would have to wait behind all that was not read
