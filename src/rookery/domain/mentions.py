"""Who is called upon in a text: `@name`, outside code and addresses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

# Code is quoted, not said: fenced blocks (also one that never ends), then spans between equal runs of backticks.
# What was taken is not given back (`+` after a quantifier), so that no text takes quadratic time.
_FENCED = re.compile(
    r"^ {0,3}(?:(`{3,}+)[^`\n]*+|(~{3,}+)[^\n]*+)(?:\n|\Z)"
    r".*?(?:^ {0,3}(?(1)\1`*+|\2~*+)[ \t\r]*+$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_BETWEEN_PARAGRAPHS = re.compile(r"\n(?:[ \t\r]*+\n)++")
_BACKTICKS = re.compile(r"(`+)")
# What stands before an `@` in a mail address, a path or another mention is part of that.
_MENTION = re.compile(r"(?<![\w.@/+-])@([A-Za-z0-9._-]{1,64}+)(?![\w@])")
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
    paragraphs = _BETWEEN_PARAGRAPHS.split(_FENCED.sub("\n", text))
    said = "\n\n".join(map(_without_spans, paragraphs))
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


def _without_spans(paragraph: str) -> str:
    """A run of backticks opens a span if an equally long one follows; else it is a slip, and quotes nothing."""
    pieces = _BACKTICKS.split(paragraph)  # what is said stands at even places, the runs between
    last_of = {run: place for place, run in enumerate(pieces) if place % 2}
    said, place = [pieces[0]], 1
    while place < len(pieces):
        if last_of[pieces[place]] > place:
            place = pieces.index(pieces[place], place + 1)
        said.append(pieces[place + 1])
        place += 2
    return " ".join(said)
