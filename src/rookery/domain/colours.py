"""The colour that belongs to a name: the same wherever it is shown."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Colour:
    """`border` is for dots and edges, `background` a tint behind words, `text` for the name itself."""

    name: str
    border: str
    background: str
    text: str


PALETTE = (
    Colour("purple", "#9966cc", "#2a2535", "#b08adb"),
    Colour("teal", "#2aa198", "#1e2e2d", "#5ac4bc"),
    Colour("orange", "#e69500", "#2e2618", "#f0ad4e"),
    Colour("rose", "#d33682", "#2e1e28", "#e05a9e"),
    Colour("lime", "#85c025", "#222e18", "#a0d44a"),
    Colour("coral", "#ff6b6b", "#2e1e1e", "#ff8a8a"),
)


def colour_of(name: str) -> Colour:
    return PALETTE[abs(name_hash(name)) % len(PALETTE)]


def name_hash(name: str) -> int:
    """What 32-bit arithmetic makes of the name, so that a program in JavaScript comes to the same colour."""
    value = 0
    for character in name:
        value = ((value << 5) - value + _first_unit(ord(character))) & 0xFFFF_FFFF
    return value - 0x1_0000_0000 if value & 0x8000_0000 else value


def _first_unit(code: int) -> int:
    """Of the one or two UTF-16 units that a character is to JavaScript."""
    return code if code <= 0xFFFF else 0xD800 + (code - 0x10000 >> 10)
