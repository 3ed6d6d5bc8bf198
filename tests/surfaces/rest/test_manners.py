"""What holds for every answer: its type, its headers, its shape when there is nothing, or not that way."""

import re

import httpx
import pytest

from rookery.wire.routes import ROUTES, Route
from tests.surfaces.served import Served, ServedInThread, registered
from tests.surfaces.shapes import refusal

PATHS = {
    path: sorted({route.method for route in ROUTES if route.path == path}) for path in (r.path for r in ROUTES)
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory):
    with ServedInThread(tmp_path_factory.mktemp("manners") / "data") as hub:
        with hub.blocking_client() as http:
            for name in ("one", "other"):
                registered(http, name)
            assert http.put("/v1/permissions", json=BODIES["set_rule"]).status_code == 200
            assert http.post("/v1/channels", json={"name": "build"}).status_code == 200
        yield hub


@pytest.fixture
def http(shared: Served):
    with shared.blocking_client() as http:
        yield http


def place(path: str, http: httpx.Client) -> str:
    """The path with something real in every place: a message, a task, an approval of its own."""
    path = path.replace("{agent}", "one").replace("{channel}", "build")
    if "{message_id}" in path:
        path = path.replace("{message_id}", http.post(SEND, json=BODIES["send_message"]).json()["message_id"])
    if "{task}" in path:
        order = {"action": "delegate", "agent": "one", "message": "walnut"}
        path = path.replace("{task}", http.post("/v1/contact", json=order).json()["task"]["task_id"])
    if "{approval}" in path:
        careful = registered(http, mode="supervised").headers
        held = http.post(SEND, json=BODIES["send_message"], headers=careful).json()["held"]
        path = path.replace("{approval}", held)
    return path


SEND = "/v1/agents/messages/send"
BODIES = {
    "register_agent": {}, "update_agent": {}, "put_agent": {}, "heartbeat": {}, "claim_next": {},
    "send_message": {"to_agent_id": "one", "content": "walnut"}, "complete_message": {},
    "named_broadcast": {"message": "x"}, "named_send": {"message": "x"}, "named_update": {},
    "prune": {"older_than_seconds": 1e6}, "create_channel": {"name": "release"},
    "join_channel": {"agent_id": "one"}, "leave_channel": {"agent_id": "one"},
    "contact": {"action": "notify", "agent": "one", "message": "x"}, "sleep": {"seconds": 60}, "complete_task": {},
    "cancel_task": {}, "set_rule": {"agent": "one", "target": "other", "permission": "deny"},
    "answer_approval": {"decision": "deny"},
}  # fmt: skip
QUERIES = {"search": {"q": "walnut"}, "remove_rule": {"agent": "one", "target": "other"}}
NOT_HERE = ("delete_agent", "new_token", "revoke_tokens", "export")
"""What would disturb the other tests on this hub, or leave threads at work; they are tested elsewhere."""


@pytest.mark.parametrize("route", [route for route in ROUTES if route.name not in NOT_HERE], ids=lambda r: r.name)
def test_every_answer_has_its_type_and_is_not_to_be_kept(http: httpx.Client, route: Route) -> None:
    body = BODIES.get(route.name)
    if route.name == "mark_read":
        body = {"message_ids": [http.post(SEND, json=BODIES["send_message"]).json()["message_id"]]}
    query = QUERIES.get(route.name, {})
    answer = http.request(route.method, place(route.path, http), json=body, params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == route.media
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "server" not in answer.headers
    assert not [name for name in answer.headers if name.startswith("access-control")]
    if route.media == "application/json" and route.name != "openapi" and not route.name.startswith("named_"):
        assert answer.json()["ok"] is True


@pytest.mark.parametrize(
    "route", [r for r in ROUTES if r.method == "GET" and r.name not in NOT_HERE], ids=lambda r: r.name
)
def test_head_answers_like_get_without_a_body(http: httpx.Client, route: Route) -> None:
    path = place(route.path, http)
    query = QUERIES.get(route.name, {})
    head = http.head(path, params=query)
    get = http.get(path, params=query)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == get.headers["content-type"]
    if route.name not in ("metrics", "status"):  # they count what is asked
        assert head.headers["content-length"] == get.headers["content-length"]


METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")


@pytest.mark.parametrize("path", PATHS)
def test_another_method_is_405_with_those_that_there_are(http: httpx.Client, path: str) -> None:
    methods, target = PATHS[path], place(path, http)
    allowed = sorted([*methods, "HEAD"] if "GET" in methods else methods)
    for method in METHODS:
        if method not in methods:
            answer = http.request(method, target)
            assert answer.status_code == 405
            assert answer.headers["allow"] == ", ".join(allowed)
            assert answer.headers["content-type"] == "application/json"
            assert answer.json() == refusal("method_not_allowed", allowed=allowed)


@pytest.mark.parametrize(
    "path",
    ["/v1/channels/", "/v1/channels/build/", "/v1/channels/build/nothing",
     "/nothing", "/v1", "/v1/", "/v1/agents/", "/v2/agents", "/api", "/api/agents/", "/ws/agents", "/ws",
     "/docs/", "/DOCS", "/favicon.ico", "/v1/agents/one/nothing", "/v1/agents/messages/one/two/three",
     "/v1//agents", "//v1/agents", "/../etc/passwd", "/v1/agents/one/heartbeat/"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
def test_where_nothing_is_there_is_404_in_the_shape_of_every_refusal(
    http: httpx.Client, path: str, method: str
) -> None:
    answer = http.request(method, path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"
    if method != "HEAD":
        assert answer.json() == refusal("not_found")


def test_no_slash_is_added_or_taken_by_a_redirect(http: httpx.Client) -> None:
    assert http.get("/v1/agents/", follow_redirects=False).status_code == 404


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_a_page_loads_nothing_and_runs_nothing(shared: Served, path: str) -> None:
    with shared.blocking_client(headers={}) as http:
        answer = http.get(path)
    assert answer.status_code == 200
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", policy["style-src"])
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["referrer-policy"] == "no-referrer"
    page = answer.text
    assert "<script" not in page
    assert not re.search(r"\son\w+=|\sstyle=|javascript:", page)
    assert not re.search(r"(?:src|href|action)=[\"']?(?:https?:)?//", page)
    assert re.findall(r"url\(|@import|<(?:img|link|iframe|object|embed|form|base)\b", page) == []


def test_the_style_is_the_one_that_the_policy_allows(shared: Served) -> None:
    import base64
    import hashlib

    with shared.blocking_client(headers={}) as http:
        answer = http.get("/docs")
    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    fingerprint = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{fingerprint}'" in answer.headers["content-security-policy"]


def test_the_page_shows_every_call(shared: Served) -> None:
    with shared.blocking_client(headers={}) as http:
        page = http.get("/docs").text
    for route in ROUTES:
        assert f"<code>{route.path}</code>" in page
