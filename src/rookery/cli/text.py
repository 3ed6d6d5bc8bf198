"""Words from others, made safe for a terminal and for the eye."""

import re

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TURNERS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that change the direction of the text around them: they can make it read as something else."""
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x85]")
_UNSEEN_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text without control characters, its line breaks kept and whatever turns it around spelled out.

    A message cannot move the cursor, change colours or fake a line by what a terminal would do with it.
    """
    text = _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))
    return _TURNERS.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def one_line(text: str) -> str:
    """The same for places that have one line only: breaks are shown as signs."""
    return visible(text).replace("\n", " ⏎ ").replace("\t", " ")


def safe_json(text: str) -> str:
    """The same JSON, with the characters that a terminal might act upon as escapes. Those below space are
    escapes in any JSON."""
    return _UNSEEN_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def sized(amount: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"
