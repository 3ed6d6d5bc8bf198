"""The journal of the maildir: JSON lines, one for each committed group of works, in segments.

A line holds the records that changed and a check over its text; it is on disk before anything it tells of is
acknowledged, and that is the moment of the commit. Segments are named by the number of their first line.
"""

import hashlib
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from rookery.domain.errors import StorageDamaged
from rookery.stores.tables.changes import Record
from rookery.stores.tables.ground import sync_directory

_log = logging.getLogger(__name__)

_MOST = 64 * 1024 * 1024
_CHECK = b',"check":"'
_TAIL = len(_CHECK) + 16 + len(b'"}\n')


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line is: number, segment, first byte and the byte after it, and its check."""

    number: int
    segment: int
    start: int
    end: int
    check: int


class Line(msgspec.Struct):
    number: int
    position: int
    records: list[Record]


class Segments:
    def __init__(self, directory: Path, *, most: int = _MOST) -> None:
        self._directory = directory
        self._most = most
        self._handle = -1
        self._last = Place(0, 0, 0, 0, 0)
        self._before = self._last

    def lines(self, after: Place | None) -> Iterator[tuple[Place, Line]]:
        """The lines after that place, or all. Raises StorageDamaged at a bad line, except at the very end: what
        is torn there was never acknowledged."""
        segments = self._segments()
        for segment in segments:
            if after is not None and segment < after.segment:
                continue
            offset = after.end if after is not None and segment == after.segment else 0
            number = after.number if offset and after is not None else segment - 1
            yield from self._read(segment, offset, number, last=segment == segments[-1])

    def holds(self, place: Place) -> bool:
        """Whether that very line is there."""
        if place.number == 0:
            return not self._segments()
        try:
            with self._path(place.segment).open("rb") as file:
                file.seek(place.start)
                text = file.read(place.end - place.start)
        except OSError:
            return False
        return _check_in(text) == place.check

    def open_after(self, place: Place) -> None:
        """Go on writing after that line; whatever follows it is cut off."""
        self._last = self._before = place
        if place.number == 0:
            return
        self._handle = os.open(self._path(place.segment), os.O_RDWR | os.O_CLOEXEC)
        size = os.fstat(self._handle).st_size
        if size > place.end:
            _log.warning("Cutting off %d bytes of an unfinished line of the journal", size - place.end)
            os.ftruncate(self._handle, place.end)
            os.fsync(self._handle)

    def append(self, position: int, records: list[Record]) -> Place:
        """On disk when this returns. Raises OSError, and then nothing was appended."""
        number = self._last.number + 1
        if self._handle < 0 or self._last.end >= self._most:
            self._start_segment(number)
        text = _line(Line(number, position, records))
        start = self._last.end if self._last.segment else 0
        segment = self._last.segment or number
        try:
            written = 0
            while written < len(text):
                written += os.pwrite(self._handle, text[written:], start + written)
            os.fsync(self._handle)
        except OSError:
            os.ftruncate(self._handle, start)
            raise
        self._before = self._last
        self._last = Place(number, segment, start, start + len(text), _check_in(text))
        return self._last

    def take_back(self) -> None:
        """Undo the last `append`: the index did not take it."""
        os.ftruncate(self._handle, self._last.start)
        os.fsync(self._handle)
        self._last = Place(
            self._before.number, self._last.segment, self._before.start, self._last.start, self._before.check
        )

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def size(self) -> int:
        return sum(self._path(segment).stat().st_size for segment in self._segments())

    def _start_segment(self, number: int) -> None:
        self.close()
        self._directory.mkdir(mode=0o700, exist_ok=True)
        path = self._path(number)
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        os.fchmod(self._handle, 0o600)
        sync_directory(self._directory)
        sync_directory(self._directory.parent)
        self._last = Place(self._last.number, number, 0, 0, self._last.check)

    def _read(self, segment: int, offset: int, number: int, *, last: bool) -> Iterator[tuple[Place, Line]]:
        path = self._path(segment)
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(offset)
            for text in file:
                line = _parsed(text)
                if line is None or line.number != number + 1:
                    if last and offset + len(text) == size:
                        return
                    raise StorageDamaged(
                        f"The journal {path} is damaged at byte {offset}, before its end; nothing after it can "
                        "be trusted. Restore a backup of the directory.",
                        place=str(path),
                        offset=offset,
                    )
                number += 1
                yield Place(number, segment, offset, offset + len(text), _check_in(text)), line
                offset += len(text)

    def _segments(self) -> list[int]:
        if not self._directory.is_dir():
            return []
        return sorted(int(path.stem) for path in self._directory.glob("*.jsonl") if path.stem.isdecimal())

    def _path(self, segment: int) -> Path:
        return self._directory / f"{segment:012d}.jsonl"


def _line(line: Line) -> bytes:
    body = msgspec.json.encode(line)[:-1]
    return body + _CHECK + _check(body).encode() + b'"}\n'


def _parsed(text: bytes) -> Line | None:
    if _check_in(text) < 0:
        return None
    try:
        return msgspec.json.decode(text, type=Line)
    except msgspec.MsgspecError:
        return None


def _check_in(text: bytes) -> int:
    """The line's check as a number, or -1 when the text is not what was written."""
    body, told = text[:-_TAIL], text[-_TAIL:]
    if not (told.startswith(_CHECK) and told.endswith(b'"}\n')):
        return -1
    check = _check(body)
    return int(check, 16) >> 1 if told[len(_CHECK) :][:16] == check.encode() else -1


def _check(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=8).hexdigest()
