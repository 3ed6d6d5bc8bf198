"""The one real clock."""

import time


class SystemClock:
    """Wall-clock milliseconds that never go back: when the clock is set back, time stands still meanwhile."""

    def __init__(self) -> None:
        self._last = 0

    def now(self) -> int:
        self._last = max(self._last, time.time_ns() // 1_000_000)
        return self._last
