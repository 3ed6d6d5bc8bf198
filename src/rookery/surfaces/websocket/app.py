"""`/ws/agents`: who connects, from which position, and who is sent away."""

from starlette.types import Receive, Scope, Send

from rookery.domain.errors import Forbidden, InvalidRequest, Overloaded, RookeryError
from rookery.domain.events import AgentDeleted, Entry, TokenRevoked
from rookery.domain.principals import UNGUARDED_OPERATOR, Principal
from rookery.services.hub import Hub
from rookery.surfaces.gate import refuse
from rookery.surfaces.hang_up import hang_up_of
from rookery.surfaces.http import bearer, header, parsed_query
from rookery.surfaces.meter import Meter
from rookery.surfaces.websocket.connection import AGENT_GONE, TOKEN_ENDED, Connection
from rookery.surfaces.websocket.frames import Frames
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
        if self._meter.sockets >= self._max_sockets:
            await refuse(scope, receive, send, Overloaded("sockets", retry_after_ms=5000))
            return
        # Counted from here on, for many may be on their way in at once.
        self._meter.sockets += 1
        try:
            await self._serve(scope, receive, send)
        finally:
            self._meter.sockets -= 1

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            connection = await self._admitted(scope, receive, send)
        except RookeryError as error:
            await refuse(scope, receive, send, error)
            return
        try:
            await receive()  # websocket.connect
            offered = SUBPROTOCOL if SUBPROTOCOL in scope["subprotocols"] else None
            await send({"type": "websocket.accept", "subprotocol": offered})
            await connection.serve()
        except OSError:
            return  # the peer left while something was being written
        finally:
            self._see_off(connection)

    async def _admitted(self, scope: Scope, receive: Receive, send: Send) -> Connection:
        secret = _secret(scope)
        connection = await self._admit(scope, receive, send, secret)
        self._open.add(connection)
        try:
            # Asked once more: a token that ended on the way in found no socket to close.
            await self._hub.access.principal(secret)
        except BaseException:
            self._see_off(connection)
            raise
        return connection

    def _see_off(self, connection: Connection) -> None:
        connection.leave()
        self._open.discard(connection)

    async def _admit(self, scope: Scope, receive: Receive, send: Send, secret: str | None) -> Connection:
        query = parsed_query(scope["query_string"], SocketQuery)
        principal = await self._hub.access.principal(secret)
        if principal.is_agent:
            self._hub.access.take_turn(principal)
        listener, view = await self._viewpoint(principal, query.agent)
        if listener != principal.id or principal.is_agent:
            await self._hub.agents.still_here([listener])
        return Connection(
            relay=self._hub.relay,
            subscription=self._hub.relay.subscribe(listener, query.after, view=view),
            principal=principal,
            frames=self._frames,
            meter=self._meter,
            receive=receive,
            send=send,
            hang_up=hang_up_of(scope),
        )

    async def _viewpoint(self, principal: Principal, agent: str | None) -> tuple[str, str]:
        """Whose socket this is, and whose entries it shows.

        The operator only looks over an agent's shoulder. Without tokens there is no other way for an agent to
        say who it is, so there it is taken at its word and the socket is its own.
        """
        if agent is None:
            return principal.id, principal.id
        named = await self._hub.agents.get(agent)
        if principal.is_agent:
            if named.id != principal.id:
                refused = Forbidden(f"This token is not {named.name!r}'s; leave `agent` out to see your own.")
                await self._hub.access.record_refusal(principal, "socket", refused.message)
                raise refused
            return principal.id, principal.id
        if principal == UNGUARDED_OPERATOR:
            return named.id, named.id
        return principal.id, named.id

    def _send_away(self, entry: Entry) -> None:
        match entry.fact:
            case TokenRevoked(token_id=token_id):
                for connection in self._open:
                    if connection.principal.token_id == token_id:
                        connection.end(TOKEN_ENDED, "this token has ended")
            case AgentDeleted(agent_id=agent_id):
                for connection in self._open:  # only those that were opened without a token are still there
                    if connection.listener == agent_id:
                        connection.end(AGENT_GONE, "this agent was deleted")
            case _:
                pass


def _secret(scope: Scope) -> str | None:
    """From the Authorization header, or, for browsers, which cannot set one, from an offered subprotocol:
    `new WebSocket(url, ["rookery", "bearer." + token])`. Never from the address, which ends up in logs."""
    said = {offered.removeprefix(_BEARER) for offered in scope["subprotocols"] if offered.startswith(_BEARER)}
    in_header = bearer(header(scope, b"authorization"))
    if in_header is not None:
        said.add(in_header)
    if len(said) > 1:
        raise InvalidRequest("The handshake holds different tokens; send one.")
    return said.pop() if said else None
