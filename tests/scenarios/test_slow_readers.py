"""Callers that ask for much and do not take the answer."""

import asyncio
import socket
from contextlib import ExitStack

from tests.scenarios.memory import MOST, memory_of
from tests.scenarios.switchboard import Switchboard

CALLERS = 100


async def test_a_hundred_callers_that_do_not_take_their_answers_do_not_grow_the_hub(board: Switchboard) -> None:
    ann, bob = await board.register_many("ann", "bob")
    for _ in range(10):
        await asyncio.gather(*(board.send(ann, bob, "x" * 100_000) for _ in range(10)))
    address = f"127.0.0.1:{board.hub.port}"
    request = (
        f"GET /v1/events?limit=1000 HTTP/1.1\r\nHost: {address}\r\n"
        f"Authorization: {board.hub.headers['Authorization']}\r\n\r\n"
    )

    with ExitStack() as connections:
        async with memory_of(board.hub) as memory:
            for _ in range(CALLERS):
                caller = connections.enter_context(socket.create_connection(("127.0.0.1", board.hub.port)))
                caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                caller.sendall(request.encode())
            # An answer that is taken shows that the hub is done with those before it.
            assert len(await board.events()) >= 200

    assert memory.peak < MOST
