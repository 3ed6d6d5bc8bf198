"""What both kinds of client need of httpx."""

import ssl
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypedDict

import httpx
import msgspec

from rookery.client.address import Address
from rookery.client.call import not_a_hub, refusal_in
from rookery.client.exchange import Lost, Reply, Session
from rookery.wire.errors import RookeryError
from rookery.wire.requests import Kind, Mode, Role

CONNECT_WITHIN: Final = 5.0


class Registration(TypedDict, total=False):
    """What an agent may say of itself when it registers."""

    name: str | None
    model_name: str | None
    role: Role | None
    kind: Kind | None
    project: str | None
    manager: str | None
    mode: Mode | None


class HttpOptions(TypedDict):
    timeout: httpx.Timeout
    trust_env: bool
    verify: ssl.SSLContext | bool


def http_options(address: Address, timeout: float) -> HttpOptions:
    """A hub on this machine is never asked through a proxy, whatever the environment says.

    Plain HTTP does without the world's certificates, which take a while to load: a context that trusts nobody
    stands in for them, so that a mistake fails instead of being trusted.
    """
    verify = True if address.url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return {"timeout": timeouts(timeout), "trust_env": not address.local, "verify": verify}


def timeouts(timeout: float, held: float = 0.0) -> httpx.Timeout:
    return httpx.Timeout(timeout + held, connect=min(timeout, CONNECT_WITHIN))


def heard(response: httpx.Response) -> Reply:
    return Reply(response.status_code, response.content)


def lost(exc: httpx.TransportError) -> Lost:
    """Only a connection that was never made proves that the request did not arrive."""
    arrived = not isinstance(exc, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
    if isinstance(exc, httpx.TimeoutException):
        return Lost("no answer in time", arrived)
    return Lost(str(exc) or type(exc).__name__, arrived)


def unheard(session: Session, status: int, body: bytes) -> RookeryError:
    return refusal_in(body) or not_a_hub(f"HTTP {status} from {session.address.url}")


def lines_of(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        yield record_in(line)


def record_in(line: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError as exc:
        raise not_a_hub(f"a line of the export makes no sense: {exc}") from exc
