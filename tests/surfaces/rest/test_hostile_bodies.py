"""Bodies that are not what they should be: each is refused in the shape of every refusal, and harms nothing."""

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest

from rookery.wire.routes import BY_NAME, ROUTES, Route
from tests.surfaces.raw import exchange, refused, request
from tests.surfaces.served import PATIENCE, Member, Served

SEND = "/v1/agents/messages/send"
MEGABYTE = 1 << 20
WITH_BODY = [route for route in ROUTES if route.body is not None]
JSON = {"Content-Type": "application/json"}


@pytest.fixture(autouse=True)
def still_healthy(operator: httpx.Client) -> Iterator[None]:
    yield
    assert operator.get("/healthz").status_code == 200


def place(route: Route, agent: str = "one") -> str:
    path = route.path.replace("{agent}", agent).replace("{message_id}", "0" * 26)
    return path.replace("{task}", "task-1").replace("{approval}", "k3m9")


def message(content: str) -> bytes:
    """A send whose content is the given JSON."""
    return b'{"to_agent_id":"other","content":%s}' % content.encode("utf-8", "surrogatepass")


BODIES: dict[str, bytes] = {
    "empty": b"",
    "blank": b"   ",
    "truncated": b'{"to_agent_id":"other","content":"x',
    "trailing garbage": b'{"to_agent_id":"other","content":"x"}}',
    "two documents": b'{"to_agent_id":"other","content":"x"}{}',
    "an array": b'[{"to_agent_id":"other","content":"x"}]',
    "a text": b'"hello"',
    "a number": b"1",
    "null": b"null",
    "NaN": message("NaN"),
    "Infinity": message("Infinity"),
    "-Infinity": message("-Infinity"),
    "NaN in metadata": b'{"to_agent_id":"other","content":"x","metadata":{"n":NaN}}',
    "Infinity in metadata": b'{"to_agent_id":"other","content":"x","metadata":{"n":[Infinity]}}',
    "1e999 in metadata": b'{"to_agent_id":"other","content":"x","metadata":{"n":1e999}}',
    "2^63 in metadata": b'{"to_agent_id":"other","content":"x","metadata":{"n":9223372036854775808}}',
    "-2^63-1 in metadata": b'{"to_agent_id":"other","content":"x","metadata":{"n":-9223372036854775809}}',
    "a huge number in metadata": b'{"to_agent_id":"other","content":"x","metadata":{"n":%s}}' % (b"9" * 10_000),
    "a key twice": b'{"to_agent_id":"other","content":"x","content":"y"}',
    "a key twice by escape": b'{"to_agent_id":"other","content":"x","c\\u006fntent":"y"}',
    "a key twice in metadata": b'{"to_agent_id":"other","content":"x","metadata":{"a":1,"a":2}}',
    "100,000 arrays": b'{"to_agent_id":"other","content":"x","metadata":{"n":'
    + b"[" * 100_000
    + b"]" * 100_000
    + b"}}",
    "100,000 objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "100,000 openings": b"[" * 100_000,
    "a lone surrogate": message(r'"\ud800"'),
    "surrogates the wrong way round": message(r'"\ude00\ud83d"'),
    "a lone surrogate in metadata": b'{"to_agent_id":"other","content":"x","metadata":{"\\ud800":1}}',
    "a raw surrogate": message('"\ud800"'),
    "an escaped NUL": message(r'"a\u0000b"'),
    "an escaped NUL in metadata": b'{"to_agent_id":"other","content":"x","metadata":{"a":["\\u0000"]}}',
    "a raw NUL": message('"a\x00b"'),
    "a raw newline": message('"a\nb"'),
    "a byte order mark": b"\xef\xbb\xbf" + message('"x"'),
    "UTF-16": message('"x"').decode().encode("utf-16"),
    "latin-1": b'{"to_agent_id":"other","content":"caf\xe9"}',
    "an overlong slash": b'{"to_agent_id":"other","content":"\xc0\xaf"}',
    "an unknown field": b'{"to_agent_id":"other","content":"x","colour":"red"}',
    "a field in another case": b'{"to_agent_id":"other","Content":"x"}',
    "a missing field": b'{"to_agent_id":"other"}',
    "an empty content": message('""'),
    "an empty target": b'{"to_agent_id":"","content":"x"}',
    "a long target": b'{"to_agent_id":"%s","content":"x"}' % (b"a" * 129),
    "single quotes": b"{'to_agent_id':'other','content':'x'}",
    "a comment": b'{"to_agent_id":"other","content":"x"}// yes',
    "a trailing comma": b'{"to_agent_id":"other","content":"x",}',
    "a form": b"to_agent_id=other&content=x",
    "a priority that is none": b'{"to_agent_id":"other","content":"x","priority":"asap"}',
    "a ttl of nothing": b'{"to_agent_id":"other","content":"x","ttl_seconds":0}',
    "a ttl of the past": b'{"to_agent_id":"other","content":"x","ttl_seconds":-1}',
    "a ttl beyond reason": b'{"to_agent_id":"other","content":"x","ttl_seconds":1e308}',
    "a ttl of 2^62": b'{"to_agent_id":"other","content":"x","ttl_seconds":4611686018427387904}',
    "a long key": b'{"to_agent_id":"other","content":"x","idempotency_key":"%s"}' % (b"k" * 201),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_body_that_is_no_clear_message_is_400(operator: httpx.Client, other: Member, body: bytes) -> None:
    answer = operator.post(SEND, content=body, headers=JSON)
    error = refused(answer, 400)
    assert error["code"] == "invalid_request"
    assert len(answer.content) < 1000
    assert operator.get(f"/v1/agents/messages/{other.id}/unread").json()["unread_count"] == 0


ANYWHERE = ("truncated", "an array", "a key twice", "100,000 objects", "a lone surrogate", "an escaped NUL",
            "a raw NUL", "a byte order mark", "latin-1", "NaN", "an unknown field", "a form")  # fmt: skip


@pytest.mark.parametrize("route", WITH_BODY, ids=lambda route: route.name)
def test_no_route_takes_such_a_body(operator: httpx.Client, one: Member, other: Member, route: Route) -> None:
    for name in ANYWHERE:
        answer = operator.request(route.method, place(route), content=BODIES[name], headers=JSON)
        assert refused(answer, 400)["code"] == "invalid_request", name


# -- wrong types in every field --------------------------------------------------------------------------

WRONG: list[Any] = [True, 1, 1.5, -1, 2**62, "", "x" * 2000, [], {}, [1], {"a": 1}, None, "nonsense", ["x"]]


def valid(route: Route) -> dict[str, Any]:
    return {
        "send_message": {"to_agent_id": "other", "content": "x"},
        "mark_read": {"message_ids": ["0" * 26]},
        "named_broadcast": {"message": "x"},
        "named_send": {"message": "x"},
        "prune": {"older_than_seconds": 1e6},
        "contact": {"action": "notify", "agent": "other", "message": "x"},
        "sleep": {"seconds": 60},
        "set_rule": {"agent": "one", "target": "other", "permission": "allow"},
        "answer_approval": {"decision": "deny"},
    }.get(route.name, {})


FIELDS = [
    (route, field.encode_name)
    for route in WITH_BODY
    if route.body is not None
    for field in msgspec.structs.fields(route.body)
]


@pytest.mark.parametrize(("route", "field"), FIELDS, ids=lambda each: each if isinstance(each, str) else each.name)
def test_a_wrong_type_is_400_and_never_a_failure(
    operator: httpx.Client, one: Member, other: Member, route: Route, field: str
) -> None:
    for value in WRONG:
        answer = operator.request(route.method, place(route), json=valid(route) | {field: value})
        assert answer.status_code < 500, (value, answer.text)
        if isinstance(value, list | dict | float) and value not in ([], ["x"]) and field not in (
            "metadata", "ttl_seconds", "older_than_seconds", "timeout_seconds", "seconds",
        ):  # fmt: skip
            assert refused(answer, 400)["code"] == "invalid_request", value


# -- content types ---------------------------------------------------------------------------------------

REFUSED_TYPES = (
    "text/plain", "text/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
    "application/json; charset=latin1", "application/json; charset=utf-16", "application/json; charset=utf-8; a=b",
    "application/json, text/plain", "application/jsonx", "application/merge-patch+json", "application/xml", "*/*",
    "", "application/json text/plain", "application/json; boundary=x",
)  # fmt: skip
ACCEPTED_TYPES = (
    "application/json", "Application/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"',
    "application/json;", "application/json; charset=utf8", " application/json ",
)  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED_TYPES)
def test_another_type_is_415(operator: httpx.Client, one: Member, kind: str) -> None:
    for route in (BY_NAME["register_agent"], BY_NAME["heartbeat"], BY_NAME["named_update"]):
        answer = operator.request(route.method, place(route), content=b"{}", headers={"Content-Type": kind})
        assert refused(answer, 415)["data"]["got"] == kind


@pytest.mark.parametrize("kind", ACCEPTED_TYPES)
def test_json_may_be_said_in_several_ways(operator: httpx.Client, kind: str) -> None:
    answer = operator.post(
        "/v1/agents/register", content=b"{}", headers=[(b"Content-Type", kind.strip().encode())]
    )
    assert answer.status_code == 200


def test_no_type_at_all_is_415(shared: Served, one: Member) -> None:
    raw = request(shared, b"POST", b"/v1/agents/register", b"{}", Content_Type=None)
    refused(exchange(shared, raw), 415)


# -- size ------------------------------------------------------------------------------------------------


def test_the_largest_body_is_a_megabyte(operator: httpx.Client, other: Member) -> None:
    frame = len(message('""'))
    fits = operator.post(SEND, content=message(json.dumps("x" * (MEGABYTE - frame))), headers=JSON)
    assert fits.status_code == 200
    answer = operator.post(SEND, content=message(json.dumps("x" * (MEGABYTE - frame + 1))), headers=JSON)
    assert refused(answer, 413) == {
        "code": "too_large",
        "message": "The body is larger than 1,048,576 bytes; send less, or send a path.",
        "data": {"limit": MEGABYTE},
    }
    operator.delete(f"/v1/agents/messages/{other.id}")


@pytest.mark.parametrize("size", [MEGABYTE + 1, 5 * MEGABYTE, 20 * MEGABYTE])
def test_one_who_writes_too_much_gets_to_read_the_answer(operator: httpx.Client, size: int) -> None:
    body = b"x" * size
    for content in (body, (body[n : n + MEGABYTE] for n in range(0, size, MEGABYTE))):
        refused(operator.post(SEND, content=content, headers=JSON), 413)


@pytest.mark.parametrize("length", [b"1048577", b"99999999999", b"9223372036854775807"])
def test_a_body_that_says_it_is_too_large_is_refused_before_it_comes(shared: Served, length: bytes) -> None:
    head = request(shared, b"POST", SEND.encode(), Content_Type=b"application/json", Content_Length=length)
    answer = exchange(shared, head)
    refused(answer, 413)
    assert answer is not None
    assert answer.headers["connection"] == "close"


def test_a_body_in_pieces_is_refused_once_it_is_too_large(shared: Served) -> None:
    head = request(shared, b"POST", SEND.encode(), Content_Type=b"application/json", Transfer_Encoding=b"chunked")
    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    refused(exchange(shared, head, *[piece] * 200), 413)


def test_a_body_in_pieces_is_read_like_any_other(shared: Served, other: Member, operator: httpx.Client) -> None:
    body = message('"in pieces"')
    pieces = [b"%x\r\n%s\r\n" % (1, body[n : n + 1]) for n in range(len(body))]
    head = request(shared, b"POST", SEND.encode(), Content_Type=b"application/json", Transfer_Encoding=b"chunked")
    answer = exchange(shared, head, *pieces, b"0\r\n\r\n")
    assert answer is not None
    assert answer.status_code == 200
    operator.delete(f"/v1/agents/messages/{other.id}")


@pytest.mark.parametrize("length", [b"-1", b"1e3", b"0x10", b"1,1", b"", b"9" * 400])
def test_a_length_that_is_none_is_not_taken(shared: Served, length: bytes) -> None:
    head = request(shared, b"POST", SEND.encode(), Content_Type=b"application/json", Content_Length=length)
    answer = exchange(shared, head + b"{}", half_close=True)
    assert answer is None or answer.status_code in (400, 413)


# -- those who do not finish -----------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [0, 1, 10, -1], ids=["none of it", "a byte", "ten bytes", "all but a blank"])
def test_one_who_leaves_in_the_middle_of_its_body_leaves_nothing(
    shared: Served, other: Member, operator: httpx.Client, sent: int
) -> None:
    body = message('"never finished"') + b" "
    whole = request(shared, b"POST", SEND.encode(), body)
    start = shared.hub.store.report().position
    with socket.create_connection(("127.0.0.1", shared.port), timeout=PATIENCE) as connection:
        connection.sendall(whole[: len(whole) - len(body)] + body[:sent])
    page = operator.get("/v1/events", params={"after": start, "wait": 0.3}).json()
    # Others share this hub, and may fall silent just now.
    assert [event for event in page["events"] if event["type"] != "agent_status_changed"] == []


def test_one_who_leaves_before_the_answer_has_still_sent(
    shared: Served, other: Member, operator: httpx.Client
) -> None:
    asked = threading.Event()
    with socket.create_connection(("127.0.0.1", shared.port), timeout=PATIENCE) as connection:
        connection.sendall(request(shared, b"POST", SEND.encode(), message('"and gone"')))
        asked.set()
    position, found = 0, False
    while not found:  # the long poll ends with the news
        query = {"after": position, "limit": 1000, "wait": 20}
        page = operator.get("/v1/events", params=query).json()
        assert page["events"], "the message never came"
        found = any(event.get("content") == "and gone" for event in page["events"])
        position = page["position"]
    operator.delete(f"/v1/agents/messages/{other.id}")


def test_a_slow_body_does_not_hold_up_others(shared: Served, operator: httpx.Client) -> None:
    whole = request(shared, b"POST", SEND.encode(), message('"slow"'))
    slow = [socket.create_connection(("127.0.0.1", shared.port), timeout=PATIENCE) for _ in range(50)]
    try:
        for connection in slow:
            connection.sendall(whole[:-1])
        assert operator.get("/v1/status").status_code == 200
    finally:
        for connection in slow:
            connection.close()


@pytest.mark.parametrize("missing", [1, 20, None], ids=["the last byte", "the end", "all of it"])
def test_a_body_that_does_not_come_is_given_up(
    shared: Served, monkeypatch: pytest.MonkeyPatch, missing: int | None
) -> None:
    monkeypatch.setattr("rookery.surfaces.bodies._PATIENCE", 0.05)
    body = message('"slow"')
    whole = request(shared, b"POST", SEND.encode(), body)
    error = refused(exchange(shared, whole[: -(missing or len(body))]), 400)
    assert "did not arrive" in error["message"]
