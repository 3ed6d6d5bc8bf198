"""The live journal over a WebSocket, without the socket: where to connect, what a frame means, when to retry.

A cursor is all the state there is. It moves with each event that was handed on, so that a connection which
breaks is resumed exactly after it: nothing is missed, and what comes twice is dropped.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

import msgspec

from rookery.client.call import not_a_hub, refusal_in
from rookery.client.exchange import Session
from rookery.client.hub import Event
from rookery.wire.errors import ERRORS, ErrorBody, RookeryError, error_from

MOST_BYTES: Final = 64 << 20
PING_EVERY: Final = 20.0
_NOT_EVENTS: Final = ("connected", "pong")
_FINAL: Final = {
    translation.close: code for code, translation in reversed(ERRORS.items()) if 4400 <= translation.close < 4429
}
"""Close codes that trying again would not change."""
_TRY_AGAIN: Final = ("rate_limited", "overloaded", "storage_unavailable", "hub_stopping")


@dataclass(slots=True)
class Stream:
    """`after` None starts now. `up` once the hub has said hello. `on_gap` is told why, each time the
    connection is lost, and with None once it is back."""

    session: Session
    after: int | None = None
    agent: str | None = None
    on_gap: Callable[[str | None], None] | None = None
    up: bool = field(default=False, init=False)
    _was_up: bool = field(default=False, init=False)
    _attempt: int = field(default=0, init=False)
    _in_gap: bool = field(default=False, init=False)
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.session.clock()

    def url(self) -> str:
        asked = {"after": self.after, "agent": self.agent}
        said = urlencode({name: value for name, value in asked.items() if value is not None})
        return self.session.address.socket_url() + (f"?{said}" if said else "")

    def headers(self) -> dict[str, str]:
        token = self.session.address.token
        return {"Authorization": f"Bearer {token}"} if token else {}

    def event(self, frame: str | bytes) -> Event | None:
        """The event in a frame, if it is one that was not seen before."""
        try:
            event = msgspec.json.decode(frame, type=Event)
        except msgspec.DecodeError as exc:
            raise not_a_hub(f"a frame makes no sense: {exc}") from exc
        position = event.get("position")
        if event.get("type") == "connected":
            self._connected()
        if not isinstance(position, int) or (self.after is not None and position <= self.after):
            return None
        self.after = position
        return None if event.get("type") in _NOT_EVENTS else event

    def lost(self, why: str) -> float:
        """How long to wait before connecting again. Raises HubUnreachable for a hub that never was there, or
        did not come within the client's patience; one that was there is waited for without end."""
        waited = self.session.clock() - self._started
        if not self._was_up and (not self.session.worth_waiting() or waited > self.session.patience):
            raise self.session.unreachable(why)
        return self._pause(why)

    def closed(self, code: int, reason: str) -> float:
        """The hub, or the network, ended the connection. Raises what is final: a token that ended, say."""
        if code in _FINAL:
            raise error_from(ErrorBody(_FINAL[code], f"The hub closed the stream: {reason}.", {}))
        return self._pause(reason or f"closed with code {code}")

    def refused(self, status: int, body: bytes) -> float:
        """The handshake was answered with an error."""
        error = refusal_in(body) or self._foreign(status)
        if error.code not in _TRY_AGAIN and not (error.code == "hub_unreachable" and self._was_up):
            raise error
        told = error.data.get("retry_after_ms")
        return max(self._pause(error.message), told / 1000 if isinstance(told, int | float) else 0.0)

    def _foreign(self, status: int) -> RookeryError:
        return not_a_hub(f"HTTP {status} from {self.session.address.url}")

    def _connected(self) -> None:
        self._attempt = 0
        self.up = self._was_up = self.session.reached = True
        if self._in_gap and self.on_gap is not None:
            self.on_gap(None)
        self._in_gap = False

    def _pause(self, why: str) -> float:
        if not self._in_gap and self.on_gap is not None:
            self.on_gap(why)
        self._in_gap = True
        self.up = False
        self.session.address = self.session.directions.follow()
        pause = self.session.pause(self._attempt)
        self._attempt += 1
        return pause
