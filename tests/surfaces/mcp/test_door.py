"""Who gets in by the door for MCP, and how it says no."""

import asyncio
import subprocess
import sys
from pathlib import Path

import httpx
import msgspec
import pytest

from rookery.surfaces.mcp import app
from tests.services.house import FakeClock
from tests.surfaces.mcp.talk import LIST_TOOLS, done, posted, talking
from tests.surfaces.served import Member, Served, register, served
from tests.surfaces.shapes import refusal


async def test_a_token_opens_it(bare: httpx.AsyncClient, janus: Member) -> None:
    answer = await posted(bare, janus)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert len(answer.json()["result"]["tools"]) == 10


@pytest.mark.parametrize("token", [None, "rook_ag_wrong"], ids=["none", "wrong"])
async def test_without_a_valid_token_it_stays_shut(bare: httpx.AsyncClient, token: str | None) -> None:
    answer = await posted(bare, token)
    assert (answer.status_code, answer.json()) == (401, refusal("unauthorized"))
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_revoked_token_is_refused_at_once(
    bare: httpx.AsyncClient, http: httpx.AsyncClient, janus: Member
) -> None:
    assert (await posted(bare, janus)).status_code == 200
    assert (await http.delete(f"/v1/agents/{janus.id}/token")).status_code == 200
    assert (await posted(bare, janus)).status_code == 401


async def test_a_hub_without_tokens_takes_everybody_for_the_operator(open_hub: Served) -> None:
    async with talking(open_hub, None) as session:
        assert (await done(session, "list_agents"))["self"] is None


async def test_a_foreign_host_or_page_is_refused(bare: httpx.AsyncClient, hub: Served, janus: Member) -> None:
    answer = await posted(bare, janus, Host="evil.example")
    assert (answer.status_code, answer.json()) == (421, refusal("host_refused", host="evil.example"))
    answer = await posted(bare, janus, Origin="http://evil.example")
    assert (answer.status_code, answer.json()) == (403, refusal("origin_refused", origin="http://evil.example"))
    assert (await posted(bare, janus, Origin=hub.url)).status_code == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "OPTIONS"])
async def test_another_method_is_405(bare: httpx.AsyncClient, janus: Member, method: str) -> None:
    answer = await bare.request(method, "/mcp", headers=janus.headers)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    if method != "HEAD":
        assert answer.json() == refusal("method_not_allowed", allowed=["POST"])


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
async def test_another_type_of_body_is_415(bare: httpx.AsyncClient, janus: Member, kind: str) -> None:
    answer = await posted(bare, janus, Content_Type=kind)
    assert (answer.status_code, answer.json()) == (415, refusal("unsupported_media_type", got=kind))


async def test_a_body_that_is_too_large_is_413(tmp_path: Path) -> None:
    async with served(tmp_path / "small", max_body=2_000) as hub, hub.client() as http:
        answer = await posted(http, hub.operator_token, b" " * 2_001)
        assert (answer.status_code, answer.json()) == (413, refusal("too_large", limit=2_000))
        padded = msgspec.json.encode(LIST_TOOLS).ljust(2_000)
        assert (await posted(http, hub.operator_token, padded)).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\\u0000"}',
        b"[" * 1_000,
    ],
    ids=["nothing", "not JSON", "NaN", "a key twice", "not UTF-8", "NUL", "deep"],
)
async def test_what_parsers_disagree_about_is_400(bare: httpx.AsyncClient, janus: Member, body: bytes) -> None:
    answer = await posted(bare, janus, body)
    assert (answer.status_code, answer.json()) == (400, refusal("invalid_request"))


@pytest.mark.parametrize("body", [b"7", b"[]", b"{}", b'{"jsonrpc":"2.0","id":1,"method":"tools/eat"}'])
async def test_json_that_is_no_request_is_the_protocols_error(
    bare: httpx.AsyncClient, janus: Member, body: bytes
) -> None:
    answer = await posted(bare, janus, body)
    assert answer.status_code < 500
    assert answer.json()["error"]["code"] < -32000


async def test_an_agents_own_limit_holds_here_too(tmp_path: Path) -> None:
    rules = {"rate_per_second": 1, "rate_burst": 3}
    async with served(tmp_path / "slow", clock=FakeClock(), **rules) as hub, hub.client() as http:
        hasty = await register(http, "hasty")
        assert [(await posted(http, hasty)).status_code for _ in range(4)] == [200, 200, 200, 429]
        answer = await posted(http, hasty)
        assert answer.json() == refusal("rate_limited", retry_after_ms=1000)
        assert answer.headers["retry-after"] == "1"
        assert {(await posted(http, hub.operator_token)).status_code for _ in range(5)} == {200}


async def test_a_call_is_a_sign_of_life(
    bare: httpx.AsyncClient, http: httpx.AsyncClient, clock: FakeClock, janus: Member
) -> None:
    async def last_active() -> str:
        return (await http.get(f"/v1/agents/{janus.id}")).json()["agent"]["last_active"]

    before = await last_active()
    clock.move_on(60_000)
    assert await last_active() == before
    await posted(bare, janus)
    async with asyncio.timeout(20):
        while await last_active() == before:  # the call does not wait for it to be written
            pass


async def test_fifty_calls_at_once_are_all_answered(hub: Served, janus: Member) -> None:
    async with talking(hub, janus) as session:
        async with asyncio.timeout(20):
            told = await asyncio.gather(*(done(session, "list_agents") for _ in range(50)))
    assert [each["self"] for each in told] == ["janus-dev"] * 50


async def test_the_first_callers_may_come_together(bare: httpx.AsyncClient, janus: Member) -> None:
    answers = await asyncio.gather(*(posted(bare, janus) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {200}


async def test_the_hub_stops_while_somebody_is_connected(tmp_path: Path) -> None:
    async with asyncio.timeout(20):
        async with served(tmp_path / "data") as hub:
            connection = hub.client()
            assert (await posted(connection, hub.operator_token)).status_code == 200
        with pytest.raises(httpx.TransportError):
            await posted(connection, hub.operator_token)
        await connection.aclose()


async def test_an_sdk_that_is_missing_stops_neither_the_hub_nor_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_SERVER", "rookery.surfaces.mcp.nothing_here")
    async with served(tmp_path / "data") as hub, hub.client() as http:
        for _ in range(2):
            assert (await posted(http, hub.operator_token)).status_code == 500
        assert (await http.get("/healthz")).json()["ok"] is True


NOT_YET = """
import asyncio, sys
from pathlib import Path
from tests.surfaces.served import served

def loaded():
    return sorted({name.partition(".")[0] for name in sys.modules} & {"mcp", "mcp_types", "pydantic"})

async def main():
    async with served(Path(sys.argv[1])) as hub, hub.client() as http:
        await http.get("/v1/agents")
        print(loaded())
        said = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        answer = await http.post("/mcp", json=said, headers={"Accept": "application/json, text/event-stream"})
        print(answer.status_code, loaded())

asyncio.run(main())
"""


def test_the_sdk_is_loaded_when_somebody_comes_and_not_before(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", NOT_YET, str(tmp_path / "data")],
        cwd=root, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["[]", "200 ['mcp', 'mcp_types', 'pydantic']"], done.stderr
