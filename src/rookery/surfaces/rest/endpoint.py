"""From bytes to a call and back: one endpoint for each path, one way for all of them."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from time import perf_counter
from typing import Any, cast

from starlette.types import Receive, Scope, Send

from rookery.domain.errors import (
    Forbidden,
    MethodNotAllowed,
    RookeryError,
    SenderForged,
    TooLarge,
    UnsupportedMediaType,
)
from rookery.domain.names import same_name
from rookery.domain.principals import UNGUARDED_OPERATOR, Principal
from rookery.services.hub import Hub
from rookery.services.waiting import CallerGone
from rookery.surfaces.bodies import read_body
from rookery.surfaces.http import (
    JSON,
    Headers,
    answer,
    bearer,
    encoded,
    idempotency_key,
    parsed_query,
    refusal,
    twice,
)
from rookery.surfaces.meter import Meter
from rookery.surfaces.rest.call import Call, Handler, Plain, Refused
from rookery.surfaces.rest.parcels import Parcels
from rookery.wire.errors import translate
from rookery.wire.routes import Route
from rookery.wire.strict_json import decoded, refuse_odd_text

_log = logging.getLogger(__name__)
_FAREWELL_PATIENCE = 2.0
_MOST_UNWANTED = 64 << 20


class Endpoint:
    """Serves every method of one path."""

    def __init__(
        self, served: dict[str, tuple[Route, Handler]], hub: Hub, meter: Meter, parcels: Parcels, max_body: int
    ) -> None:
        self._served = served
        self._parcels = parcels
        self._hub = hub
        self._meter = meter
        self._max_body = max_body
        if "GET" in served:
            self._served["HEAD"] = served["GET"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        method = scope["method"]
        served = self._served.get(method)
        if served is None:
            allowed = sorted(self._served)
            await answer(send, *refusal(MethodNotAllowed(method, scope["path"], allowed)))
            return
        route, handler = served
        status = await self._serve(route, handler, scope, receive, send)
        self._meter.answered(route.name, status, perf_counter() - began)

    async def _serve(self, route: Route, handler: Handler, scope: Scope, receive: Receive, send: Send) -> int:
        principal: Principal | None = None
        try:
            headers = _headers_of_interest(scope)
            principal = await self._principal(route, headers)
            call = Call(
                hub=self._hub,
                meter=self._meter,
                principal=principal,
                path=_path(scope),
                query=parsed_query(scope["query_string"], route.query),
                body=await self._body(route, headers, receive),
                idempotency_key=idempotency_key(headers.get(b"idempotency-key")),
                acting_as=await self._acting_as(principal, headers.get(b"x-agent-id")),
                head_only=scope["method"] == "HEAD",
                receive=receive,
            )
            result = await handler(call)
            if isinstance(result, Refused):
                await self._audit(principal, route, result.error)
        except CallerGone:
            return 499
        except RookeryError as error:
            await self._audit(principal, route, error)
            status, reply_headers, body = refusal(error)
            if isinstance(error, TooLarge):
                await _answer_early(send, receive, status, reply_headers, body)
            else:
                await answer(send, status, reply_headers, body)
            return status
        except Exception:
            # The last resort: the caller gets the error shape, the log gets the cause.
            _log.exception("%s %s failed", scope["method"], route.path)
            status, reply_headers, body = refusal(
                RookeryError("The hub failed on this request; its log says why. Nothing was acknowledged.")
            )
            await answer(send, status, reply_headers, body)
            return status
        return await self._deliver(route, result, scope, receive, send)

    async def _principal(self, route: Route, headers: dict[bytes, bytes]) -> Principal:
        if route.open:
            return UNGUARDED_OPERATOR
        authorization = headers.get(b"authorization")
        secret = bearer(None if authorization is None else authorization.decode("latin-1"))
        principal = await self._hub.access.principal(secret)
        if principal.is_agent:
            self._hub.access.take_turn(principal)
            self._hub.agents.notice(principal)
        return principal

    async def _acting_as(self, principal: Principal, value: bytes | None) -> str | None:
        if value is None:
            return None
        claimed = value.decode("latin-1")
        if not principal.is_operator and claimed != principal.id:
            agent = await self._hub.agents.get(principal.id)
            if same_name(claimed) != same_name(agent.name):
                raise SenderForged(principal.id, claimed)
        return claimed

    async def _body(self, route: Route, headers: dict[bytes, bytes], receive: Receive) -> Any:
        if route.body is None:
            return None
        declared = headers.get(b"content-length", b"")
        if declared.isdigit() and int(declared) > self._max_body:
            raise TooLarge("The body", self._max_body)
        body = await read_body(receive, self._max_body)
        if not body and route.optional_body:
            return route.body()
        kind = headers.get(b"content-type", b"").decode("latin-1")
        media, _, parameters = kind.partition(";")
        if media.strip().lower() != "application/json":
            raise UnsupportedMediaType(kind)
        if parameters and parameters.strip().lower().replace('"', "") not in (
            "charset=utf-8",
            "charset=utf8",
        ):
            raise UnsupportedMediaType(kind)
        return decoded(body, route.body)

    async def _deliver(self, route: Route, result: Any, scope: Scope, receive: Receive, send: Send) -> int:
        if isinstance(result, AsyncGenerator):
            await _deliver_lines(send, route, cast("AsyncGenerator[bytes]", result))
            return 200
        if isinstance(result, Plain):
            status, headers, body = 200, [*_plain_headers(route), *result.headers], result.body
        elif isinstance(result, Refused):
            status = translate(result.error).http
            headers, body = [*JSON, *result.headers], encoded(result.body)
        else:
            status, headers, body = 200, JSON, encoded(result)
        await self._parcels.deliver(scope, receive, send, status, headers, body)
        return status

    async def _audit(self, principal: Principal | None, route: Route, error: RookeryError) -> None:
        """What a valid token may not do is written to the audit trail; a full disk does not hide it."""
        if principal is None or not isinstance(error, Forbidden):
            return
        try:
            await self._hub.access.record_refusal(principal, route.name, error.message)
        except RookeryError as failed:
            _log.warning("a refusal could not be written to the audit trail: %s", failed.message)


_OF_INTEREST = frozenset({b"authorization", b"content-type", b"content-length", b"idempotency-key", b"x-agent-id"})


def _headers_of_interest(scope: Scope) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for key, value in scope["headers"]:
        if key in _OF_INTEREST:
            if key in found:
                raise twice(key)
            found[key] = value
    return found


def _path(scope: Scope) -> dict[str, str]:
    path: dict[str, str] = scope["path_params"]
    for value in path.values():
        refuse_odd_text(value)
    return path


async def _answer_early(send: Send, receive: Receive, status: int, headers: Headers, body: bytes) -> None:
    """Answer one who is still writing, and let it finish, within bounds: a connection that is closed on a writer
    is reset, and the answer is lost with it."""
    await answer(send, status, headers, body, end=False)
    unwanted, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(_FAREWELL_PATIENCE):
            while more and unwanted < _MOST_UNWANTED:
                message = await receive()
                unwanted += len(message.get("body", b""))
                more = message.get("more_body", False)
    await send({"type": "http.response.body", "body": b""})


async def _deliver_lines(send: Send, route: Route, result: AsyncGenerator[bytes]) -> None:
    """What fails after the beginning cannot be answered any more: the connection ends in the middle, so that
    nobody takes the beginning for the whole."""
    await send({"type": "http.response.start", "status": 200, "headers": _plain_headers(route)})
    try:
        async with aclosing(result) as lines:
            async for line in lines:
                await send({"type": "http.response.body", "body": line, "more_body": True})
    except RookeryError as error:
        _log.warning("%s %s ended in the middle: %s", route.method, route.path, error.message)
        return
    await send({"type": "http.response.body", "body": b""})


def _plain_headers(route: Route) -> Headers:
    return [(b"content-type", route.media.encode()), *JSON[1:]]
