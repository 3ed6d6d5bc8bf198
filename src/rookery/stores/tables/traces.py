"""Traces in SQL."""

from rookery.domain.traces import Trace
from rookery.stores.tables.byheart import ByHeart
from rookery.stores.tables.changes import Changes, paper_record
from rookery.stores.tables.papers import Kind
from rookery.stores.tables.pen import Pen

TRACE = Kind("trace", "traces", Trace, key=("id",), order="id")


class TraceTable:
    def __init__(self, pen: Pen, changes: Changes | None, *, writable: bool) -> None:
        self._changes = changes
        self._known = ByHeart(TRACE, pen, writable=writable)

    def get(self, trace_id: str) -> Trace | None:
        return self._known.get(trace_id)

    def put(self, trace: Trace) -> None:
        paper = self._known.put(trace.id, trace)
        if self._changes is not None:
            self._changes.append(paper_record(TRACE.name, paper))

    def forget(self) -> None:
        """What is known by heart is out of date."""
        self._known.forget()
