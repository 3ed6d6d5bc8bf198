"""The OpenAPI document: valid, complete, and true to the table of routes."""

import json
from typing import Any

import jsonschema_rs
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

import rookery
from rookery.wire.errors import ERRORS
from rookery.wire.openapi import openapi_document
from rookery.wire.routes import ROUTES, Route
from tests.surfaces.served import Served

DOCUMENT = json.loads(json.dumps(openapi_document("1.2.3")))


def operation(route: Route) -> dict[str, Any]:
    return DOCUMENT["paths"][route.path][route.method.lower()]


async def test_the_hub_serves_it_without_a_token(hub: Served) -> None:
    async with hub.client(headers={}) as http:
        answer = await http.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == json.loads(json.dumps(openapi_document(rookery.__version__)))


def test_it_is_valid_openapi_3_1() -> None:
    OPENAPI_31_VALIDATOR.validate(DOCUMENT)


def test_every_schema_in_it_is_valid() -> None:
    for name, schema in DOCUMENT["components"]["schemas"].items():
        jsonschema_rs.meta.validate(schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"})
        assert name.isidentifier()


def references(node: Any) -> list[str]:
    match node:
        case {"$ref": reference}:
            return [reference]
        case {**members}:
            return [each for member in members.values() for each in references(member)]
        case [*members]:
            return [each for member in members for each in references(member)]
        case _:
            return []


def test_every_reference_leads_somewhere_and_every_schema_is_used() -> None:
    named = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert set(references(DOCUMENT)) == named


def test_it_holds_every_route_and_nothing_else() -> None:
    found = {(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert found == {(route.path, route.method.lower()) for route in ROUTES}


def test_every_operation_has_an_id_of_its_own() -> None:
    assert [operation(route)["operationId"] for route in ROUTES] == [route.name for route in ROUTES]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_status_that_a_route_may_answer_with_is_there(route: Route) -> None:
    wanted = {"200"} | {str(ERRORS[code].http) for code in route.error_codes()}
    assert set(operation(route)["responses"]) == wanted


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_place_in_a_path_is_a_parameter(route: Route) -> None:
    places = [p["name"] for p in operation(route)["parameters"] if p["in"] == "path"]
    assert "".join(f"{{{name}}}" for name in places) == "".join(
        part for part in route.path.split("/") if part.startswith("{")
    )


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_token_is_asked_for_where_one_is_needed(route: Route) -> None:
    assert ({"token": []} in operation(route)["security"]) is not route.open


def test_unknown_fields_are_said_to_be_refused() -> None:
    bodies = {route.body.__name__ for route in ROUTES if route.body is not None}
    for name in bodies:
        assert DOCUMENT["components"]["schemas"][name]["additionalProperties"] is False
