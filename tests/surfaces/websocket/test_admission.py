"""Who may open a WebSocket, and who is sent away."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from rookery.domain.principals import Principal
from tests.services.house import until
from tests.surfaces.raw import exchange
from tests.surfaces.served import Served, bearer, register, served
from tests.surfaces.websocket.listener import farewell, frame, handshake_refusal, hello, pong

ENDED = (4401, "this token has ended")


# -- the token -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers", [{}, bearer("wrong"), bearer("rook_op_" + "x" * 43), {"Authorization": "Basic eDp5"}]
)
async def test_without_a_right_token_the_handshake_is_401(hub: Served, headers: dict[str, str]) -> None:
    status, told, error = await handshake_refusal(hub.socket(headers))
    assert (status, error["code"]) == (401, "unauthorized")
    assert told["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("protocols", [["bearer.wrong"], ["rookery", "bearer."], ["rookery"]])
async def test_a_wrong_token_in_the_subprotocol_is_401(hub: Served, protocols: list[str]) -> None:
    status, _, error = await handshake_refusal(hub.socket({}, subprotocols=protocols))
    assert (status, error["code"]) == (401, "unauthorized")


@pytest.mark.parametrize("parameter", ["token", "access_token"])
async def test_a_token_in_the_address_is_refused(hub: Served, http: httpx.AsyncClient, parameter: str) -> None:
    one = await register(http, "one")
    status, _, error = await handshake_refusal(hub.socket({}, **{parameter: one.token}))
    assert status in (400, 401)
    assert one.token not in json.dumps(error)


async def test_an_unguarded_hub_refuses_a_wrong_token_too(open_hub: Served) -> None:
    status, *_ = await handshake_refusal(open_hub.socket(bearer("wrong")))
    assert status == 401


async def test_two_tokens_in_one_handshake_are_refused_unless_they_are_one(
    hub: Served, http: httpx.AsyncClient
) -> None:
    one, other = await register(http, "one"), await register(http, "other")
    status, *_ = await handshake_refusal(hub.socket(one.headers, subprotocols=[f"bearer.{other.token}"]))
    assert status == 400


# -- whose socket ----------------------------------------------------------------------------------------


async def test_an_agent_cannot_look_over_anothers_shoulder(hub: Served, http: httpx.AsyncClient) -> None:
    one, other = await register(http, "one"), await register(http, "other")
    for called in (other.id, "other"):
        status, _, error = await handshake_refusal(hub.socket(one.headers, agent=called))
        assert (status, error["code"]) == (403, "forbidden")
    refused = (await http.get("/v1/events")).json()["events"][-1]
    assert (refused["type"], refused["actor"], refused["action"]) == ("access_refused", one.id, "socket")


async def test_an_agent_may_name_itself(hub: Served, http: httpx.AsyncClient) -> None:
    one = await register(http, "one")
    async with hub.socket(one.headers, agent="ONE") as socket:
        assert (await hello(socket))["agent_id"] == one.id


async def test_an_unknown_agent_is_404(hub: Served, http: httpx.AsyncClient) -> None:
    await register(http, "one")
    status, _, error = await handshake_refusal(hub.socket(agent="ghost"))
    assert (status, error["code"], error["data"]["available"]) == (404, "agent_not_found", ["one"])


# -- the gate --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1", "http://localhost:1", "https://x"]
)
async def test_a_page_from_elsewhere_cannot_open_a_socket(hub: Served, origin: str) -> None:
    status, _, error = await handshake_refusal(hub.socket(origin=origin))
    assert (status, error["code"]) == (403, "origin_refused")


async def test_our_own_page_can(hub: Served) -> None:
    async with hub.socket(origin=f"http://localhost:{hub.port}") as socket:
        await hello(socket)


def handshake(hub: Served, path: str = "/ws/agents", **headers: str | None) -> bytes:
    found: dict[str, str | None] = {
        "Host": hub.host, "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Authorization": f"Bearer {hub.operator_token}",
    }  # fmt: skip
    found |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{name}: {value}" for name, value in found.items() if value is not None]
    return "\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""]).encode()


@pytest.mark.parametrize("host", [None, "", "evil.example", "127.0.0.1", "localhost:1"])
async def test_a_foreign_host_is_refused(hub: Served, host: str | None) -> None:
    answer = await asyncio.to_thread(exchange, hub, handshake(hub, Host=host))
    assert answer is not None
    assert (answer.status_code, answer.json()["error"]["code"]) == (421, "host_refused")


@pytest.mark.parametrize(
    "path", ["/ws", "/ws/agents/", "/", "/v1/agents", "/healthz", "/nothing", "/ws/agents/one"]
)
async def test_where_no_socket_is_the_handshake_is_404(hub: Served, path: str) -> None:
    status, _, error = await handshake_refusal(hub.socket(path=path))
    assert (status, error["code"]) == (404, "not_found")


async def test_a_handshake_that_is_none_is_4xx(hub: Served) -> None:
    broken = (("Sec_WebSocket_Key", None), ("Sec_WebSocket_Version", "1"), ("Sec_WebSocket_Key", "short"))
    for name, value in broken:
        answer = await asyncio.to_thread(exchange, hub, handshake(hub, "/ws/agents", **{name: value}))
        assert answer is not None
        assert 400 <= answer.status_code < 500


async def test_a_plain_request_for_the_socket_is_404(http: httpx.AsyncClient) -> None:
    assert (await http.get("/ws/agents")).status_code == 404


QUERIES = (
    "after=-1", "after=abc", "after=", "after=1.5", "after=null", "after=9223372036854775808", "after=1&after=2",
    "after=%00", "after=%zz", "before=1", "agent=", "agent=%00", "agent=" + "x" * 129, "agent=a&agent=b", "x=1",
)  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
async def test_a_query_that_says_something_else_is_400(hub: Served, query: str) -> None:
    answer = await asyncio.to_thread(exchange, hub, handshake(hub, f"/ws/agents?{query}"))
    assert answer is not None
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")


# -- how many, how fast ----------------------------------------------------------------------------------


async def test_there_are_no_more_sockets_than_the_hub_allows(tmp_path: Path) -> None:
    async with served(tmp_path / "small", max_sockets=2) as hub:
        async with hub.socket() as one, hub.socket() as other:
            await hello(one)
            await hello(other)
            status, headers, error = await handshake_refusal(hub.socket())
            assert (status, error["code"], headers["retry-after"]) == (503, "overloaded", "5")
        await until(lambda: hub.hub.relay.subscriptions() == 0)
        async with hub.socket() as socket:
            await hello(socket)


async def test_many_at_once_are_not_more_than_the_hub_allows(tmp_path: Path) -> None:
    async with served(tmp_path / "small", max_sockets=3) as hub, hub.client() as http:
        one = await register(http, "one")

        async def attempt() -> int:
            try:
                async with hub.socket(one.headers) as socket:
                    await hello(socket)
                    await enough.wait()
            except InvalidStatus as refused:
                return refused.response.status_code
            return 101

        enough = asyncio.Event()
        attempts = [asyncio.create_task(attempt()) for _ in range(12)]
        await until(lambda: sum(task.done() for task in attempts) == 9)
        enough.set()
        assert sorted(await asyncio.gather(*attempts)) == [101] * 3 + [503] * 9


async def test_an_agent_that_goes_too_fast_is_refused_at_the_handshake(tmp_path: Path) -> None:
    async with served(tmp_path / "slow", rate_per_second=0.001, rate_burst=1) as hub, hub.client() as http:
        one = await register(http, "one")
        async with hub.socket(one.headers) as socket:
            await hello(socket)
        status, headers, error = await handshake_refusal(hub.socket(one.headers))
        assert (status, error["code"]) == (429, "rate_limited")
        assert int(headers["retry-after"]) > 0


# -- sent away -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["revoke", "renew", "delete"])
async def test_the_end_of_a_token_closes_its_sockets(hub: Served, http: httpx.AsyncClient, end: str) -> None:
    one, other = await register(http, "one"), await register(http, "other")
    async with (
        hub.socket(one.headers) as mine,
        hub.socket(one.headers) as mine_too,
        hub.socket(other.headers) as theirs,
    ):
        for socket in (mine, mine_too, theirs):
            await hello(socket)
        match end:
            case "revoke":
                await http.delete(f"/v1/agents/{one.id}/token")
            case "renew":
                await http.post(f"/v1/agents/{one.id}/token")
            case _:
                await http.delete(f"/v1/agents/{one.id}")
        assert await farewell(mine) == await farewell(mine_too) == ENDED
        assert (await pong(theirs))["type"] == "pong"
        status, *_ = await handshake_refusal(hub.socket(one.headers))
        assert status == 401


async def test_a_socket_that_was_being_admitted_while_its_token_ended_is_closed(
    hub: Served, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await register(http, "one")
    still_here = hub.hub.agents.still_here

    async def meanwhile(agent_ids: list[str]) -> None:
        await still_here(agent_ids)
        await hub.hub.access.revoke_all(Principal("operator", "t-test"), one.id)

    monkeypatch.setattr(hub.hub.agents, "still_here", meanwhile)
    status, _, error = await handshake_refusal(hub.socket(one.headers))
    assert (status, error["code"]) == (401, "unauthorized")
    assert hub.hub.relay.subscriptions() == 0


async def test_without_tokens_the_end_of_an_agent_closes_its_own_socket(open_hub: Served) -> None:
    async with open_hub.client() as http:
        one = await register(http, "one")
        async with open_hub.socket(agent="one") as own, open_hub.socket() as all_of_it:
            await hello(own)
            await hello(all_of_it)
            await http.delete(f"/v1/agents/{one.id}")
            code, reason = await farewell(own)
            assert (code, reason) == (4404, "this agent was deleted")
            assert (await pong(all_of_it))["type"] == "pong"


async def test_a_hub_that_stops_says_goodbye(tmp_path: Path) -> None:
    async with served(tmp_path / "data") as hub:
        socket = await hub.socket()
        await hello(socket)
    assert (await farewell(socket))[0] in (1001, 1012)


async def test_the_operator_is_sent_away_when_its_token_is_replaced(hub: Served) -> None:
    async with hub.socket() as socket:
        await hello(socket)
        await hub.hub.access.adopt_operator_token("rook_op_another")
        assert await farewell(socket) == ENDED


async def test_the_greeting_comes_first(hub: Served, http: httpx.AsyncClient) -> None:
    one = await register(http, "one")
    async with hub.socket(one.headers, after=0) as socket:
        assert (await frame(socket))["type"] == "connected"
