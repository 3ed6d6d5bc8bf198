"""Facts as JSON. The type is the name of the class in snake case; the data are its fields."""

import re
from functools import cache
from typing import Any, get_args

import msgspec

from rookery.domain.events import Fact


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


_CLASSES: dict[str, type[Any]] = {_snake_case(fact.__name__): fact for fact in get_args(Fact)}
_TYPES: dict[type[Any], str] = {fact: name for name, fact in _CLASSES.items()}
_encode = msgspec.json.Encoder().encode


def fact_row(fact: Fact) -> tuple[str, str, str | None]:
    """Its type, its data, and the id of the one message it is about, if it is about one."""
    return _TYPES[type(fact)], _encode(fact).decode(), getattr(fact, "message_id", None)


def fact_json(fact: Fact) -> str:
    return _encode(fact).decode()


@cache
def _decoder(kind: str) -> msgspec.json.Decoder[Fact]:
    return msgspec.json.Decoder(_CLASSES[kind])


def fact_from(kind: str, data: str) -> Fact:
    """Raises KeyError for a type nobody knows, ValueError for data that are not of that type."""
    return _decoder(kind).decode(data)
