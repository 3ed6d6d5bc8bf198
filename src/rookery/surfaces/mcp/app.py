"""`/mcp`: streamable HTTP, one request and one JSON answer at a time; nothing is kept between them."""

import asyncio
import importlib
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from rookery.domain.errors import MethodNotAllowed, RookeryError, UnsupportedMediaType
from rookery.services.hub import Hub
from rookery.surfaces.bodies import read_body
from rookery.surfaces.departures import Departure, departure
from rookery.surfaces.gate import refuse
from rookery.surfaces.http import bearer, header, idempotency_key
from rookery.wire.strict_json import parsed

_SERVER = "rookery.surfaces.mcp.server"


class Door:
    """Checks what every door checks, then lets the SDK answer. The SDK is loaded when somebody comes."""

    def __init__(self, hub: Hub, *, max_body: int) -> None:
        self._hub = hub
        self._max_body = max_body
        self._sessions: asyncio.Future[Any] | None = None
        self._running: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["method"] != "POST":
                raise MethodNotAllowed(scope["method"], scope["path"], ["POST"])
            principal = await self._hub.access.principal(bearer(header(scope, b"authorization")))
            if principal.is_agent:
                self._hub.access.take_turn(principal)
                self._hub.agents.notice(principal)
            key = header(scope, b"idempotency-key")
            scope["rookery.key"] = idempotency_key(None if key is None else key.encode("latin-1"))
            body = await self._body(scope, receive)
        except RookeryError as error:
            await refuse(scope, receive, send, error)
            return
        sessions = await self._manager()
        scope["rookery.principal"] = principal
        with departure(receive) as leaving:
            scope["rookery.departure"] = leaving
            await sessions.handle_request(scope, _again(body, leaving), send)

    async def stop(self) -> None:
        self._over.set()
        if self._running is not None:
            await self._running

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        kind = header(scope, b"content-type") or ""
        if kind.partition(";")[0].strip().lower() != "application/json":
            raise UnsupportedMediaType(kind)
        body = await read_body(receive, self._max_body)
        parsed(body)  # what JSON parsers disagree about is refused here as everywhere
        return body

    async def _manager(self) -> Any:
        if self._sessions is None:
            self._sessions = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._sessions))
        return await asyncio.shield(self._sessions)

    async def _run(self, ready: "asyncio.Future[Any]") -> None:
        """The SDK keeps its tasks in a group that one task has to open and close."""
        try:
            module = await asyncio.to_thread(importlib.import_module, _SERVER)
            manager = module.make_manager(self._hub, self._max_body)
        except Exception as exc:  # told to those who wait; the next one tries again, and the hub still stops
            self._sessions = None
            ready.set_exception(exc)
            return
        async with manager.run():
            ready.set_result(manager)
            await self._over.wait()


def _again(body: bytes, leaving: Departure) -> Receive:
    """The body that was read, once more; then nothing, until the caller is gone."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            await leaving.gone.wait()
            return {"type": "http.disconnect"}
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
