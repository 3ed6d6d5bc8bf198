"""Answers too large for the buffer of a connection: sent in parts, and bounded in sum.

A caller that asks for much and does not take it would have the hub hold its answer for ever, and a hundred of
them would fill the memory. So what waits to be taken has a limit in all, and when a new answer does not fit, those
that have waited longest are dropped with their connections. Callers that read are never refused for those that
do not.
"""

import asyncio
import logging

from starlette.types import Receive, Scope, Send

from rookery.surfaces.hang_up import hang_up_of
from rookery.surfaces.http import Headers, answer

PART = 64 << 10
"""Bytes that a connection holds for a slow reader anyway. Answers up to this size are sent at once."""

_log = logging.getLogger(__name__)


class Parcels:
    def __init__(self, most_bytes: int = 32 << 20, patience: float = 30.0) -> None:
        self._most_bytes = most_bytes
        self._patience = patience
        self._held: dict[asyncio.Timeout, int] = {}

    async def deliver(
        self, scope: Scope, receive: Receive, send: Send, status: int, headers: Headers, body: bytes
    ) -> None:
        if len(body) <= PART:
            await answer(send, status, headers, body)
            return
        try:
            async with asyncio.timeout(self._patience) as waiting:
                self._make_room(len(body))
                self._held[waiting] = len(body)
                try:
                    await self._in_parts(waiting, send, status, headers, body)
                finally:
                    self._held.pop(waiting, None)
        except TimeoutError:
            del body
            _log.info("an answer was dropped, for its caller did not take it: %s", scope["path"])
            await _hang_up(scope, receive)

    async def _in_parts(
        self, waiting: asyncio.Timeout, send: Send, status: int, headers: Headers, body: bytes
    ) -> None:
        clock = asyncio.get_running_loop().time
        length = (b"content-length", b"%d" % len(body))
        await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
        for start in range(0, len(body), PART):
            part = body[start : start + PART]
            await send({"type": "http.response.body", "body": part, "more_body": True})
            if waiting in self._held:  # not one that was just asked to make room
                waiting.reschedule(clock() + self._patience)
        await send({"type": "http.response.body", "body": b""})

    def _make_room(self, needed: int) -> None:
        """The deadline of an answer moves on with each part that is taken: the earliest has waited longest."""
        excess = sum(self._held.values()) + needed - self._most_bytes
        now = asyncio.get_running_loop().time()
        for waiting in sorted(self._held, key=_deadline):
            if excess <= 0:
                return
            excess -= self._held.pop(waiting)
            waiting.reschedule(now)


def _deadline(waiting: asyncio.Timeout) -> float:
    return waiting.when() or 0.0


async def _hang_up(scope: Scope, receive: Receive) -> None:
    """The answer was begun and cannot be ended well, so the connection goes with it."""
    hang_up = hang_up_of(scope)
    if hang_up is not None:
        hang_up()
        while (await receive())["type"] != "http.disconnect":
            pass
