"""One call of the hub's API: what is asked, how the answer reads, and whether asking twice is harmless."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from rookery.wire.errors import ErrorBody, ErrorResponse, RookeryError, error_from
from rookery.wire.routes import BY_NAME, Method

T = TypeVar("T")

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """`repeatable`: the hub ends up the same, and nothing is lost to the caller, if the request arrives
    twice. Others are sent again only when the first certainly did not arrive. `patient` is how many seconds the
    hub may hold its answer; `key` makes one call of all that carry it."""

    method: Method
    path: str
    shape: type[T]
    content: bytes | None
    repeatable: bool
    patient: float = 0.0
    key: str | None = None

    def decoded(self, body: bytes) -> T:
        try:
            return msgspec.json.decode(body, type=self.shape)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise not_a_hub(f"its answer to {self.method} {self.path} makes no sense: {exc}") from exc


def call_of(
    route: str,
    shape: type[T],
    *,
    places: Mapping[str, str] | None = None,
    query: Mapping[str, Scalar | list[str]] | None = None,
    body: Any = None,
    repeatable: bool = False,
    patient: float = 0.0,
    key: str | None = None,
) -> Call[T]:
    """`patient` is how long the hub may hold its answer beyond the usual timeout. None in the query means:
    left out."""
    known = BY_NAME[route]
    path = known.path.format_map({name: _place(value) for name, value in (places or {}).items()})
    said = {name: _text(value) for name, value in (query or {}).items() if value is not None}
    if said:
        path += f"?{urlencode(said, doseq=True)}"
    content = None if known.body is None else msgspec.json.encode(body if body is not None else {})
    return Call(known.method, path, shape, content, repeatable or known.method == "GET", patient, key)


def refusal_in(body: bytes) -> RookeryError | None:
    """The hub's own error, as the class it was raised with; None if the answer is not of its making."""
    try:
        return error_from(msgspec.json.decode(body, type=ErrorResponse).error)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def not_a_hub(why: str) -> RookeryError:
    return error_from(
        ErrorBody(
            "hub_unreachable",
            f"What answers there is no Rookery hub ({why}); check the address, or start one with `rook up`.",
            {},
        )
    )


def _place(value: str) -> str:
    if not value or value in (".", ".."):
        raise error_from(
            ErrorBody("invalid_request", f"{value!r} names nothing; give an id or a name.", {"value": value})
        )
    return quote(value, safe="")


def _text(value: Scalar | list[str]) -> str | list[str]:
    if isinstance(value, list):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)
