"""JSON that means one thing to everybody: what parsers disagree about is refused."""

import json
import re
from itertools import accumulate
from typing import Any, NoReturn, TypeVar

import msgspec

from rookery.domain.errors import InvalidRequest

T = TypeVar("T")

MOST_NESTING = 64
_INT64 = 2**63
_LONGEST_REASON = 240
"""A reason repeats names out of the body, which may be long."""


def decoded(body: bytes, shape: type[T]) -> T:
    """The body as that type. Raises InvalidRequest, with the place and the reason, for anything else:
    not UTF-8, NaN and infinities, a key twice, deep nesting, lone surrogates, NUL, integers beyond 64 bits,
    unknown fields, wrong types."""
    return converted(parsed(body), shape)


def parsed(body: bytes) -> Any:
    try:
        text = body.decode()
    except UnicodeDecodeError as exc:
        raise InvalidRequest(f"The body is not UTF-8 (byte {exc.start}).") from exc
    if text.count("{") + text.count("[") > MOST_NESTING:
        _refuse_deep(body)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as exc:
        raise InvalidRequest(f"The body is not JSON: {exc}.") from exc
    except RecursionError as exc:
        raise InvalidRequest(f"The body nests deeper than {MOST_NESTING} levels.") from exc
    if "\\u" in text:
        _refuse_odd_characters(value)
    return value


def converted(value: Any, shape: type[T], *, from_text: bool = False) -> T:
    """`from_text` reads numbers and booleans out of strings, as they come in a query."""
    try:
        return msgspec.convert(value, shape, strict=not from_text)
    except (msgspec.ValidationError, RecursionError) as exc:
        raise InvalidRequest(f"{str(exc)[:_LONGEST_REASON]}.") from exc


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise InvalidRequest(f"The key {twice[:80]!r} stands twice in one object; say it once.")
    return found


def _integer(text: str) -> int:
    # 19 digits are enough for 64 bits; longer ones are not even computed.
    value = int(text) if len(text) <= 20 else _INT64
    if not -_INT64 <= value < _INT64:
        raise InvalidRequest(f"The number {text[:40]} does not fit into 64 bits.")
    return value


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise InvalidRequest(f"The number {text[:40]} is too large.")
    return value


def _constant(text: str) -> NoReturn:
    raise InvalidRequest(f"{text} is not JSON.")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def _refuse_deep(body: bytes) -> None:
    """Before parsing, because a parser that recurses must not see it; in few passes over the whole, because a
    body keeps the hub waiting and a message full of code has thousands of brackets."""
    brackets = _TEXT.sub(b"", body).translate(None, _NO_BRACKETS)
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MOST_NESTING:
        raise InvalidRequest(f"The body nests deeper than {MOST_NESTING} levels.")


# Possessive, and content with an end that is missing: no text makes it look twice at the same byte.
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+', re.DOTALL)
_STEPS = [1 if byte in b"[{" else -1 if byte in b"]}" else 0 for byte in range(256)]
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


def _refuse_odd_characters(value: Any) -> None:
    """Only an escape can bring these in: raw ones are no JSON or no UTF-8."""
    waiting: list[Any] = [value]
    while waiting:
        match waiting.pop():
            case str(text):
                refuse_odd_text(text)
            case {**members}:
                waiting += [*members.keys(), *members.values()]
            case [*members]:
                waiting += members
            case _:
                pass


def refuse_odd_text(text: str) -> None:
    """NUL ends strings elsewhere, and half a surrogate pair is no character at all."""
    if "\x00" in text:
        raise InvalidRequest("A text holds the NUL character; take it out.")
    if not text.isascii() and _HALF_A_PAIR.search(text):
        raise InvalidRequest("A text holds half of a surrogate pair; send whole characters.")


_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
