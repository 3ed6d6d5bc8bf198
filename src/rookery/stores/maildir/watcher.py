"""Noticing that files were moved, by the kernel's own notices."""

import logging
import threading
from collections.abc import Callable

from watchfiles import watch

from rookery.stores.maildir.letters import Letters

_log = logging.getLogger(__name__)

_STEP = 100
_DEBOUNCE = 300
"""Milliseconds: how often the watcher wakes, and how long it gathers what happens in one go."""

_SYNC = 60_000


class Watcher:
    """Tells of every file that was moved in the inboxes, the store's own moves included: whoever is told has to
    compare. Runs in a thread of its own until stopped."""

    def __init__(self, letters: Letters, tell: Callable[[set[tuple[str, str]]], None]) -> None:
        self._letters = letters
        self._tell = tell
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._main, name="rookery-watcher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when the thread is gone, after at most a step."""
        self._stop.set()
        self._thread.join()

    def _main(self) -> None:
        changes = watch(
            self._letters.inboxes,
            watch_filter=None,
            step=_STEP,
            debounce=_DEBOUNCE,
            rust_timeout=_SYNC,
            stop_event=self._stop,
            raise_interrupt=False,
        )
        try:
            for batch in changes:
                places = {self._letters.place_of(path) for _, path in batch}
                moved = {place for place in places if place is not None}
                if moved:
                    self._tell(moved)
        except Exception:  # out of watches, for one; the store itself does not depend on them
            _log.exception("Files moved by hand are noticed only when the hub starts: they cannot be watched")
