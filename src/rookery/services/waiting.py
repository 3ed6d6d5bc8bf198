"""Calls that stay until something has happened, and what becomes of it when the caller leaves."""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from rookery.domain.errors import HubStopping, RookeryError
from rookery.domain.events import ApprovalAnswered, AskEnded, Entry
from rookery.services.relay import Relay

T = TypeVar("T")
Gone = asyncio.Event

_log = logging.getLogger(__name__)


class CallerGone(Exception):
    """Nobody is there to take the answer."""


class Waiting:
    """Whoever waits looks for itself: it is woken when there may be something to see."""

    def __init__(self, relay: Relay, *, grace: float) -> None:
        self._grace = grace
        self._woken: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._present: Counter[str] = Counter()
        self._leaving: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        relay.watch(self._heard)

    def is_awaited(self, key: str) -> bool:
        return self._present[key] > 0

    async def until(
        self,
        key: str,
        look: Callable[[], Awaitable[T | None]],
        *,
        timeout: float,
        gone: Gone | None,
        when_left: Callable[[], Awaitable[object]],
    ) -> T | None:
        """What `look` finds, or None when the time is over. Raises CallerGone and HubStopping.

        When the last who waits under this key has gone, and no one came back in its stead for a while,
        `when_left` is carried out.
        """
        woken = asyncio.Event()
        self._woken[key].add(woken)
        self._present[key] += 1
        left = False
        try:
            async with asyncio.timeout(timeout):
                return await self._watch(woken, look, gone)
        except TimeoutError:
            return await look()
        except (CallerGone, asyncio.CancelledError):
            left = not self._stopping.is_set()
            raise
        finally:
            self._forget(key, woken)
            if left:
                self._part(key, when_left)

    async def _watch(self, woken: asyncio.Event, look: Callable[[], Awaitable[T | None]], gone: Gone | None) -> T:
        leaving = None if gone is None else asyncio.ensure_future(gone.wait())
        waking = asyncio.ensure_future(woken.wait())
        try:
            while True:
                woken.clear()
                found = await look()
                if found is not None:
                    return found
                if self._stopping.is_set():
                    raise HubStopping
                if gone is not None and gone.is_set():
                    raise CallerGone
                if waking.done():
                    waking = asyncio.ensure_future(woken.wait())
                await asyncio.wait(
                    [waking] if leaving is None else [waking, leaving], return_when=asyncio.FIRST_COMPLETED
                )
        finally:
            for task in (waking, leaving):
                if task is not None:
                    task.cancel()

    async def whichever_first(self, event: Coroutine[Any, Any, object], gone: Gone | None) -> bool:
        """Whether the event came before its listener left and before the hub stops. Raises what it raises."""
        coming = asyncio.ensure_future(event)
        ends = [asyncio.ensure_future(each.wait()) for each in (self._stopping, gone) if each is not None]
        try:
            await asyncio.wait([coming, *ends], return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                return False
            coming.result()
            return True
        finally:
            for task in (coming, *ends):
                task.cancel()

    async def stop(self) -> None:
        """Nobody waits any longer; who still does is told that the hub stops, and may come back to it."""
        self.dismiss()
        for task in self._leaving:
            task.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)

    def dismiss(self) -> None:
        self._stopping.set()
        for waiters in self._woken.values():
            for woken in waiters:
                woken.set()

    def _heard(self, entry: Entry) -> None:
        match entry.fact:
            case AskEnded(ask=ask):
                self._wake(ask.message_id)
            case ApprovalAnswered(approval=approval):
                self._wake(approval.id)
            case _:
                pass

    def _wake(self, key: str) -> None:
        for woken in self._woken.get(key, ()):
            woken.set()

    def _forget(self, key: str, woken: asyncio.Event) -> None:
        self._woken[key].discard(woken)
        if not self._woken[key]:
            del self._woken[key]
        self._present[key] -= 1
        if not self._present[key]:
            del self._present[key]

    def _part(self, key: str, when_left: Callable[[], Awaitable[object]]) -> None:
        task = asyncio.get_running_loop().create_task(self._after_grace(key, when_left))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _after_grace(self, key: str, when_left: Callable[[], Awaitable[object]]) -> None:
        await asyncio.sleep(self._grace)
        if self.is_awaited(key):
            return
        try:
            await when_left()
        except RookeryError as refusal:
            _log.warning("what a caller left behind could not be closed: %s", refusal.message)
