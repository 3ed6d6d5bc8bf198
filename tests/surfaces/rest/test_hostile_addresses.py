"""Paths, queries and headers that are not what they should be."""

from collections.abc import Iterator

import httpx
import pytest

from rookery.wire.routes import ROUTES
from tests.surfaces.raw import exchange, refused, request
from tests.surfaces.served import Member, Served

SEND = "/v1/agents/messages/send"


@pytest.fixture(autouse=True)
def still_healthy(operator: httpx.Client) -> Iterator[None]:
    yield
    assert operator.get("/healthz").status_code == 200


# -- paths -----------------------------------------------------------------------------------------------

NAMES: dict[str, bytes] = {
    "parent": b"..",
    "escaped parent": b"%2e%2e",
    "parents": b"..%2f..%2fetc%2fpasswd",
    "slash": b"a%2Fb",
    "backslash": b"..%5c..%5cwindows",
    "NUL": b"%00",
    "NUL within": b"one%00",
    "newline": b"one%0aHost:%20evil",
    "semicolon": b"one;admin=true",
    "percent": b"%",
    "half an escape": b"%2",
    "no escape": b"%zz",
    "double escape": b"%252e%252e",
    "long": b"a" * 5_000,
    "a long number": b"9" * 5_000,
    "another number": b"%D9%A1",
    "longer": b"a" * 60_000,
    "japanese": "日本".encode(),
    "escaped japanese": b"%E6%97%A5%E6%9C%AC",
    "no UTF-8": b"%ff%fe",
    "surrogate": b"%ed%a0%80",
    "overlong": b"%c0%ae%c0%ae",
    "emoji": b"%F0%9F%98%80",
    "right to left": b"%E2%80%AEeno",
    "space": b"%20",
    "plus": b"+",
    "quote": b"'%20OR%20'1'='1",
    "brackets": b"%7Bagent%7D",
    "dot": b".",
    "query in it": b"one%3fa=b",
    "fragment": b"one%23x",
    "colon": b"http:%2f%2fevil",
}
PLACES = [
    (route.method.encode(), route.path)
    for route in ROUTES
    if "{" in route.path and route.body is None and route.name != "delete_agent"
]


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_no_name_is_anything_but_a_name(shared: Served, one: Member, name: bytes) -> None:
    for method, path in PLACES:
        for place in ("{agent}", "{message_id}", "{channel}", "{task}", "{approval}"):
            if place not in path:
                continue
            target = path.encode().replace(place.encode(), name)
            target = target.replace(b"{agent}", b"one").replace(b"{message_id}", b"0" * 26)
            answer = exchange(shared, request(shared, method, target))
            assert answer is not None
            if answer.headers.get("content-type") == "application/json":
                refused(answer, 400, 404, 405)
            else:
                # What is no HTTP at all never reaches the hub.
                assert (answer.status_code, answer.text) == (400, "Invalid HTTP request received.")


@pytest.mark.parametrize(
    "target",
    [b"//v1/agents", b"/v1//agents", b"/v1/agents//one", b"/v1/../v1/agents", b"/./v1/agents", b"/V1/AGENTS",
     b"/v1/agents;x", b"/v1/agents%20", b"/v1/agents%00", b"/v1%2fagents%2fone%2f..", b"/\\v1\\agents", b"/%"],
)  # fmt: skip
def test_a_path_is_taken_as_it_is_written(shared: Served, target: bytes) -> None:
    refused(exchange(shared, request(shared, b"GET", target)), 400, 404)


@pytest.mark.parametrize("target", [b"/" + b"a" * 70_000, b"*", b"", b"v1/agents", b"http://"])
def test_a_target_that_is_no_path_is_4xx(shared: Served, target: bytes) -> None:
    answer = exchange(shared, request(shared, b"GET", target))
    assert answer is None or 400 <= answer.status_code < 500


def test_an_absolute_address_does_not_replace_the_host(shared: Served) -> None:
    raw = request(shared, b"GET", b"http://evil.example/v1/agents")
    answer = exchange(shared, raw)
    assert answer is not None
    assert answer.status_code in (200, 400, 404, 421)
    raw = request(shared, b"GET", f"http://{shared.host}/v1/agents".encode(), Host=b"evil.example")
    refused(exchange(shared, raw), 421)


# -- queries ---------------------------------------------------------------------------------------------

INBOX = "/v1/agents/messages/one"
QUERIES = [
    *((INBOX, f"limit={value}") for value in (
        "0", "-1", "1001", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" * 5000, "abc",
        "", "1.5", "007", "0x10", "1_0", "%20", "%2B5", "true", "null", "NaN", "%EF%BC%91", "%D9%A1", "[1]",
    )),
    *((INBOX, f"{name}={value}") for name in ("unread_only", "mark_read", "latest")
      for value in ("", "maybe", "2", "yes", "null", "truetrue", "%00")),
    (INBOX, "folder=inbox"), (INBOX, "folder="), (INBOX, "folder=NEW"), (INBOX, "folder=null"),
    (INBOX, "after="), (INBOX, "after=" + "x" * 65), (INBOX, "after=%00"),
    (INBOX, "limit=1&limit=2"), (INBOX, "limit=1&limit=1"), (INBOX, "unread_only=true&unread_only=false"),
    (INBOX, "colour=red"), (INBOX, "Limit=1"), (INBOX, "limit[]=1"), (INBOX, "limit%00=1"), (INBOX, "=1"),
    (INBOX, "x"),
    (INBOX, "limit=%zz"), (INBOX, "limit=%"), (INBOX, "limit=1%"), (INBOX, "limit=%f"), (INBOX, "%zz=1"),
    ("/v1/search", ""), ("/v1/search", "q="), ("/v1/search", "q=%ff"), ("/v1/search", "q=%00"),
    ("/v1/search", "q=%ed%a0%80"), ("/v1/search", "q=a&q=b"), ("/v1/search", "q=%zz"), ("/v1/search", "q=100%"),
    ("/v1/search", "q=a&agent="), ("/v1/search", "q=a&agent=" + "x" * 129), ("/v1/search", "q=a&limit=0"),
    *(("/v1/events", f"after={value}") for value in (
        "-1", "9223372036854775808", "4611686018427387905", "4611686018427387904", "abc", "1.5", "", "null",
    )),
    *(("/v1/events", f"wait={value}") for value in (
        "-1", "61", "nan", "NaN", "inf", "Infinity", "-inf", "1e999", "abc", "", "null", "-0.1",
    )),
    ("/v1/agents", "limit=1"), ("/healthz", "verbose=1"), ("/v1/status", "&x=1"),
    ("/v1/events", "&".join(f"a{n}=1" for n in range(2001))),
]  # fmt: skip


@pytest.mark.parametrize(("path", "query"), QUERIES, ids=lambda text: text[:40])
def test_a_query_that_says_something_else_is_400(
    shared: Served, one: Member, other: Member, path: str, query: str
) -> None:
    answer = exchange(shared, request(shared, b"GET", f"{path}?{query}".encode()))
    error = refused(answer, 400)
    assert error["code"] == "invalid_request"
    assert len(error["message"]) < 300


def test_a_query_that_is_not_ascii_is_400(shared: Served, one: Member) -> None:
    answer = exchange(shared, request(shared, b"GET", "/v1/search?q=é".encode()))
    assert answer is not None
    assert answer.status_code == 400


@pytest.mark.parametrize("query", ["", "&", "&&", "limit=1&", "limit=1e2", "limit=1000", "unread_only=TRUE"])
def test_a_query_that_is_odd_but_clear_is_taken(shared: Served, one: Member, query: str) -> None:
    answer = exchange(shared, request(shared, b"GET", f"{INBOX}?{query}".encode()))
    assert answer is not None
    assert answer.status_code == 200


@pytest.mark.parametrize("query", ["message=%00", "message=%ff", "message=", "message=a&message=b", "text=a"])
def test_the_test_broadcast_says_only_what_can_be_said(shared: Served, query: str) -> None:
    target = f"/v1/agents/messages/test/broadcast?{query}".encode()
    refused(exchange(shared, request(shared, b"POST", target)), 400)


@pytest.mark.parametrize("query", ["message_ids=%00", "message_ids=%ff", "ids=a", "message_ids=a%"])
def test_a_clearing_that_is_not_clear_clears_nothing(shared: Served, operator: httpx.Client, query: str) -> None:
    member = operator.post("/v1/agents/register", json={}).json()["agent_id"]
    operator.post(SEND, json={"to_agent_id": member, "content": "stays"})
    target = f"/v1/agents/messages/{member}?{query}".encode()
    refused(exchange(shared, request(shared, b"DELETE", target)), 400)
    assert operator.get(f"/v1/agents/messages/{member}/unread").json()["unread_count"] == 1


# -- headers ---------------------------------------------------------------------------------------------

KEYS: dict[str, bytes] = {
    "empty": b"",
    "too long": b"k" * 201,
    "a space": b"two words",
    "a tab": b"two\twords",
    "not ascii": b"caf\xe9",
    "utf-8": "日本".encode(),
    "delete": b"a\x7f",
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
def test_a_key_that_is_none_is_400(shared: Served, other: Member, key: bytes) -> None:
    body = b'{"to_agent_id":"other","content":"x"}'
    answer = exchange(shared, request(shared, b"POST", SEND.encode(), body, Idempotency_Key=key))
    assert answer is not None
    assert answer.status_code == 400
    if answer.headers.get("content-type") == "application/json":
        refused(answer, 400)


def test_the_longest_key_is_two_hundred_visible_characters(
    operator: httpx.Client, one: Member, other: Member
) -> None:
    body = {"to_agent_id": other.id, "content": "x"}
    key = "".join(map(chr, range(33, 127)))[:94].ljust(200, "k")
    assert operator.post(SEND, json=body, headers={"Idempotency-Key": key}).status_code == 200


@pytest.mark.parametrize("name", ["Idempotency-Key", "X-Agent-ID", "Authorization", "Content-Type"])
def test_a_header_that_counts_is_said_once(shared: Served, one: Member, other: Member, name: str) -> None:
    value = {
        "Idempotency-Key": "k", "X-Agent-ID": "one", "Authorization": f"Bearer {shared.operator_token}",
        "Content-Type": "application/json",
    }[name]  # fmt: skip
    body = b'{"to_agent_id":"other","content":"x"}'
    raw = request(shared, b"POST", SEND.encode(), body, **{name.replace("-", "_"): value.encode()})
    twice = raw.replace(b"\r\n", f"\r\n{name}: {value}\r\n".encode(), 1)
    error = refused(exchange(shared, twice), 400)
    assert "stands twice" in error["message"]


@pytest.mark.parametrize("claimed", [b"ghost", b"", b"\xff", b"../one", b"one\tother", b"a" * 5000])
def test_the_operator_cannot_speak_as_nobody(shared: Served, one: Member, other: Member, claimed: bytes) -> None:
    body = b'{"to_agent_id":"other","content":"x"}'
    refused(exchange(shared, request(shared, b"POST", SEND.encode(), body, X_Agent_ID=claimed)), 404)


def test_a_header_cannot_be_smuggled_in_through_an_answer(shared: Served) -> None:
    raw = request(shared, b"POST", b"/v1/agents/register", b"{}", Content_Type=b"text/x\x01\x02")
    answer = exchange(shared, raw)
    assert answer is None or answer.status_code in (400, 415)


def test_very_many_headers_are_no_trouble(shared: Served) -> None:
    raw = request(shared, b"GET", b"/v1/agents")
    crowd = b"".join(b"X-Filler-%d: x\r\n" % n for n in range(500))
    answer = exchange(shared, raw.replace(b"\r\n", b"\r\n" + crowd, 1))
    assert answer is None or answer.status_code in (200, 400, 431)


# -- Host and Origin -------------------------------------------------------------------------------------


def hosts(hub: Served) -> dict[str, list[bytes]]:
    port = f"{hub.port}"
    return {
        "foreign": [b"evil.example"],
        "foreign with our port": [f"evil.example:{port}".encode()],
        "ours without a port": [b"127.0.0.1"],
        "ours with another port": [b"127.0.0.1:1"],
        "a name of ours with another port": [b"localhost:80"],
        "a suffix": [f"localhost:{port}.evil.example".encode()],
        "a prefix": [f"evil.localhost:{port}".encode()],
        "credentials": [f"evil@127.0.0.1:{port}".encode()],
        "another loopback": [f"127.0.0.2:{port}".encode()],
        "decimal": [f"2130706433:{port}".encode()],
        "empty": [b""],
        "missing": [],
        "two of ours": [hub.host.encode(), hub.host.encode()],
        "ours and foreign": [hub.host.encode(), b"evil.example"],
        "foreign and ours": [b"evil.example", hub.host.encode()],
        "a trailing dot": [f"localhost.:{port}".encode()],
        "latin-1": [b"127.0.0.1\xff:" + port.encode()],
    }


HOSTS = (
    "foreign", "foreign with our port", "ours without a port", "ours with another port",
    "a name of ours with another port", "a suffix", "a prefix", "credentials", "another loopback", "decimal",
    "empty", "missing", "two of ours", "ours and foreign", "foreign and ours", "a trailing dot", "latin-1",
)  # fmt: skip


@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize("path", [b"/v1/agents", b"/healthz", b"/", b"/nothing"])
def test_a_host_that_is_not_ours_is_421(shared: Served, name: str, path: bytes) -> None:
    lines = b"".join(b"Host: %s\r\n" % host for host in hosts(shared)[name])
    raw = request(shared, b"GET", path, Host=None).replace(b"\r\n", b"\r\n" + lines, 1)
    answer = exchange(shared, raw)
    assert answer is not None
    if answer.headers.get("content-type") != "application/json":
        assert answer.status_code == 400  # what is no HTTP never reaches the hub
        return
    assert refused(answer, 421)["code"] == "host_refused"


def test_http_1_0_without_a_host_is_421(shared: Served) -> None:
    refused(exchange(shared, b"GET /healthz HTTP/1.0\r\n\r\n"), 421)


@pytest.mark.parametrize("host", ["127.0.0.1:{}", "localhost:{}", "LOCALHOST:{}", "[::1]:{}"])
def test_our_own_addresses_are_known(shared: Served, host: str) -> None:
    answer = exchange(shared, request(shared, b"GET", b"/v1/agents", Host=host.format(shared.port).encode()))
    assert answer is not None
    assert answer.status_code == 200


ORIGINS = (
    "http://evil.example", "https://evil.example", "null", "", "http://127.0.0.1", "http://localhost",
    "http://localhost:1", "http://127.0.0.1:{}.evil.example", "http://evil.example:{}", "file://", "127.0.0.1:{}",
    "ws://127.0.0.1:{}", "http://127.0.0.1:{}/", "http://a@127.0.0.1:{}", "chrome-extension://abc",
)  # fmt: skip


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize(("method", "path"), [(b"GET", b"/v1/agents"), (b"POST", b"/v1/agents/register")])
def test_a_page_from_elsewhere_is_403(shared: Served, origin: str, method: bytes, path: bytes) -> None:
    value = origin.format(shared.port).encode()
    body = b"{}" if method == b"POST" else b""
    error = refused(exchange(shared, request(shared, method, path, body, Origin=value)), 403)
    assert error["code"] == "origin_refused"


def test_two_origins_are_one_too_many(shared: Served) -> None:
    own = f"Origin: http://{shared.host}\r\n".encode()
    raw = request(shared, b"GET", b"/v1/agents", Origin=b"http://evil.example")
    for twice in (raw.replace(b"\r\n", b"\r\n" + own, 1), raw.replace(b"Origin:", own + b"Origin:", 1)):
        refused(exchange(shared, twice), 400, 403)


@pytest.mark.parametrize("origin", ["http://127.0.0.1:{}", "http://localhost:{}", "https://localhost:{}"])
def test_our_own_pages_may_call(shared: Served, origin: str) -> None:
    value = origin.format(shared.port).encode()
    answer = exchange(shared, request(shared, b"GET", b"/v1/agents", Origin=value))
    assert answer is not None
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


def test_a_preflight_is_not_answered(shared: Served) -> None:
    raw = request(
        shared, b"OPTIONS", SEND.encode(), Origin=b"http://evil.example", Access_Control_Request_Method=b"POST"
    )
    answer = exchange(shared, raw)
    refused(answer, 403)
    assert answer is not None
    assert not [name for name in answer.headers if name.startswith("access-control")]
