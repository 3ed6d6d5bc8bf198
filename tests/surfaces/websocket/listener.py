"""The other end of a WebSocket: reads frames under a deadline."""

import asyncio
import json
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.surfaces.served import PATIENCE, Json


async def frame(socket: ClientConnection) -> Json:
    async with asyncio.timeout(PATIENCE):
        return json.loads(await socket.recv())


async def hello(socket: ClientConnection) -> Json:
    """The first frame of every socket."""
    first = await frame(socket)
    assert first["type"] == "connected", first
    return first


async def frames_until(socket: ClientConnection, enough: Callable[[Json], Any]) -> list[Json]:
    """All frames up to the first one that is enough, that one included."""
    found: list[Json] = []
    while not found or not enough(found[-1]):
        found.append(await frame(socket))
    return found


async def event(socket: ClientConnection, kind: str, **fields: Any) -> Json:
    """The next frame of that type with these fields; others are passed over."""

    def wanted(each: Json) -> bool:
        return each["type"] == kind and all(each.get(name) == value for name, value in fields.items())

    return (await frames_until(socket, wanted))[-1]


async def pong(socket: ClientConnection) -> Json:
    """The answer to a ping: the socket is alive. Events on their way may come before or after it."""
    await socket.send('{"type":"ping"}')
    return await event(socket, "pong")


async def all_until_now(socket: ClientConnection, http: httpx.AsyncClient) -> list[Json]:
    """Every event that was due by now: those before a message that everybody hears."""
    end = f"the end {uuid.uuid4()}"
    answer = await http.post("/v1/agents/messages/send", json={"to_agent_id": "broadcast", "content": end})
    assert answer.status_code == 200
    frames = await frames_until(socket, lambda each: each.get("content") == end)
    return [each for each in frames[:-1] if each["type"] != "pong"]


async def farewell(socket: ClientConnection) -> tuple[int, str]:
    """Read on until the hub closes; with which code and reason."""
    async with asyncio.timeout(PATIENCE):
        with suppress(ConnectionClosed):
            while True:
                await socket.recv()
        await socket.wait_closed()
    assert socket.close_code is not None
    return socket.close_code, socket.close_reason or ""


async def handshake_refusal(connecting: Any) -> tuple[int, dict[str, str], Json]:
    """The status, headers and error that a handshake was answered with."""
    try:
        async with connecting:
            raise AssertionError("the handshake was accepted")
    except InvalidStatus as refused:
        response = refused.response
        headers = {name.lower(): value for name, value in response.headers.raw_items()}
        assert headers["content-type"] == "application/json"
        told = json.loads(response.body or b"")
        assert (set(told), told["ok"]) == ({"ok", "error"}, False)
        return response.status_code, headers, told["error"]
