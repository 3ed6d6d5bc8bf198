"""The newest journal entries, kept in memory for those who follow closely."""

from collections import deque
from collections.abc import Sequence
from itertools import islice

from rookery.domain.events import Entry

_ENTRIES = 4096
_BYTES = 32 * 1024 * 1024
_OWN_SIZE = 512
"""What an entry costs beside its text."""


class Tail:
    """Only ever touched on the event loop. The positions in it have no gap."""

    def __init__(self, end: int, *, entries: int = _ENTRIES, size: int = _BYTES) -> None:
        self.end = end
        self._entries: deque[Entry] = deque()
        self._sizes: deque[int] = deque()
        self._room = size
        self._most = entries

    def extend(self, entries: Sequence[Entry], sizes: Sequence[int]) -> None:
        self._entries.extend(entries)
        for size in sizes:
            self._sizes.append(size)
            self._room -= size + _OWN_SIZE
        while self._entries and (self._room < 0 or len(self._entries) > self._most):
            self._entries.popleft()
            self._room += self._sizes.popleft() + _OWN_SIZE
        if entries:
            self.end = entries[-1].position

    def forget(self, end: int) -> None:
        """What is in memory no longer tells what is stored; `end` is the newest position now."""
        self._room += sum(self._sizes) + _OWN_SIZE * len(self._sizes)
        self._entries.clear()
        self._sizes.clear()
        self.end = end

    def after(self, position: int) -> Sequence[Entry] | None:
        count = self.end - position
        if count <= 0:
            return ()
        if count > len(self._entries):
            return None
        newest_first = list(islice(reversed(self._entries), count))
        newest_first.reverse()
        return newest_first
