"""`/ws/agents`: who connects, from which position, and who is sent away."""

from collections.abc import Callable

from starlette.types import Receive, Scope, Send

from rookery.domain.errors import Overloaded, RookeryError, Unauthorized
from rookery.domain.events import Entry, TokenRevoked
from rookery.domain.principals import UNGUARDED_OPERATOR, Principal
from rookery.services.hub import Hub
from rookery.surfaces.gate import refuse
from rookery.surfaces.http import bearer, header, parsed_query
from rookery.surfaces.meter import Meter
from rookery.surfaces.websocket.connection import TOKEN_ENDED, Connection
from rookery.surfaces.websocket.frames import Frames
from rookery.surfaces.websocket.protocol import HANG_UP
from rookery.wire.requests import SocketQuery

SUBPROTOCOL = "rookery"
_BEARER = "bearer."


class Sockets:
    def __init__(self, hub: Hub, meter: Meter, *, max_sockets: int) -> None:
        self._hub = hub
        self._meter = meter
        self._max_sockets = max_sockets
        self._frames = Frames()
        self._open: set[Connection] = set()
        hub.relay.watch(self._send_away)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            connection = await self._admit(scope, receive, send)
        except RookeryError as error:
            await refuse(scope, receive, send, error)
            return
        self._open.add(connection)
        self._meter.sockets += 1
        try:
            await receive()  # websocket.connect
            offered = SUBPROTOCOL if SUBPROTOCOL in scope["subprotocols"] else None
            await send({"type": "websocket.accept", "subprotocol": offered})
            await connection.serve()
        except OSError:
            return  # the peer left while something was being written
        finally:
            connection.leave()
            self._open.discard(connection)
            self._meter.sockets -= 1

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> Connection:
        if self._meter.sockets >= self._max_sockets:
            raise Overloaded("sockets", retry_after_ms=5000)
        query = parsed_query(scope["query_string"], SocketQuery)
        principal = await self._hub.access.principal(_secret(scope))
        if principal.is_agent:
            self._hub.access.take_turn(principal)
        listener, concerning = await self._viewpoint(principal, query.agent)
        hang_up: Callable[[], None] | None = scope.get("state", {}).get(HANG_UP)
        if listener != principal.id or principal.is_agent:
            await self._hub.agents.still_here([listener])
        return Connection(
            relay=self._hub.relay,
            subscription=self._hub.relay.subscribe(listener, query.after),
            principal=principal,
            concerning=concerning,
            frames=self._frames,
            meter=self._meter,
            receive=receive,
            send=send,
            hang_up=hang_up,
        )

    async def _viewpoint(self, principal: Principal, agent: str | None) -> tuple[str, str | None]:
        """Whose socket this is, and to whose view it is narrowed.

        The operator only looks over an agent's shoulder. Without tokens there is no other way for an agent to
        say who it is, so there it is taken at its word and the socket is its own.
        """
        if agent is None:
            return principal.id, None
        named = await self._hub.agents.get(agent)
        if principal.is_agent:
            if named.id != principal.id:
                raise Unauthorized(f"This token is not {named.name!r}'s; leave `agent` out to see your own.")
            return principal.id, None
        if principal == UNGUARDED_OPERATOR:
            return named.id, None
        return principal.id, named.id

    def _send_away(self, entry: Entry) -> None:
        if isinstance(entry.fact, TokenRevoked):
            for connection in list(self._open):
                if connection.principal.token_id == entry.fact.token_id:
                    connection.end(TOKEN_ENDED, "this token has ended")


def _secret(scope: Scope) -> str | None:
    """From the Authorization header, or, for browsers, which cannot set one, from an offered subprotocol:
    `new WebSocket(url, ["rookery", "bearer." + token])`. Never from the address, which ends up in logs."""
    for offered in scope["subprotocols"]:
        if offered.startswith(_BEARER):
            return offered.removeprefix(_BEARER)
    return bearer(header(scope, b"authorization"))
