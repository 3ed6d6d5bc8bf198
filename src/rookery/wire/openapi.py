"""The OpenAPI document, made from the table of routes."""

import re
from collections import defaultdict
from typing import Any

import msgspec

from rookery.wire.errors import ERRORS, ErrorResponse
from rookery.wire.requests import PLAIN_TEXT, NoQuery
from rookery.wire.routes import ROUTES, Route

_PLACE = re.compile(r"{(\w+)}")
_PLACES = {
    "agent": ("An agent's id or name.", 128),
    "channel": ("A channel's name, with or without its '#' (which a path spells %23).", 128),
    "message_id": ("A message id.", 64),
    "task": ("A task's id, such as task-7, or its number.", 64),
    "approval": ("An approval's id.", 64),
}


def openapi_document(version: str) -> dict[str, Any]:
    shapes = [ErrorResponse, *{shape: None for route in ROUTES for shape in _shapes(route)}]
    schemas, components = msgspec.json.schema_components(shapes, ref_template="#/components/schemas/{name}")
    schema_of = dict(zip(shapes, schemas, strict=True))
    paths: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for route in ROUTES:
        paths[route.path][route.method.lower()] = _operation(route, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Rookery",
            "version": version,
            "description": "A switchboard for AI coding agents: addresses, durable inboxes, receipts.",
        },
        "paths": dict(paths),
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _shapes(route: Route) -> list[Any]:
    body = [route.body] if route.body is not None else []
    return [*body, route.response]


def _operation(route: Route, schema_of: dict[Any, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "tags": [route.tag],
        "parameters": [*_path_parameters(route), *_query_parameters(route), *_header_parameters(route)],
        "responses": {
            "200": {
                "description": "Done",
                "content": {route.media.split(";")[0]: {"schema": schema_of[route.response]}},
            },
            **_refusals(route),
        },
        "security": [{}] if route.open else [{"token": []}, {}],
    }
    if route.body is not None:
        operation["requestBody"] = {
            "required": not route.optional_body,
            "content": {"application/json": {"schema": schema_of[route.body]}},
        }
    return operation


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {
            "name": place,
            "in": "path",
            "required": True,
            "description": _PLACES[place][0],
            "schema": {"type": "string", "minLength": 1, "maxLength": _PLACES[place][1], **PLAIN_TEXT},
        }
        for place in _PLACE.findall(route.path)
    ]


def _query_parameters(route: Route) -> list[dict[str, Any]]:
    if route.query is NoQuery:
        return []
    (schema,), components = msgspec.json.schema_components([route.query], ref_template="{name}")
    shape = components[schema["$ref"]]
    required = shape.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _plain(field)}
        for name, field in shape["properties"].items()
    ]


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A query cannot say null: leaving the parameter out says it."""
    choices = [choice for choice in schema.get("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        return choices[0]
    plain = {key: value for key, value in schema.items() if not (key == "default" and value is None)}
    if None in plain.get("enum", []):
        plain["enum"] = [value for value in plain["enum"] if value is not None]
    return plain


def _header_parameters(route: Route) -> list[dict[str, Any]]:
    if not route.keyed:
        return []
    return [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "description": "The same message under the same key is stored once.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
        }
    ]


def _refusals(route: Route) -> dict[str, Any]:
    by_status: defaultdict[int, list[str]] = defaultdict(list)
    for code in route.error_codes():
        by_status[ERRORS[code].http].append(code)
    shape = {"$ref": "#/components/schemas/ErrorResponse"}
    by_name = {"$ref": "#/components/schemas/NamedSendResponse"}
    schema = {"anyOf": [shape, by_name]} if route.name == "named_send" else shape
    return {
        str(status): {
            "description": ", ".join(sorted(set(codes))),
            "content": {"application/json": {"schema": schema}},
        }
        for status, codes in sorted(by_status.items())
    }
