"""How a message reads to a model: a line that says who speaks, then the words."""

import re

from rookery.domain.ids import HUB, OPERATOR

# All that a reader may take for the end of a line, and what it does not see in front of a word.
_BREAKS = "\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029"
_UNSEEN = f"(?:[^\\S{_BREAKS}]|[\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff])"
_HEADER = re.compile(rf"(?:\A|(?<=[{_BREAKS}]))(?={_UNSEEN}*+(?:\[From |--- ))", re.IGNORECASE)


def framed(sender: str, name: str, content: str) -> str:
    """Nobody can put words into another's mouth: a line that would read as such a header is quoted."""
    if sender == OPERATOR:
        header = "[From the operator]:"
    elif sender == HUB:
        header = "[From the hub]:"
    else:
        header = f'[From agent "{name}"]:'
    return f"{header}\n{_HEADER.sub('> ', content)}"
