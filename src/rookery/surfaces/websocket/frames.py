"""Events as text frames, made once for all sockets that get them."""

from collections import deque

from rookery.domain.events import Entry
from rookery.wire.events import encoded_event


class Frames:
    """A small memory of the newest frames: a thousand sockets get the same text, not a thousand copies."""

    def __init__(self, most_frames: int = 1024, most_bytes: int = 8 << 20) -> None:
        self._most_frames = most_frames
        self._most_bytes = most_bytes
        self._frames: dict[int, str] = {}
        self._order: deque[int] = deque()
        self._bytes = 0

    def of(self, entry: Entry) -> str:
        frame = self._frames.get(entry.position)
        if frame is None:
            frame = encoded_event(entry).decode()
            self._remember(entry.position, frame)
        return frame

    def _remember(self, position: int, frame: str) -> None:
        self._frames[position] = frame
        self._order.append(position)
        self._bytes += len(frame)
        while len(self._order) > self._most_frames or self._bytes > self._most_bytes:
            self._bytes -= len(self._frames.pop(self._order.popleft()))
