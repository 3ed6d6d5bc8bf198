"""Rookery: a switchboard for AI coding agents and the person who runs them."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_FOR_PROGRAMS = ("AsyncClient", "Client", "RookeryError")


def __getattr__(name: str) -> Any:
    """Programs get the client from here; whoever only wants the version does not pay for it.

    Type checkers read `__init__.pyi`, so that no layer below the client seems to import it by way of here.
    """
    if name not in _FOR_PROGRAMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("rookery.client"), name)
