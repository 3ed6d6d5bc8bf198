"""The client for ordinary programs: each call returns when the hub has answered."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack
from weakref import finalize

import httpx

from rookery.client.address import Directions
from rookery.client.agents import register
from rookery.client.call import call_of
from rookery.client.exchange import Answer, Pause, Request, Session, Step, Steps
from rookery.client.operation import Blocking
from rookery.client.operations import Operations
from rookery.client.stream import Stream
from rookery.client.transport import Registration, heard, http_options, lines_of, lost, timeouts, unheard

if TYPE_CHECKING:
    from rookery.client.listening import Listening

T = TypeVar("T")


class Client(Operations, Blocking):
    """Finds the hub by itself: what is given here, else `ROOKERY_URL` and `ROOKERY_TOKEN`, else the data
    directory.

    `timeout` is for one attempt, `patience` for a call with all its repetitions, both in seconds. Calls are
    repeated when that is safe: a restart of the hub in the middle of things is survived. `id` and `name` are
    the agent's, on a client that `register` made.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        data: Path | str | None = None,
        timeout: float = 30.0,
        patience: float = 15.0,
    ) -> None:
        directions = Directions(url, token, Path(data).expanduser() if data is not None else None)
        self.session = Session(directions, patience)
        self.timeout = timeout
        self.name = ""
        self.token = token
        self._http = httpx.Client(**http_options(self.session.address, timeout))
        self._owner: object = None
        self._listenings: set[Listening] = set()
        finalize(self, self._http.close)

    @property
    def id(self) -> str:
        return self.me()

    def register(self, **wanted: Unpack[Registration]) -> "Client":
        """A new agent, as a client of its own: with its token, and its inbox as the one that calls mean."""
        made = self.run(register(self.session, **wanted))
        return self.bound(made.agent_id, made.name, made.token)

    def bound(self, agent_id: str, name: str, token: str | None) -> "Client":
        """A client for an agent, over the same connections: closing this one closes it too."""
        agent = object.__new__(Client)
        directions = Directions(self.session.directions.url, token, self.session.directions.data)
        agent.session = Session(directions, self.session.patience, agent_id, self.session.reached)
        agent.timeout, agent.name, agent.token, agent._http = self.timeout, name, token, self._http
        agent._listenings = self._listenings
        agent._owner = self  # its connections are closed when it is forgotten
        return agent

    def listen(
        self,
        *,
        after: int | None = None,
        agent: str | None = None,
        on_gap: Callable[[str | None], None] | None = None,
    ) -> "Listening":
        """Events as they happen, from now on or from everything after a position; for ever, across restarts
        of the hub. Connected when this returns: what happens from here on is in the stream. `agent` is for
        the operator: what that agent sees. End it with `close`, or use it in a `with` block."""
        from rookery.client.listening import Listening

        listening = Listening(Stream(self.session, after, agent, on_gap))
        self._listenings.difference_update([each for each in self._listenings if each.closed])
        self._listenings.add(listening)
        return listening

    def export(self) -> Iterator[dict[str, Any]]:
        """All data, record by record. For the operator."""
        request = Request(self.session.address, call_of("export", object))
        try:
            with self._http.stream("GET", request.url, headers=request.headers) as response:
                if response.status_code >= 400:
                    raise unheard(self.session, response.status_code, response.read())
                yield from lines_of(response.iter_lines())
        except httpx.TransportError as exc:
            raise self.session.unreachable(f"the export broke off: {lost(exc).why}") from exc

    def run(self, steps: Steps[T]) -> T:
        answer: Answer = None
        try:
            step = next(steps)
            while True:
                answer = self._carried_out(step)
                step = steps.send(answer)
        except StopIteration as end:
            return end.value

    def _carried_out(self, step: Step) -> Answer:
        match step:
            case Pause(seconds):
                time.sleep(seconds)
                return None
            case Request():
                try:
                    response = self._http.request(
                        step.call.method, step.url, content=step.call.content, headers=step.headers,
                        timeout=timeouts(self.timeout, step.call.patient),
                    )  # fmt: skip
                except httpx.TransportError as exc:
                    return lost(exc)
                return heard(response)

    def close(self) -> None:
        """Ends the streams of events too, also those of its agents."""
        for listening in list(self._listenings):
            listening.close()
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
