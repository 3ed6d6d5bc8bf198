"""A message that was altered on disk is an error at every door, and never its new text."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.scenarios.listener import socket_url
from tests.scenarios.switchboard import PATIENCE, Agent, Refused, Switchboard, contents
from tests.support.fixtures import HubFactory

FORGED = "a forged order"


async def altered(board: Switchboard, ann: Agent, bob: Agent, cyd: Agent) -> str:
    """Three messages to bob and one to cyd; the second of bob's was changed while the hub ran."""
    await board.send(ann, bob, "before")
    message_id = (await board.send(ann, bob, "the order"))["message_id"]
    await board.send(ann, bob, "after")
    await board.send(ann, cyd, "for somebody else")
    with closing(sqlite3.connect(board.hub.data / "rookery.db")) as connection, connection:
        change = "UPDATE messages SET content = ? WHERE id = ?"
        assert connection.execute(change, (FORGED, message_id)).rowcount == 1
    return message_id


@pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])
async def test_an_altered_message_is_an_error_and_other_inboxes_are_unharmed(
    board: Switchboard, restarted: bool
) -> None:
    ann, bob, cyd = await board.register_many("ann", "bob", "cyd")
    message_id = await altered(board, ann, bob, cyd)
    if restarted:
        board.hub.restart()

    with pytest.raises(Refused) as refused:
        await board.get(f"/v1/agents/messages/{bob.id}")

    assert (refused.value.status, refused.value.code) == (500, "storage_damaged")
    assert refused.value.data == {"message_id": message_id}
    assert contents(await board.inbox(cyd)) == ["for somebody else"]
    await board.send(ann, cyd, "and another one")
    assert contents(await board.inbox(cyd)) == ["for somebody else", "and another one"]


DOORS: dict[str, Callable[[str, str], tuple[str, str]]] = {
    "inbox": lambda bob, _: ("GET", f"/v1/agents/messages/{bob}"),
    "message of the inbox": lambda bob, message: ("GET", f"/v1/agents/messages/{bob}/{message}"),
    "claim": lambda bob, message: ("POST", f"/v1/agents/messages/{bob}/{message}/claim"),
    "message": lambda _, message: ("GET", f"/v1/messages/{message}"),
    "thread": lambda _, message: ("GET", f"/v1/messages/{message}/thread"),
    "search": lambda *_: ("GET", "/v1/search?q=order"),
    "search for the forged word": lambda *_: ("GET", "/v1/search?q=forged"),
    "journal": lambda *_: ("GET", "/v1/events"),
    "export": lambda *_: ("GET", "/v1/export"),
}


async def test_no_door_serves_the_altered_text(board: Switchboard) -> None:
    ann, bob, cyd = await board.register_many("ann", "bob", "cyd")
    message_id = await altered(board, ann, bob, cyd)
    board.hub.restart()

    told = {door: await answer(board, *request(bob.id, message_id)) for door, request in DOORS.items()}
    socket = await all_that_a_socket_says(board)

    assert {door: text for door, text in [*told.items(), ("socket", socket)] if FORGED in text} == {}
    assert f"1011 Message '{message_id}' is not what was written" in socket
    assert {door for door, text in told.items() if "storage_damaged" in text} >= DOORS.keys() - {
        "search",
        "export",
    }


async def test_damage_is_logged_without_secrets_and_does_not_keep_the_hub_from_stopping(
    board: Switchboard,
) -> None:
    ann, bob, cyd = await board.register_many("ann", "bob", "cyd")
    message_id = await altered(board, ann, bob, cyd)
    for request in DOORS.values():
        await answer(board, *request(bob.id, message_id))
    await all_that_a_socket_says(board)

    token = board.hub.token
    assert token is not None
    assert board.hub.stop(within=4.0) == 0
    assert token not in board.hub.output()
    assert FORGED not in board.hub.output()


async def answer(board: Switchboard, method: str, path: str) -> str:
    """The status and whatever came of the answer: an export that meets damage ends in the middle."""
    text = ""
    async with board.stream(method, path) as response:
        try:
            async for part in response.aiter_text():
                text += part
        except httpx.RemoteProtocolError as exc:
            text += f" ({exc})"
    return f"{response.status_code} {text}"


async def all_that_a_socket_says(board: Switchboard) -> str:
    """From the first position on, until the hub closes the socket."""
    heard: list[str] = []
    url = socket_url(board.hub, after=0)
    async with asyncio.timeout(PATIENCE), connect(url, additional_headers=board.hub.headers, proxy=None) as socket:
        with suppress(ConnectionClosed):
            while True:
                heard.append(str(await socket.recv()))
    return "\n".join([*heard, f"{socket.close_code} {socket.close_reason}"])


@pytest.mark.parametrize("without_index", [False, True], ids=["indexed", "index lost"])
async def test_a_file_that_was_altered_by_hand_is_never_served(
    hub_factory: HubFactory, without_index: bool
) -> None:
    async with Switchboard(hub_factory(store="maildir")) as board:
        ann, bob, cyd = await board.register_many("ann", "bob", "cyd")
        message_id = (await board.send(ann, bob, "the order"))["message_id"]
        await board.send(ann, cyd, "for somebody else")
        board.hub.stop()
        file = board.hub.data / "inbox" / bob.id / "new" / f"{message_id}.json"
        file.write_text(file.read_text().replace("the order", FORGED))
        if without_index:
            for part in board.hub.data.glob("index.db*"):
                part.unlink()
        board.hub.start()

        told = {door: await answer(board, *request(bob.id, message_id)) for door, request in DOORS.items()}

        assert {door: text for door, text in told.items() if FORGED in text} == {}
        assert contents(await board.inbox(cyd)) == ["for somebody else"]
        if without_index:  # else the index has the text as it was written
            assert f"message {message_id} is damaged" in board.hub.output()
