"""Who is called upon in a text: `@name`, outside code and addresses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

# Code is quoted, not said: fenced blocks (also one that never ends), then spans of equal runs of backticks.
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
# What stands before an `@` in a mail address, a path or another mention is part of that.
_MENTION = re.compile(r"(?<![\w.@/+-])@([A-Za-z0-9._-]{1,64})(?![\w@])")
_TRAILING = "._-"


@dataclass(frozen=True, slots=True)
class Mentions:
    """`found` are ids in the order they were called, each once; `unknown` the names that nobody here has."""

    found: tuple[str, ...]
    unknown: tuple[str, ...]


def mentions_in(text: str, ids: Mapping[str, str]) -> Mentions:
    """`ids` maps the names that can be called upon, in the form in which two names are one, to their ids.

    `@fox.` at the end of a sentence is the fox, unless somebody is called `fox.`.
    """
    said = _SPAN.sub(" ", _FENCED.sub("\n", text))
    found: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for match in _MENTION.finditer(said):
        name = match[1]
        bare = name.rstrip(_TRAILING)
        called = ids.get(name.casefold()) or ids.get(bare.casefold())
        if called is not None:
            found[called] = None
        elif bare:
            unknown[bare] = None
    return Mentions(tuple(found), tuple(unknown))
