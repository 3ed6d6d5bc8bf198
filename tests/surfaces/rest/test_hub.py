"""The hub itself: health, counters, status, pruning, export."""

import asyncio
import json
import re
from pathlib import Path

import httpx
import pytest

import rookery
from rookery.stores.tables.writer import Writer
from tests.services.house import until
from tests.surfaces.served import PATIENCE, Served, register, served
from tests.surfaces.shapes import TIME, refusal

SEND = "/v1/agents/messages/send"


# -- health ----------------------------------------------------------------------------------------------


async def test_health_needs_no_token(hub: Served) -> None:
    async with hub.client(headers={}) as http:
        answer = await http.get("/healthz")
    assert (answer.status_code, answer.json()) == (
        200,
        {"ok": True, "status": "ok", "version": rookery.__version__},
    )


async def test_a_full_disk_is_no_health(http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Writer, "full", True)
    answer = await http.get("/healthz")
    assert (answer.status_code, answer.json()["error"]["code"]) == (507, "storage_full")


async def test_the_status_says_what_the_hub_is_and_holds(
    hub: Served, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    one = await register(http, "one")
    await http.post(SEND, json={"to_agent_id": "one", "content": "hi"})
    async with hub.socket(one.headers) as socket:
        await socket.recv()
        told = (await http.get("/v1/status", headers=one.headers)).json()
    size = told.pop("bytes")
    assert size > 4096
    assert told == {
        "ok": True, "version": rookery.__version__, "store": "sqlite", "data": str(tmp_path / "data"),
        "position": 5,
        "messages": 1, "full": False, "agents": 1, "online": 1, "sockets": 1, "approvals": 0, "auth": "token",
        "started_at": TIME,
    }  # fmt: skip


async def test_an_unguarded_hub_says_so(open_hub: Served) -> None:
    async with open_hub.client() as http:
        assert (await http.get("/v1/status")).json()["auth"] == "none"


async def test_a_long_poll_is_not_counted_as_a_socket(hub: Served, http: httpx.AsyncClient) -> None:
    position = (await http.get("/v1/events")).json()["position"]
    asking = asyncio.create_task(http.get("/v1/events", params={"after": position, "wait": 60}))
    await until(hub.hub.relay.subscriptions)
    assert (await http.get("/v1/status")).json()["sockets"] == 0
    await register(http, "news")
    assert (await asking).status_code == 200


# -- counters --------------------------------------------------------------------------------------------

SAMPLE = re.compile(r'(?P<name>[a-z_]+)(?:{(?P<labels>[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*)})? (?P<value>\S+)')
METRICS = {
    "rookery_http_answers_total": "counter", "rookery_http_answer_seconds_total": "counter",
    "rookery_gate_refusals_total": "counter", "rookery_http_in_flight": "gauge", "rookery_sockets": "gauge",
    "rookery_socket_frames_total": "counter", "rookery_sockets_fell_behind_total": "counter",
    "rookery_journal_position": "gauge", "rookery_store_messages": "gauge", "rookery_store_bytes": "gauge",
    "rookery_store_commits_total": "counter", "rookery_store_works_total": "counter",
    "rookery_store_waiting": "gauge", "rookery_store_full": "gauge",
}  # fmt: skip


def exposition(text: str) -> tuple[dict[str, str], dict[str, float]]:
    """The types and the samples of a Prometheus text; fails the test where it is not one."""
    types: dict[str, str] = {}
    helped: set[str] = set()
    samples: dict[str, float] = {}
    assert text.endswith("\n")
    for line in text.splitlines():
        match line.split(" ", 3):
            case ["#", "HELP", name, description]:
                assert description
                assert name not in helped, "described twice"
                helped.add(name)
            case ["#", "TYPE", name, kind]:
                assert kind in ("counter", "gauge")
                assert name in helped
                assert (kind == "counter") == name.endswith("_total")
                types[name] = kind
            case _:
                sample = SAMPLE.fullmatch(line)
                assert sample, line
                assert sample["name"] in types, "a sample before its type"
                key = line.rpartition(" ")[0]
                assert key not in samples, "the same sample twice"
                samples[key] = float(sample["value"])
    assert helped == set(types)
    return types, samples


async def test_the_counters_are_a_prometheus_text(hub: Served, http: httpx.AsyncClient) -> None:
    one = await register(http, "one")
    await http.get("/v1/agents/ghost")
    await http.get("/v1/agents", headers={"Host": "evil.example"})
    async with hub.socket(one.headers) as socket:
        await socket.recv()
        await http.post(SEND, json={"to_agent_id": "one", "content": "hi"})
        await socket.recv()
        answer = await http.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    types, samples = exposition(answer.text)
    assert types == METRICS
    assert samples['rookery_http_answers_total{route="register_agent",status="200"}'] == 1
    assert samples['rookery_http_answers_total{route="get_agent",status="404"}'] == 1
    assert samples['rookery_gate_refusals_total{code="host_refused"}'] == 1
    assert samples['rookery_http_answer_seconds_total{route="send_message"}'] > 0
    assert samples["rookery_http_in_flight"] == 1
    assert samples["rookery_sockets"] == 1
    assert samples["rookery_socket_frames_total"] >= 1
    assert samples["rookery_store_messages"] == 1
    assert samples["rookery_store_full"] == 0


async def test_large_counts_are_exact(http: httpx.AsyncClient) -> None:
    await register(http, "one")
    for _ in range(4):
        await http.post(SEND, json={"to_agent_id": "one", "content": "x" * 500_000})
    told = (await http.get("/v1/status")).json()
    _, samples = exposition((await http.get("/metrics")).text)
    assert told["bytes"] > 1_000_000
    assert samples["rookery_store_bytes"] == told["bytes"]


# -- pruning and export ----------------------------------------------------------------------------------


async def test_finished_messages_are_pruned(http: httpx.AsyncClient) -> None:
    one = await register(http, "one")
    ids = [
        (await http.post(SEND, json={"to_agent_id": "one", "content": f"{n}"})).json()["message_id"]
        for n in range(3)
    ]
    await http.post(f"/v1/agents/messages/one/{ids[0]}/complete", headers=one.headers)
    await http.post(f"/v1/agents/messages/one/{ids[1]}/complete", json={"status": "dead"}, headers=one.headers)
    for body, pruned in (
        ({"older_than_seconds": 3600}, 0),
        ({"older_than_seconds": 0, "folders": ["dead"]}, 1),
        ({"older_than_seconds": 0}, 1),
    ):
        # A message of this very millisecond is not older than now.
        while (told := (await http.post("/v1/prune", json=body)).json())["pruned"] < pruned:
            pass
        assert told == {"ok": True, "pruned": pruned, "message": f"Removed {pruned} message(s) for good"}
    assert (await http.get(f"/v1/messages/{ids[0]}")).json() == refusal("message_not_found", message_id=ids[0])
    assert (await http.get(f"/v1/messages/{ids[2]}")).status_code == 200


async def test_the_export_is_all_data_as_json_lines(http: httpx.AsyncClient) -> None:
    await register(http, "one")
    await http.post(SEND, json={"to_agent_id": "one", "content": "ünï\ncode"})
    answer = await http.get("/v1/export")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    assert answer.headers["cache-control"] == "no-store"
    records = [json.loads(line) for line in answer.text.splitlines()]
    kinds = [record["record"] for record in records]
    assert {"agent", "message", "delivery", "token", "event"} <= set(kinds)
    (message,) = [record for record in records if record["record"] == "message"]
    assert message["content"] == "ünï\ncode"
    assert sum(kind == "event" for kind in kinds) == (await http.get("/v1/status")).json()["position"]


async def test_a_reader_that_stops_reading_an_export_does_not_keep_the_hub_from_stopping(tmp_path: Path) -> None:
    hub_stops = asyncio.timeout(None)
    async with hub_stops, served(tmp_path / "data", farewell=0.1, max_body=2 << 20) as hub, hub.client() as http:
        await register(http, "one")
        for _ in range(12):  # more than the sockets' buffers hold, and fewer records than are read ahead
            await http.post(SEND, json={"to_agent_id": "one", "content": "x" * 2_000_000})
        reader, writer = await asyncio.open_connection("127.0.0.1", hub.port, limit=1024)
        request = (
            f"GET /v1/export HTTP/1.1\r\nHost: {hub.host}\r\nAuthorization: Bearer {hub.operator_token}\r\n\r\n"
        )
        writer.write(request.encode())
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        hub_stops.reschedule(asyncio.get_running_loop().time() + PATIENCE)
    writer.transport.abort()
