"""Reading the journal: from a cursor, as far as the reader may see."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from rookery.domain.events import Entry
from rookery.domain.principals import Principal
from rookery.ports import Store, Transaction
from rookery.services.relay import FellBehind, Relay, beyond_the_end
from rookery.services.waiting import Gone, Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """`position` is the cursor for the next page, even when no entry of this one concerned the reader.

    `more` says that the journal goes on behind it; whether that concerns the reader, the next page tells.
    """

    entries: Sequence[Entry]
    position: int
    more: bool


class Journal:
    def __init__(self, store: Store, relay: Relay, waiting: Waiting) -> None:
        self._store = store
        self._relay = relay
        self._waiting = waiting

    async def page(
        self, by: Principal, *, after: int, limit: int, wait: float = 0.0, gone: Gone | None = None
    ) -> Page:
        """Entries after a position. With `wait`, holds the answer up to that many seconds for a first one, or
        until the caller is gone or the hub stops."""
        page = await self._page(by, after, limit)
        if page.entries or wait <= 0:
            return page
        # What was read may be so new that the relay has yet to hear of it.
        start = min(page.position, self._relay.position)
        subscription = self._relay.subscribe(by.id, start, takes_messages=False)
        try:
            async with asyncio.timeout(wait):
                while not page.entries and await self._waiting.whichever_first(subscription.batch(), gone):
                    page = await self._page(by, page.position, limit)
        except TimeoutError:
            pass
        except FellBehind:  # more news at once than a buffer holds is news all the same
            page = await self._page(by, page.position, limit)
        finally:
            subscription.close()
        return page

    async def _page(self, by: Principal, after: int, limit: int) -> Page:
        def look(tx: Transaction) -> Page:
            end = tx.journal.end()
            if after > end:
                raise beyond_the_end(after, end)
            reader = None if by.is_operator else by.id
            entries = tx.journal.after(after, limit=limit, audience=reader)
            position = entries[-1].position if entries else end
            return Page(entries=entries, position=position, more=position < end)

        return await self._store.read(look)
