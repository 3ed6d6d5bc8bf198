"""What each agent was given last, in SQL."""

from collections.abc import Sequence

from rookery.domain.traces import Attention
from rookery.stores.tables.byheart import ByHeart
from rookery.stores.tables.changes import Changes, attention_record
from rookery.stores.tables.papers import Kind
from rookery.stores.tables.pen import Pen

ATTENTION = Kind("attention", "attention", Attention, key=("agent",), order="agent")


class AttentionTable:
    def __init__(self, pen: Pen, changes: Changes | None, *, writable: bool) -> None:
        self._changes = changes
        self._known = ByHeart(ATTENTION, pen, writable=writable)

    def of(self, agent: str) -> Attention | None:
        return self._known.get(agent)

    def put_many(self, given: Sequence[Attention]) -> None:
        papers = [self._known.put(each.agent, each) for each in given]
        if papers and self._changes is not None:
            self._changes.append(attention_record(papers))

    def forget(self) -> None:
        """What is known by heart is out of date."""
        self._known.forget()
