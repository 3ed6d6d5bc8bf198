"""A line that says how far a long work is, for whoever watches the terminal."""

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Self, TypeVar

T = TypeVar("T")

_PATIENCE = 1.0
"""Seconds before anything is shown: what is done by then needs no progress."""
_EVERY = 0.2
_CLEAR = "\r\x1b[K"


class Progress:
    """Writes over its own line on stderr, only there and only on a terminal. A thread does it, so that the
    seconds go on counting while a step takes its time."""

    def __init__(self) -> None:
        self._text = "Working ..."
        self._done = threading.Event()
        self._teller = threading.Thread(target=self._tell_on, name="progress", daemon=True)

    def tell(self, text: str) -> None:
        self._text = text

    def counting(self, items: Iterable[T], noun: str) -> Iterator[T]:
        for number, item in enumerate(items, start=1):
            yield item
            if number % 100 == 0:
                self.tell(f"{number:,} {noun} ...")

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._teller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._teller.ident is not None:
            self._teller.join()

    def _tell_on(self) -> None:
        began = time.monotonic()
        if self._done.wait(_PATIENCE):
            return
        while not self._done.is_set():
            passed = time.monotonic() - began
            print(f"{_CLEAR}{self._text} {passed:.0f} s", end="", file=sys.stderr, flush=True)
            self._done.wait(_EVERY)
        print(_CLEAR, end="", file=sys.stderr, flush=True)
