"""What was finished by hand, by moving its file, is followed up like what was finished by a call."""

import asyncio
import logging
from collections.abc import Sequence

from rookery.domain.errors import RookeryError
from rookery.domain.events import Entry, MessageCompleted
from rookery.domain.principals import BY_HAND
from rookery.domain.tasks import FOR_EVER
from rookery.ports import Clock, Store, Transaction
from rookery.services.closing import Closing
from rookery.services.relay import Relay

_AT_START = 1_000
_log = logging.getLogger(__name__)

Finished = tuple[str, str]
"""Message id and recipient."""


class Aftermath:
    def __init__(self, store: Store, clock: Clock, closing: Closing, relay: Relay) -> None:
        self._store = store
        self._clock = clock
        self._closing = closing
        self._following: set[asyncio.Task[None]] = set()
        relay.watch(self._heard)

    async def catch_up(self) -> None:
        """Files may have been moved while the hub was down."""

        def look(tx: Transaction) -> list[Finished]:
            asks = [(ask.message_id, ask.target) for ask in tx.asks.overdue(FOR_EVER, _AT_START)]
            tasks = tx.tasks.recent(party=None, open_only=True, limit=_AT_START)
            return asks + [(task.message_id, task.assignee) for task in tasks if task.message_id is not None]

        await self._follow(await self._store.read(look))

    async def settle(self) -> None:
        """Wait for what is being followed up."""
        await asyncio.gather(*self._following)

    def _heard(self, entry: Entry) -> None:
        if isinstance(entry.fact, MessageCompleted) and entry.token_id == BY_HAND.token_id:
            work = self._follow([(entry.fact.message_id, entry.fact.recipient)])
            task = asyncio.get_running_loop().create_task(work)
            self._following.add(task)
            task.add_done_callback(self._following.discard)

    async def _follow(self, finished: Sequence[Finished]) -> None:
        def work(tx: Transaction) -> None:
            for message_id, recipient in finished:
                self._closing.follow_up(tx, message_id, recipient, by=BY_HAND, now=self._clock.now())

        try:
            if finished:
                await self._store.write(work, frees=True)
        except RookeryError as refusal:
            _log.warning("what was finished by hand could not be followed up: %s", refusal.message)
