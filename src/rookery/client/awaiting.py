"""The client for programs that run an event loop."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, Self, TypeVar, Unpack

import httpx

from rookery.client.address import Directions
from rookery.client.agents import register
from rookery.client.call import call_of
from rookery.client.exchange import Answer, Pause, Request, Session, Step, Steps
from rookery.client.listening import AsyncListening
from rookery.client.operation import Awaiting
from rookery.client.operations import Operations
from rookery.client.stream import Stream
from rookery.client.transport import Registration, heard, http_options, lost, record_in, timeouts, unheard

T = TypeVar("T")


class AsyncClient(Operations, Awaiting):
    """`Client`, with methods to await. Use it in an `async with` block, or `aclose` it."""

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
        self._http = httpx.AsyncClient(**http_options(self.session.address, timeout))
        self._listenings: set[AsyncListening] = set()

    @property
    def id(self) -> str:
        """The agent's, on a client that `register` made, or once `me` was awaited."""
        if self.session.identity is None:
            raise AttributeError("not known yet: await me() first, or register an agent")
        return self.session.identity

    async def register(self, **wanted: Unpack[Registration]) -> "AsyncClient":
        """A new agent, as a client of its own: with its token, and its inbox as the one that calls mean."""
        made = await self.run(register(self.session, **wanted))
        return self.bound(made.agent_id, made.name, made.token)

    def bound(self, agent_id: str, name: str, token: str | None) -> "AsyncClient":
        """A client for an agent, over the same connections: closing this one closes it too."""
        agent = object.__new__(AsyncClient)
        directions = Directions(self.session.directions.url, token, self.session.directions.data)
        agent.session = Session(directions, self.session.patience, agent_id, self.session.reached)
        agent.timeout, agent.name, agent.token, agent._http = self.timeout, name, token, self._http
        agent._listenings = self._listenings
        return agent

    def listen(
        self,
        *,
        after: int | None = None,
        agent: str | None = None,
        on_gap: Callable[[str | None], None] | None = None,
    ) -> AsyncListening:
        """Events as they happen, from the first step of the loop on, or from everything after a position; for
        ever, across restarts of the hub. In an `async with` block it is connected when the block begins."""
        listening = AsyncListening(Stream(self.session, after, agent, on_gap))
        self._listenings.difference_update([each for each in self._listenings if each.closed])
        self._listenings.add(listening)
        return listening

    async def export(self) -> AsyncGenerator[dict[str, Any], None]:
        """All data, record by record. For the operator."""
        request = Request(self.session.address, call_of("export", object))
        try:
            async with self._http.stream("GET", request.url, headers=request.headers) as response:
                if response.status_code >= 400:
                    raise unheard(self.session, response.status_code, await response.aread())
                async for line in response.aiter_lines():
                    yield record_in(line)
        except httpx.TransportError as exc:
            raise self.session.unreachable(f"the export broke off: {lost(exc).why}") from exc

    async def run(self, steps: Steps[T]) -> T:
        answer: Answer = None
        try:
            step = next(steps)
            while True:
                answer = await self._carried_out(step)
                step = steps.send(answer)
        except StopIteration as end:
            return end.value

    async def _carried_out(self, step: Step) -> Answer:
        match step:
            case Pause(seconds):
                await asyncio.sleep(seconds)
                return None
            case Request():
                try:
                    response = await self._http.request(
                        step.call.method, step.url, content=step.call.content, headers=step.headers,
                        timeout=timeouts(self.timeout, step.call.patient),
                    )  # fmt: skip
                except httpx.TransportError as exc:
                    return lost(exc)
                return heard(response)

    async def aclose(self) -> None:
        """Ends the streams of events too, also those of its agents."""
        for listening in list(self._listenings):
            await listening.aclose()
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
