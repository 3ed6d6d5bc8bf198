"""One socket: a cursor in the journal, written out as fast as the peer reads."""

import asyncio
import logging
from collections.abc import Callable

import msgspec
from starlette.types import Message as AsgiMessage
from starlette.types import Receive, Send

from rookery.domain.errors import RookeryError
from rookery.domain.principals import Principal
from rookery.services.relay import FellBehind, Relay, Subscription
from rookery.surfaces.http import encoded
from rookery.surfaces.meter import Meter
from rookery.surfaces.websocket.frames import Frames
from rookery.wire.errors import ERRORS, FELL_BEHIND, translate
from rookery.wire.strict_json import decoded

_log = logging.getLogger(__name__)
_FAREWELL_PATIENCE = 5.0


class Connection:
    """`hang_up` drops the peer at once."""

    def __init__(
        self,
        *,
        relay: Relay,
        subscription: Subscription,
        principal: Principal,
        frames: Frames,
        meter: Meter,
        receive: Receive,
        send: Send,
        hang_up: Callable[[], None] | None,
    ) -> None:
        self._relay = relay
        self._subscription = subscription
        self.principal = principal
        self._frames = frames
        self._meter = meter
        self._receive = receive
        self._send = send
        self._hang_up = hang_up
        self._position = subscription.position
        self._end: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()
        subscription.on_overflow = lambda: self.end(FELL_BEHIND, self._too_slow())

    @property
    def listener(self) -> str:
        """Whose socket it is: an agent's, or the operator's."""
        return self._subscription.listener

    def end(self, code: int, reason: str) -> None:
        """Close the socket from our side, with a reason."""
        if not self._end.done():
            self._end.set_result((code, reason))

    def leave(self) -> None:
        self._subscription.close()

    async def serve(self) -> None:
        """Until the peer leaves, falls behind, or is sent away."""
        await self._say({"type": "connected", "position": self._position, "agent_id": self.listener})
        writing = asyncio.ensure_future(self._write_on())
        reading = asyncio.ensure_future(self._read_on())
        try:
            await asyncio.wait({writing, reading, self._end}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            writing.cancel()
            reading.cancel()
            outcomes = await asyncio.gather(writing, reading, return_exceptions=True)
        if self._end.done():
            await self._farewell(*self._end.result())
            return
        for outcome in outcomes:
            if isinstance(outcome, Exception) and not isinstance(outcome, OSError):
                raise outcome

    async def _write_on(self) -> None:
        try:
            while True:
                for entry in await self._subscription.batch():
                    await self._send({"type": "websocket.send", "text": self._frames.of(entry)})
                    self._meter.frames_sent += 1
                    if entry.message is not None:
                        self._relay.handed_off(self._subscription.listener, (entry,), "websocket")
                    self._position = entry.position
        except FellBehind:
            self.end(FELL_BEHIND, self._too_slow())
        except RookeryError as error:
            _log.warning("a socket of %s was closed: %s", self.principal.id, error.message)
            self.end(translate(error).close, error.message)

    async def _read_on(self) -> None:
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                return
            if _asks_for_pong(message):
                await self._say({"type": "pong", "position": self._position})

    async def _say(self, frame: dict[str, object]) -> None:
        await self._send({"type": "websocket.send", "text": encoded(frame).decode()})

    def _too_slow(self) -> str:
        return f"too slow: resume with ?after={self._position}"

    async def _farewell(self, code: int, reason: str) -> None:
        """The reason reaches a peer that reads again soon; one that does not is dropped."""
        try:
            async with asyncio.timeout(_FAREWELL_PATIENCE):
                await self._send({"type": "websocket.close", "code": code, "reason": _cut(reason)})
                return
        except TimeoutError:
            _log.info("a socket of %s was dropped: %s", self.principal.id, reason)
        except OSError:
            return  # gone meanwhile
        if self._hang_up is not None:
            self._hang_up()


def _cut(reason: str) -> str:
    """A close frame holds 123 bytes of it."""
    return reason.encode()[:123].decode(errors="ignore")


def _asks_for_pong(message: AsgiMessage) -> bool:
    """Peers have nothing to say but `{"type": "ping"}`; anything else is not for us and is passed over."""
    text = message.get("text")
    if not text or len(text) > 1024:
        return False
    try:
        return decoded(text.encode(), _Said).type == "ping"
    except (RookeryError, UnicodeEncodeError):
        return False


class _Said(msgspec.Struct):
    type: str = ""


TOKEN_ENDED = ERRORS["unauthorized"].close
AGENT_GONE = ERRORS["agent_not_found"].close
