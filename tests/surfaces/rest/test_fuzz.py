"""Random bytes and random JSON at every door that takes a body: refused or taken, never a failure."""

import json
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rookery.wire.routes import ROUTES, Route
from tests.surfaces.raw import exchange, request
from tests.surfaces.served import Member, Served

WITH_BODY = [route for route in ROUTES if route.body is not None]

text = st.text(max_size=30)
words = st.sampled_from(
    [
        "one",
        "other",
        "broadcast",
        "#build",
        "operator",
        "done",
        "dead",
        "new",
        "urgent",
        "idle",
        "leader",
        "codex",
        "strict",
        "ask",
        "delegate",
        "notify",
        "allow",
        "deny",
        "approve",
        "completed",
        "*",
        "task-1",
        "",
        "0" * 26,
    ]
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), text, words)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)),
    max_leaves=8,
)


def fuzzed(examples: int) -> settings:
    return settings(
        max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )


@pytest.fixture(scope="module", autouse=True)
def something_there(shared: Served, one: Member) -> None:
    order = {"action": "delegate", "agent": one.id, "message": "build it"}
    with shared.blocking_client() as http:
        assert http.post("/v1/channels", json={"name": "build"}).status_code == 200
        assert http.post("/v1/contact", json=order).json()["task"]["task_id"] == "task-1"


def place(route: Route) -> str:
    path = route.path.replace("{agent}", "one").replace("{message_id}", "0" * 26).replace("{channel}", "build")
    return path.replace("{task}", "task-1").replace("{approval}", "k3m9")


def fields(route: Route) -> list[str]:
    assert route.body is not None
    return [field.encode_name for field in msgspec.structs.fields(route.body)]


def told(answer: httpx.Response | None) -> None:
    assert answer is not None
    body = json.loads(answer.content)
    assert answer.status_code < 500 or body["error"]["code"] == "ask_timed_out", answer.text
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("route", WITH_BODY, ids=lambda route: route.name)
@fuzzed(25)
@given(data=st.data())
def test_random_bytes_are_never_a_failure(
    operator: httpx.Client, one: Member, other: Member, route: Route, data: st.DataObject
) -> None:
    body = data.draw(st.one_of(st.binary(max_size=200), text.map(lambda t: t.encode("utf-8", "surrogatepass"))))
    told(operator.request(route.method, place(route), content=body, headers={"Content-Type": "application/json"}))


@pytest.mark.parametrize("route", WITH_BODY, ids=lambda route: route.name)
@fuzzed(40)
@given(data=st.data())
def test_random_json_is_never_a_failure(
    operator: httpx.Client, one: Member, other: Member, route: Route, data: st.DataObject
) -> None:
    names = st.one_of(st.sampled_from(fields(route)), text)
    body: Any = data.draw(st.one_of(st.dictionaries(names, values, max_size=5), values))
    content = json.dumps(body).encode()  # with NaN, huge integers and lone surrogates, as Python writes them
    told(
        operator.request(route.method, place(route), content=content, headers={"Content-Type": "application/json"})
    )


@fuzzed(150)
@given(data=st.data())
def test_random_addresses_are_never_a_failure(shared: Served, one: Member, data: st.DataObject) -> None:
    visible = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20)
    route = data.draw(
        st.sampled_from([route for route in ROUTES if route.body is None and route.name != "export"])
    )
    place = route.path
    for name in ("{agent}", "{message_id}", "{channel}", "{task}", "{approval}"):
        place = place.replace(name, data.draw(visible))
    target = f"{place}?{data.draw(visible)}" if data.draw(st.booleans()) else place
    answer = exchange(shared, request(shared, route.method.encode(), target.encode()))
    assert answer is None or answer.status_code < 500, answer.text
