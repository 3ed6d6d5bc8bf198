"""The little of ASGI and HTTP that every surface needs: headers, credentials, answers."""

import re
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Scope, Send

from rookery.domain.errors import InvalidRequest, RookeryError, Unauthorized
from rookery.wire.errors import error_response, translate
from rookery.wire.strict_json import converted, refuse_odd_text

T = TypeVar("T")

Headers = list[tuple[bytes, bytes]]

JSON: Headers = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]
_LISTS = frozenset({"message_ids"})
_NO_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_encoder = msgspec.json.Encoder()


def header(scope: Scope, name: bytes) -> str | None:
    """The value of a header, or None. One that stands twice is refused: proxies differ on which one counts."""
    values = [text for key, text in scope["headers"] if key == name]
    if len(values) > 1:
        raise twice(name)
    return values[0].decode("latin-1") if values else None


def twice(name: bytes) -> InvalidRequest:
    return InvalidRequest(f"The header {name.decode('latin-1')!r} stands twice; send it once.")


def bearer(value: str | None) -> str | None:
    """The secret in an Authorization header; None when there is no such header."""
    if value is None:
        return None
    scheme, _, secret = value.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise Unauthorized("The Authorization header must read 'Bearer <token>'.")
    return secret.strip()


def idempotency_key(value: bytes | None) -> str | None:
    if value is None:
        return None
    if not 1 <= len(value) <= 200 or not all(33 <= byte <= 126 for byte in value):
        raise InvalidRequest("Idempotency-Key must be 1 to 200 visible ASCII characters.")
    return value.decode()


def parsed_query(text: bytes, shape: type[T]) -> T:
    """The query as that type. A parameter that is unknown, odd or given twice is refused; lists may be
    repeated or separated by commas."""
    found: dict[str, Any] = {}
    if text:
        try:
            if _NO_ESCAPE.search(text):
                raise ValueError(text)
            pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=2000)
        except ValueError as exc:
            raise InvalidRequest("The query is not valid percent-encoded UTF-8.") from exc
        for name, value in pairs:
            refuse_odd_text(value)
            if name in _LISTS:
                found.setdefault(name, []).extend(part for part in value.split(",") if part)
            elif name in found:
                raise InvalidRequest(f"The parameter {name[:80]!r} is given twice; say it once.")
            else:
                found[name] = value
    asked = converted(found, shape, from_text=True)
    for name in found:
        if getattr(asked, name) is None:  # "null" was read as nothing, which a query says by leaving it out
            raise InvalidRequest(f"The parameter {name!r} cannot be null; leave it out.")
    return asked


async def answer(send: Send, status: int, headers: Headers, body: bytes, *, end: bool = True) -> None:
    """`end` False leaves the exchange open: one more empty body ends it."""
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*headers, (b"content-length", b"%d" % len(body))],
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": not end})


def encoded(value: Any) -> bytes:
    return _encoder.encode(value)


def refusal(error: RookeryError) -> tuple[int, Headers, bytes]:
    """How an error leaves by HTTP."""
    return translate(error).http, [*JSON, *refusal_headers(error)], encoded(error_response(error))


def refusal_headers(error: RookeryError) -> Headers:
    status = translate(error).http
    extra: Headers = []
    if status == 401:
        extra.append((b"www-authenticate", b"Bearer"))
    if status == 413:
        # The rest of the body is not waited for, so nothing else can follow on this connection.
        extra.append((b"connection", b"close"))
    retry = error.data.get("retry_after_ms")
    if isinstance(retry, int):
        extra.append((b"retry-after", b"%d" % max(1, -(-retry // 1000))))
    allowed = error.data.get("allowed")
    if status == 405 and isinstance(allowed, list):
        extra.append((b"allow", ", ".join(map(str, allowed)).encode()))  # pyright: ignore[reportUnknownArgumentType]
    return extra
