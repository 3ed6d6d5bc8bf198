"""Peers that say odd things, too much, or do not read."""

import asyncio
import json
import re
import socket as sockets
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.services.house import until
from tests.surfaces.served import PATIENCE, Json, Member, Served, register, served
from tests.surfaces.websocket.listener import all_until_now, event, farewell, frame, hello, pong
from tests.surfaces.websocket.test_admission import handshake

SEND = "/v1/agents/messages/send"


async def test_a_ping_is_answered_with_the_position(hub: Served, http: httpx.AsyncClient) -> None:
    one = await register(http, "one")
    async with hub.socket(one.headers) as socket:
        start = (await hello(socket))["position"]
        assert await pong(socket) == {"type": "pong", "position": start}
        await http.post(SEND, json={"to_agent_id": "one", "content": "hi"})
        told = await event(socket, "inbox_message_sent")
        assert (await pong(socket))["position"] >= told["position"]


async def test_a_ping_of_the_protocol_is_answered(hub: Served) -> None:
    async with hub.socket() as socket:
        await hello(socket)
        async with asyncio.timeout(PATIENCE):
            await (await socket.ping(b"are you there"))


IGNORED: dict[str, Any] = {
    "nonsense": "hello",
    "empty": "",
    "another type": '{"type":"subscribe","agent":"other"}',
    "no type": "{}",
    "a type that is no text": '{"type":1}',
    "an array": '["ping"]',
    "a text": '"ping"',
    "null": "null",
    "not JSON": "{",
    "two keys": '{"type":"ping","type":"ping"}',
    "deep": "[" * 500,
    "a long text": "x" * 60_000,
    "a long ping": '{"type":"ping","x":"' + "x" * 2000 + '"}',
    "a NUL": '{"type":"ping","x":"\\u0000"}',
    "a number": "1e999",
    "binary": b"\x00\xff\xfe",
    "binary ping": b'{"type":"ping"}',
    "empty binary": b"",
    "fragments": ["he", "llo"],
}


@pytest.mark.parametrize("said", IGNORED.values(), ids=IGNORED.keys())
async def test_what_is_not_for_the_hub_is_passed_over(hub: Served, said: Any) -> None:
    async with hub.socket() as socket:
        await hello(socket)
        await socket.send(said)
        await socket.send('{"type":"ping"}')
        assert (await frame(socket))["type"] == "pong"


@pytest.mark.parametrize("kind", ["text", "binary", "fragments"])
async def test_a_giant_frame_closes_the_socket_and_nothing_else(hub: Served, kind: str) -> None:
    async with hub.socket() as giant, hub.socket() as other:
        await hello(giant)
        await hello(other)
        said: Any = {"text": "x" * 65_537, "binary": b"x" * 1_000_000, "fragments": ["x" * 40_000] * 2}[kind]
        try:
            await giant.send(said)
        finally:
            code, _ = await farewell(giant)
        assert code == 1009
        assert (await pong(other))["type"] == "pong"


@pytest.mark.parametrize(
    "frame",
    [b"\x83\x80\x00\x00\x00\x00", b"\xf1\x80\x00\x00\x00\x00", b"\x81\x01x", b"\x81\x82\x00\x00\x00\x00\xff\xfe",
     b"\x88\x81\x00\x00\x00\x00\x01", b"\x89\xfe\x00\x80\x00\x00\x00\x00" + b"x" * 128, b"GET / HTTP/1.1\r\n\r\n"],
    ids=["unknown opcode", "reserved bits", "unmasked", "no UTF-8", "short close", "long ping", "HTTP"],
)  # fmt: skip
async def test_a_broken_frame_ends_the_socket_and_nothing_else(hub: Served, frame: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", hub.port)
    writer.write(handshake(hub))
    assert (await reader.readline()).startswith(b"HTTP/1.1 101")
    writer.write(frame)
    async with asyncio.timeout(PATIENCE):
        while await reader.read(65536):
            pass
    writer.close()
    async with hub.socket() as socket:
        await hello(socket)


async def test_a_peer_that_leaves_without_a_word_is_forgotten(hub: Served, http: httpx.AsyncClient) -> None:
    for _ in range(5):
        _, writer = await asyncio.open_connection("127.0.0.1", hub.port)
        writer.write(handshake(hub))
        await writer.drain()
        writer.transport.abort()
    async with asyncio.timeout(PATIENCE):
        while (await http.get("/v1/status")).json()["sockets"]:
            pass
    assert hub.hub.relay.subscriptions() == 0


async def test_a_flood_of_pings_from_one_who_does_not_read_harms_nobody(
    hub: Served, http: httpx.AsyncClient
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", hub.port, limit=1024)
    writer.write(handshake(hub))
    assert (await reader.readline()).startswith(b"HTTP/1.1 101")
    ping = b'{"type":"ping"}'
    writer.write((b"\x81" + bytes([0x80 | len(ping)]) + b"\0\0\0\0" + ping) * 50_000)
    assert (await http.get("/healthz")).status_code == 200
    writer.transport.abort()


# -- those who do not read -------------------------------------------------------------------------------


async def stalled(hub: Served, headers: dict[str, str]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A socket with small buffers whose owner does not read."""
    connection = sockets.socket()
    connection.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", hub.port))
    reader, writer = await asyncio.open_connection(sock=connection, limit=1024)
    writer.write(handshake(hub, Authorization=headers["Authorization"]))
    assert (await reader.readline()).startswith(b"HTTP/1.1 101")
    return reader, writer


async def flood(http: httpx.AsyncClient, hub: Served, until: int = 1) -> None:
    """Large messages until that many sockets have fallen behind."""
    async with asyncio.timeout(60):
        while hub.hub.relay.fell_behind < until:
            await http.post(SEND, json={"to_agent_id": "one", "content": "x" * 500_000})


async def journal(http: httpx.AsyncClient, reader: Member, after: int) -> list[Json]:
    """All events for that reader, page by page."""
    events: list[Json] = []
    more = True
    while more:
        query = {"after": after, "limit": 1000}
        page = (await http.get("/v1/events", params=query, headers=reader.headers)).json()
        events += page["events"]
        after, more = page["position"], page["more"]
    return events


async def test_one_who_does_not_read_is_told_where_to_resume(tmp_path: Path) -> None:
    async with served(tmp_path / "data", socket_buffer=16, hand_off_wait=0) as hub, hub.client() as http:
        one = await register(http, "one")
        reader, writer = await stalled(hub, one.headers)
        await flood(http, hub)
        # It reads again, and finds the reason at the end of what was under way.
        received, found = b"", None
        async with asyncio.timeout(PATIENCE):
            while chunk := await reader.read(1 << 20):
                received = (received + chunk)[-300:]
                if found := re.search(rb"\x0f\xa8(too slow: resume with \?after=(\d+))$", received):
                    break
        writer.close()
        assert found, received[-150:]
        position = int(found[2])
        wanted = await journal(http, one, position)
        assert wanted[0]["type"] in ("agent_message", "inbox_message_sent")
        async with hub.socket(one.headers, after=position, max_size=None) as socket:
            assert (await hello(socket))["position"] == position
            assert await all_until_now(socket, http) == wanted


async def test_one_who_never_reads_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.surfaces.websocket.connection._FAREWELL_PATIENCE", 0.1)
    async with served(tmp_path / "data", socket_buffer=16, hand_off_wait=0) as hub, hub.client() as http:
        one = await register(http, "one")
        _, writer = await stalled(hub, one.headers)
        await flood(http, hub)
        await until(lambda: hub.hub.relay.subscriptions() == 0)
        writer.transport.abort()


async def test_a_slow_reader_does_not_slow_a_quick_one(tmp_path: Path) -> None:
    async with served(tmp_path / "data", socket_buffer=16, hand_off_wait=0) as hub, hub.client() as http:
        one = await register(http, "one")
        _, writer = await stalled(hub, one.headers)
        async with hub.socket(one.headers, max_size=None) as quick:
            start = (await hello(quick))["position"]
            got: list[int] = []
            last = ""

            async def listen() -> None:
                async for text in quick:
                    told = json.loads(text)
                    got.append(told["position"])
                    if told.get("content") == last:
                        return

            listening = asyncio.create_task(listen())
            await flood(http, hub)
            last = f"{SEND} is done"
            await http.post(SEND, json={"to_agent_id": "one", "content": last})
            async with asyncio.timeout(PATIENCE):
                await listening
        due = [each["position"] for each in await journal(http, one, start)]
        assert got == due[: len(got)]
        writer.transport.abort()
