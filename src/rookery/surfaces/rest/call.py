"""One request, parsed: what a handler gets."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.types import Receive

from rookery.domain.errors import RookeryError
from rookery.domain.principals import Principal
from rookery.services.hub import Hub
from rookery.surfaces.meter import Meter


@dataclass(slots=True)
class Call:
    """`body` and `query` have the types that the route names. `acting_as` is the X-Agent-ID header: whom the
    operator speaks for. `head_only`: the caller asked for the headers, and will not see what they head. `receive`
    tells of its leaving."""

    hub: Hub
    meter: Meter
    principal: Principal
    path: dict[str, str]
    query: Any
    body: Any
    idempotency_key: str | None
    acting_as: str | None
    head_only: bool
    receive: Receive


@dataclass(frozen=True, slots=True)
class Plain:
    """A body that is not JSON; the route says which media type it has."""

    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal in a shape of its own, with the status that the error has in the table."""

    error: RookeryError
    body: Any
    headers: tuple[tuple[bytes, bytes], ...] = ()


Answer = Any | Plain | Refused | AsyncGenerator[bytes]
Handler = Callable[[Call], Awaitable[Answer]]
