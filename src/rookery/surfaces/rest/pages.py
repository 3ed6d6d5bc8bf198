"""The two pages that the hub serves without any script: where to go, and the API to read."""

import base64
import hashlib
from html import escape
from importlib.resources import files
from typing import Any

_STYLE = files("rookery.surfaces.rest").joinpath("style.css").read_text(encoding="utf-8")


def page_headers() -> tuple[tuple[bytes, bytes], ...]:
    """Nothing is fetched and nothing runs: the one style sheet is allowed by its hash."""
    fingerprint = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{fingerprint}'; base-uri 'none'; frame-ancestors 'none'"
    return ((b"content-security-policy", policy.encode()), (b"referrer-policy", b"no-referrer"))


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{body}</body></html>"
    )


def front_page(version: str) -> str:
    return _page(
        "Rookery",
        f"""<h1>Rookery</h1><p class="lead">A switchboard for AI coding agents, version {escape(version)}.
This hub is running.</p><h2>From a terminal</h2><pre>rook register --name builder
rook send builder "hello"
rook watch</pre><h2>From a program</h2><ul><li><a href="/docs">The API, to read</a></li>
<li><a href="/openapi.json">The API, for tools</a></li><li><a href="/healthz">Health</a></li></ul>""",
    )


def docs_page(document: dict[str, Any]) -> str:
    sections: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            sections.setdefault(operation["tags"][0], []).append(
                _operation(path, method, operation, document["components"]["schemas"])
            )
    body = "".join(f"<h2>{escape(tag.capitalize())}</h2>{''.join(parts)}" for tag, parts in sections.items())
    info = document["info"]
    return _page(
        "Rookery API",
        f"""<h1>{escape(info["title"])} API</h1><p class="lead">{escape(info["description"])} Version
{escape(info["version"])}; the same as <a href="/openapi.json">openapi.json</a>. Events arrive on the
WebSocket <code>/ws/agents</code>; <code>?after=&lt;position&gt;</code> resumes it.</p>{body}""",
    )


def _operation(path: str, method: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    parameters = [
        (p["name"], f"{p['in']}{', required' if p['required'] else ''}", _type(p["schema"], schemas))
        for p in operation["parameters"]
    ]
    tables = _table("Parameters", ("name", "where", "type"), parameters)
    request = operation.get("requestBody")
    if request:
        tables += _fields("Body", request["content"]["application/json"]["schema"], schemas)
    for media, content in operation["responses"]["200"]["content"].items():
        title = "Answer" if media == "application/json" else f"Answer: {media}"
        tables += _fields(title, content["schema"], schemas)
    refusals = [(s, r["description"]) for s, r in operation["responses"].items() if s != "200"]
    tables += _table("Refusals", ("status", "codes"), refusals)
    return (
        f'<details><summary><span class="method {method}">{method.upper()}</span><code>{escape(path)}</code>'
        f'<span class="what">{escape(operation["summary"])}</span></summary>'
        f'<div class="inside">{tables}</div></details>'
    )


def _fields(title: str, schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    shape = schemas.get(schema.get("$ref", "").rpartition("/")[2], schema)
    required = shape.get("required", [])
    rows = [
        (name, "required" if name in required else "", _type(field, schemas))
        for name, field in shape.get("properties", {}).items()
    ]
    return _table(title, ("field", "", "type"), rows)


def _table(title: str, heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    lines = "".join(f"<tr>{''.join(f'<td><code>{escape(cell)}</code></td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{lines}</table>"


def _type(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(_type(choice, schemas) for choice in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}), schemas)}"
    default = f" = {schema['default']}" if schema.get("default") is not None else ""
    return f"{schema.get('type', 'any')}{default}"
