"""How a message reads to a model: a line that says who speaks, then the words."""

import re

from rookery.domain.ids import HUB, OPERATOR
from rookery.domain.messages import Pattern

# All that a reader may take for the end of a line.
_BREAKS = "\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029"
# What leaves no mark: other control characters, and what Unicode calls ignorable or shows as nothing.
_UNSEEN = (
    "[\\x00-\\x08\\x0e-\\x1b\\x1f\\x7f-\\x84\\x86-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5"
    "\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0"
    "\\ufff0-\\ufffb\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff]"
)
_BLANK = f"[^\\S{_BREAKS}]"
_HEADS = (
    "[From ", "[Agent Request", "[Agent Notification", "[Delegation Result", "[Delegation Failed", "--- ",
)  # fmt: skip


def _however_spelled(head: str) -> str:
    """The same to the eye: with anything unseen between its letters, and any blank for a blank."""
    return f"{_UNSEEN}*+".join(_BLANK if letter == " " else re.escape(letter) for letter in head)


_HEADER = re.compile(
    rf"(?:\A|(?<=[{_BREAKS}]))"
    rf"(?=(?:{_BLANK}|{_UNSEEN})*+(?:{'|'.join(map(_however_spelled, _HEADS))}))",
    re.IGNORECASE,
)


def quoted(words: str) -> str:
    """Nobody can put words into another's mouth: a line that would read as such a header is quoted."""
    return _HEADER.sub("> ", words)


def framed(sender: str, name: str, content: str, pattern: Pattern | None = None) -> str:
    """What the hub made of a call has its header already, over words that were quoted when it was made."""
    if pattern is not None:
        return content
    if sender == OPERATOR:
        header = "[From the operator]:"
    elif sender == HUB:
        header = "[From the hub]:"
    else:
        header = f'[From agent "{name}"]:'
    return f"{header}\n{quoted(content)}"
