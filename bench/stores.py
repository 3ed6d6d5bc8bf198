"""Filled stores, each made once and used by all measures that ask for it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from bench.children import Child

Filled = tuple[str, int]
"""The kind of store and the number of messages."""

_AT_ONCE = 2


class Stores:
    def __init__(self, place: Path, say: Callable[[str], None]) -> None:
        self._place = place
        self._say = say
        self._made: dict[Filled, Path] = {}

    def make(self, wanted: Sequence[Filled]) -> None:
        """Fill those that are not there yet, the largest first, two at a time."""
        missing = sorted(set(wanted) - self._made.keys(), key=lambda filled: -filled[1])
        running: list[tuple[Filled, Child]] = []
        try:
            while missing or running:
                while missing and len(running) < _AT_ONCE:
                    filled = missing.pop(0)
                    running.append((filled, self._start(filled)))
                for filled, child in list(running):
                    if child.ended(0.2):
                        self._made[filled] = self._directory(filled)
                        running.remove((filled, child))
        finally:
            for _, child in running:
                child.kill()

    def filled(self, kind: str, messages: int) -> Path:
        self.make([(kind, messages)])
        return self._made[kind, messages]

    def _start(self, filled: Filled) -> Child:
        kind, messages = filled
        self._say(f"filling a {kind} store with {messages:,} messages")
        directory = self._directory(filled)
        log = directory.with_name(f"{directory.name}-filling.log")
        return Child("bench.filling", kind, str(directory), str(messages), log=log)

    def _directory(self, filled: Filled) -> Path:
        return self._place / f"{filled[0]}-{filled[1]}"
