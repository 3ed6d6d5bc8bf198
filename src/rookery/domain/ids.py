"""Identifiers: slugs that people can say for agents, time-sortable ids for messages."""

from collections.abc import Callable, Container

ADJECTIVES = (
    "swift", "clever", "bold", "calm", "eager", "gentle", "happy", "keen", "lucky", "mighty",
    "noble", "quick", "sharp", "wise", "brave", "bright", "cool", "fair", "grand", "jolly",
)  # fmt: skip
ANIMALS = (
    "fox", "owl", "bear", "wolf", "hawk", "deer", "lynx", "seal", "crow", "dove",
    "hare", "lion", "otter", "panda", "raven", "tiger", "viper", "whale", "zebra", "badger",
)  # fmt: skip

OPERATOR = "operator"
"""The one human. Not an agent: nothing can register under this id."""

HUB = "hub"
"""The sender of notices that the hub writes itself."""

BROADCAST = "broadcast"
"""The address of everybody, and the conversation that holds what was said there."""

_CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = tuple(first + second for first in _CROCKFORD for second in _CROCKFORD)


def agent_slug(pick: int, taken: Container[str]) -> str:
    """The slug for a random number: `swift-fox`, or `swift-fox-2` once the pair is taken.

    Ids are never reused, so `taken` must hold those of deleted agents too.
    """
    adjective = ADJECTIVES[pick % len(ADJECTIVES)]
    animal = ANIMALS[pick // len(ADJECTIVES) % len(ANIMALS)]
    pair = f"{adjective}-{animal}"
    if pair not in taken:
        return pair
    number = 2
    while f"{pair}-{number}" in taken:
        number += 1
    return f"{pair}-{number}"


class MessageIds:
    """Makes 26-character ids that sort by time, and by order of creation within one millisecond."""

    def __init__(self, random_bits: Callable[[int], int]) -> None:
        self._random_bits = random_bits
        self._last = 0

    def next(self, now: int) -> str:
        # The top bit of the 80 random ones stays clear, so that counting up never carries into the time.
        candidate = (now << 80) | self._random_bits(79)
        self._last = candidate if candidate > self._last else self._last + 1
        return _base32(self._last)


def _base32(value: int) -> str:
    return "".join([_PAIRS[(value >> shift) & 1023] for shift in range(120, -1, -10)])
