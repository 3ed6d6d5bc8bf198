"""The table of routes: total, unambiguous, and as the documents say."""

import re

import pytest

from rookery.domain.errors import NameRefused
from rookery.domain.names import checked_name
from rookery.surfaces.rest.app import HANDLERS
from rookery.wire.errors import ERRORS
from rookery.wire.requests import Request
from rookery.wire.routes import BY_NAME, ROUTES, Route


def test_every_route_has_a_handler_and_every_handler_a_route() -> None:
    assert set(HANDLERS) == {route.name for route in ROUTES}


def test_no_two_routes_share_a_name_or_an_address() -> None:
    assert len(BY_NAME) == len(ROUTES)
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/agents/register"),
        ("POST", "/v1/agents/messages/send"),
        ("GET", "/v1/agents/messages/{agent}"),
        ("DELETE", "/v1/agents/messages/{agent}"),
        ("GET", "/v1/agents/messages/{agent}/unread"),
        ("GET", "/v1/agents/messages/stats/queue"),
        ("POST", "/v1/agents/messages/test/broadcast"),
        ("GET", "/api/agents"),
        ("POST", "/api/agents/{agent}/messages"),
        ("POST", "/api/agents/broadcast"),
        ("PUT", "/api/agents/{agent}"),
    ],
)
def test_the_calls_of_the_protocol_are_there(method: str, path: str) -> None:
    assert any((route.method, route.path) == (method, path) for route in ROUTES)


def _matches(pattern: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"{\w+}", "[^/]+", pattern), path) is not None


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_no_earlier_path_hides_a_later_one(route: Route) -> None:
    paths = list(dict.fromkeys(each.path for each in ROUTES))
    example = re.sub(r"{\w+}", "x-1", route.path)
    assert next(path for path in paths if _matches(path, example)) == route.path


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_call_that_needs_a_token_says_what_a_token_may_be_refused(route: Route) -> None:
    of_tokens = {"unauthorized", "rate_limited", "sender_forged"}
    assert of_tokens & set(route.error_codes()) == (set() if route.open else of_tokens)
    assert ("idempotency_conflict" in route.error_codes()) == route.keyed


WORDS = sorted({word for route in ROUTES for word in route.path.split("/") if word and "{" not in word})


@pytest.mark.parametrize("route", [each for each in ROUTES if "{agent}" in each.path], ids=lambda each: each.name)
def test_an_agent_that_is_called_like_a_part_of_an_address_is_reached_all_the_same(route: Route) -> None:
    paths = list(dict.fromkeys(each.path for each in ROUTES))
    names = [word for word in WORDS if _can_be_a_name(word)]
    assert "token" in names
    for name in names:
        address = re.sub(r"{\w+}", "01m7kd2t90byc3yhc4vesw6brv", route.path.replace("{agent}", name))
        assert next(path for path in paths if _matches(path, address)) == route.path


def _can_be_a_name(word: str) -> bool:
    try:
        return checked_name(word) == word
    except NameRefused:
        return False


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_route_is_described(route: Route) -> None:
    assert route.summary[0].isupper() or route.summary.startswith("`")
    assert not route.summary.endswith(".")
    assert set(route.error_codes()) <= set(ERRORS)
    assert issubclass(route.query, Request)
    assert route.body is None or issubclass(route.body, Request)
    assert route.body is not None or not route.optional_body
    assert route.body is None or route.method in ("POST", "PUT", "PATCH")


def test_only_what_tells_nothing_is_open() -> None:
    assert {route.name for route in ROUTES if route.open} == {"healthz", "openapi", "docs", "front"}
