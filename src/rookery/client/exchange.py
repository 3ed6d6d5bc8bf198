"""How a call is made and repeated, without making it: steps that a blocking or an async driver carries out.

A generator of steps yields a `Request` and is sent a `Reply` or a `Lost`, or yields a `Pause` and is sent
None; what it returns is the result. So the protocol is written once for both kinds of client.
"""

import random
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from rookery.client.address import Address, Directions
from rookery.client.call import Call, not_a_hub, refusal_in
from rookery.wire.errors import ErrorBody, RookeryError, error_from

T = TypeVar("T")

FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 2.0
_NOTHING_DONE: Final = ("rate_limited", "overloaded")
_PERHAPS_DONE: Final = ("storage_unavailable", "hub_stopping")
_PROXY_TROUBLE: Final = (502, 503, 504)


@dataclass(frozen=True, slots=True)
class Request:
    address: Address
    call: Call[Any]

    @property
    def url(self) -> str:
        return self.address.url + self.call.path

    @property
    def headers(self) -> dict[str, str]:
        said = {"Authorization": f"Bearer {self.address.token}"} if self.address.token else {}
        if self.call.content is not None:
            said["Content-Type"] = "application/json"
        if self.call.key is not None:
            said["Idempotency-Key"] = self.call.key
        return said


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Lost:
    """There was no reply. `arrived` is False only if the hub certainly did not get the request."""

    why: str
    arrived: bool


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


Step = Request | Pause
Answer = Reply | Lost | None
Steps = Generator[Step, Answer, T]


@dataclass(slots=True)
class Session:
    """What one client knows: whom to call, as whom, and how long to keep trying.

    `identity` is the agent's id, `operator`, or None until somebody asks. `patience` is how many seconds a
    call may spend on being repeated.
    """

    directions: Directions
    patience: float = 15.0
    identity: str | None = None
    reached: bool = False
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random
    address: Address = field(init=False)

    def __post_init__(self) -> None:
        self.address = self.directions.follow()

    def worth_waiting(self) -> bool:
        """A hub that nobody ever heard of will not come back."""
        return self.reached or self.address.known

    def pause(self, attempt: int) -> float:
        """Doubles with each attempt; at random between half and all of it, so that a crowd spreads out."""
        return min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt) * (1 + self.chance()) / 2

    def unreachable(self, why: str) -> RookeryError:
        where = self.address.url
        if self.worth_waiting():
            message = f"The hub at {where} cannot be reached ({why}); start it with `rook up`."
        else:
            message = (
                f"No hub is running here: there is no trace of one in {self.directions.directory()} and "
                f"nothing answers at {where}. Start one with `rook up`."
            )
        return error_from(ErrorBody("hub_unreachable", message, {"url": where}))


def exchange(session: Session, call: Call[T]) -> Steps[T]:
    """Make the call and repeat it while that is safe and may help. Raises the hub's refusal as its own class,
    or HubUnreachable.

    A hub that may have the request, and goes away while it holds the answer, is waited for as long as it might
    have held it: what the call waits for goes on when it is back.
    """
    started = session.clock()
    attempt = 0
    patience = session.patience
    while True:
        answer = yield Request(session.address, call)
        if isinstance(answer, Reply) and answer.status < 400:
            session.reached = True
            return call.decoded(answer.body)
        error, pause = _judged(session, call, answer, attempt)
        if _perhaps_begun(answer, error):
            patience = session.patience + call.patient
        if pause is None or session.clock() - started + pause > patience:
            raise error
        yield Pause(pause)
        session.address = session.directions.follow()
        attempt += 1


def _perhaps_begun(answer: Answer, error: RookeryError) -> bool:
    return error.code in _PERHAPS_DONE or (isinstance(answer, Lost) and answer.arrived)


def _judged(session: Session, call: Call[T], answer: Answer, attempt: int) -> tuple[RookeryError, float | None]:
    """The error that stands for the answer, and how long to wait before trying again, if at all."""
    pause = session.pause(attempt)
    match answer:
        case Reply(status, body):
            error = refusal_in(body)
            if error is None and status not in _PROXY_TROUBLE:
                return not_a_hub(f"HTTP {status} from {session.address.url}"), None
            if error is None:
                return session.unreachable(f"HTTP {status}"), pause if call.repeatable else None
            session.reached = True
            told = error.data.get("retry_after_ms")
            asked = told / 1000 + pause / 10 if isinstance(told, int | float) else pause
            if error.code in _NOTHING_DONE or (error.code in _PERHAPS_DONE and call.repeatable):
                return error, asked
            return error, None
        case Lost(why, arrived):
            again = session.worth_waiting() and (call.repeatable or not arrived)
            return session.unreachable(why), pause if again else None
        case None:
            raise AssertionError("a request was answered with nothing")
