"""How a message reads to a model: a line that says who speaks, then the words."""

import re

from rookery.domain.ids import HUB, OPERATOR

_HEADER = re.compile(r"^(?=[^\S\n]*(?:\[From |--- ))", re.MULTILINE)


def framed(sender: str, name: str, content: str) -> str:
    """Nobody can put words into another's mouth: a line that would read as such a header is quoted."""
    if sender == OPERATOR:
        header = "[From the operator]:"
    elif sender == HUB:
        header = "[From the hub]:"
    else:
        header = f'[From agent "{name}"]:'
    return f"{header}\n{_HEADER.sub('> ', content)}"
