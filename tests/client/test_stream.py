"""The live journal: nothing missed, nothing twice, whatever happens to the connection."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from rookery import AsyncClient, Client
from rookery.client.address import Directions
from rookery.client.exchange import Session
from rookery.client.stream import Stream
from rookery.domain.errors import HubUnreachable, InvalidRequest, Overloaded, Unauthorized
from rookery.wire.errors import FELL_BEHIND, error_response
from tests.support.hub_process import HubProcess


@pytest.fixture
def operator(hub: HubProcess) -> Iterator[Client]:
    with Client(data=hub.data) as client:
        yield client


def contents(events: Iterator[dict[str, object]], until: str) -> list[str]:
    """The texts of the messages in the stream, up to the one that is waited for."""
    found: list[str] = []
    for event in events:
        if event["type"] == "agent_message":
            found.append(str(event["content"]))
            if found[-1] == until:
                return found
    return found


def test_what_happens_after_the_call_is_in_the_stream(operator: Client) -> None:
    one, two = operator.register(), operator.register()
    with two.listen() as events:
        sent = one.send(two.id, "live")
        event = next(event for event in events if event["type"] == "agent_message")
        assert (event["content"], event["from_agent_id"]) == ("live", one.id)
    assert sent.delivered


def test_a_stream_from_a_position_begins_right_after_it(operator: Client) -> None:
    one, two = operator.register(), operator.register()
    one.send(two.id, "before")
    position = operator.status().position
    one.send(two.id, "after")
    with operator.listen(after=position) as events:
        assert contents(events, "after") == ["after"]
    with operator.listen(after=0) as events:
        assert contents(events, "after") == ["before", "after"]


def test_an_agent_hears_only_what_concerns_it(operator: Client) -> None:
    one, two, three = operator.register(), operator.register(), operator.register()
    with three.listen() as events, operator.listen(agent=two.id) as over_the_shoulder:
        one.send(two.id, "private")
        one.send(three.id, "for three")
        assert contents(events, "for three") == ["for three"]
        one.send(two.id, "last")
        assert contents(over_the_shoulder, "last") == ["private", "last"]


@pytest.mark.parametrize("crash", [False, True], ids=["clean restart", "crash"])
def test_a_restart_in_the_middle_loses_and_doubles_nothing(hub: HubProcess, operator: Client, crash: bool) -> None:
    one, two = operator.register(), operator.register()
    gaps: list[str | None] = []
    with two.listen(on_gap=gaps.append) as events:
        for number in range(5):
            one.send(two.id, f"before {number}")
        seen = contents(events, "before 1")
        hub.restart(crash=crash)
        for number in range(5):
            one.send(two.id, f"after {number}")
        seen += contents(events, "after 4")
    assert seen == [f"{when} {number}" for when in ("before", "after") for number in range(5)]
    assert gaps[-1] is None
    assert gaps[0]


def test_a_send_waits_for_a_hub_that_is_just_restarting(hub: HubProcess, operator: Client) -> None:
    one, two = operator.register(), operator.register()
    hub.stop()
    starting = threading.Thread(target=hub.start)
    starting.start()
    sent = one.send(two.id, "patience")
    starting.join()
    assert two.inbox().messages[0].message_id == sent.message_id


def test_a_hub_that_comes_back_on_another_port_is_found(hub: HubProcess, operator: Client) -> None:
    one = operator.register()
    with operator.listen() as events:
        old = hub.url
        hub.stop()
        hub.port = 0
        hub.start()
        assert hub.url != old
        one.send("operator", "here I am")
        assert contents(events, "here I am") == ["here I am"]


async def test_the_async_stream_survives_a_restart_too(hub: HubProcess) -> None:
    async with AsyncClient(data=hub.data) as operator:
        one, two = await operator.register(), await operator.register()
        position = (await operator.status()).position
        seen: list[str] = []
        async with two.listen(after=position) as events:
            await one.send(two.id, "before")
            async for event in events:
                if event["type"] != "agent_message":
                    continue
                seen.append(event["content"])
                if event["content"] == "after":
                    break
                await asyncio.to_thread(hub.restart, crash=True)
                await one.send(two.id, "after")
    assert seen == ["before", "after"]


async def test_what_happens_after_the_block_began_is_in_the_async_stream(hub: HubProcess) -> None:
    async with AsyncClient(data=hub.data) as operator:
        one, two = await operator.register(), await operator.register()
        async with two.listen() as events:
            assert (await one.send(two.id, "live")).delivered
            async for event in events:
                if event["type"] == "agent_message":
                    break
        abandoned = two.listen(after=0)
        await anext(abandoned)
    with pytest.raises(StopAsyncIteration):  # closing the client has closed it too
        await anext(abandoned)


def test_closing_a_client_ends_its_streams(hub: HubProcess) -> None:
    with Client(data=hub.data) as operator:
        events = operator.register().listen()
    assert list(events) == []


def test_a_token_that_ends_ends_the_stream(operator: Client) -> None:
    one = operator.register()
    with one.listen() as events:
        operator.revoke_tokens(one.id)
        with pytest.raises(Unauthorized):
            list(events)


def test_a_wrong_token_and_a_position_beyond_the_end_are_refused_at_once(
    hub: HubProcess, operator: Client
) -> None:
    with Client(hub.url, token="rook_ag_wrong") as stranger, pytest.raises(Unauthorized):
        stranger.listen()
    with pytest.raises(InvalidRequest, match="beyond the end"):
        operator.listen(after=10**9)


def test_closing_from_another_thread_ends_the_loop(operator: Client) -> None:
    events = operator.listen()
    closing = threading.Timer(0.2, events.close)
    closing.start()
    assert all(event["type"] != "agent_message" for event in events)
    closing.join()


def test_no_hub_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.client.address.DEFAULT_URL", "http://127.0.0.1:9")
    with Client(data=tmp_path) as client, pytest.raises(HubUnreachable, match="rook up"):
        client.listen()


# -- by hand ---------------------------------------------------------------------------------------------


def a_stream(after: int | None = None) -> Stream:
    return Stream(Session(Directions("http://127.0.0.1:1"), clock=lambda: 0.0, chance=lambda: 1.0), after)


def test_what_comes_twice_is_dropped() -> None:
    stream = a_stream(after=5)
    frames = [b'{"type":"x","position":%d}' % position for position in (5, 6, 6, 4, 7)]
    assert [event["position"] for frame in frames if (event := stream.event(frame))] == [6, 7]


def test_the_hello_sets_the_cursor_and_is_no_event() -> None:
    stream = a_stream()
    assert stream.event('{"type":"connected","position":40,"agent_id":"operator"}') is None
    assert stream.url() == "ws://127.0.0.1:1/ws/agents?after=40"
    assert stream.event('{"type":"pong","position":41}') is None


def test_falling_behind_is_resumed_and_a_full_hub_waited_for() -> None:
    stream = a_stream(after=1)
    stream.event('{"type":"connected","position":1}')
    assert stream.closed(FELL_BEHIND, "too slow") == 0.05
    assert stream.closed(1012, "") == 0.1
    refused = msgspec.json.encode(error_response(Overloaded("sockets", 5000)))
    assert stream.refused(503, refused) == 5.0


def test_the_token_is_in_no_address() -> None:
    stream = Stream(Session(Directions("https://hub.test", "rook_ag_secret")))
    assert stream.url() == "wss://hub.test/ws/agents"
    assert stream.headers() == {"Authorization": "Bearer rook_ag_secret"}
