"""What comes of what: the cause of each message, and exchanges between agents that go on without the operator."""

from collections.abc import Sequence

from rookery.domain.errors import TraceStopped
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message
from rookery.domain.traces import NO_CAUSE, Attention, Cause, Trace, TraceRules, attention_to, caused_by
from rookery.ports import Transaction


class Tracing:
    def __init__(self, rules: TraceRules) -> None:
        self._rules = rules

    def attention(self, tx: Transaction, party: str, now: int) -> Attention | None:
        """What the agent was given last, unless that is long ago."""
        noted = None if party == OPERATOR else tx.attention.of(party)
        return noted if noted is not None and now - noted.at <= self._rules.remembered else None

    def cause(self, tx: Transaction, sender: str, parent: Message | None, now: int) -> Cause:
        """A message comes of what it answers, else of what its sender was given last. With the operator all
        begins anew."""
        if sender == OPERATOR:
            return NO_CAUSE
        if parent is not None:
            return caused_by(parent)
        noted = self.attention(tx, sender, now)
        return NO_CAUSE if noted is None else noted.cause

    def exceeded(self, tx: Transaction, cause: Cause) -> Trace | None:
        """The trace, if this message would be more than agents may do by themselves, or if it waits already.
        Raises TraceStopped."""
        if cause.trace is None:
            return None
        trace = tx.traces.get(cause.trace) or Trace(id=cause.trace)
        if trace.state == "stopped":
            raise TraceStopped(trace.id)
        return trace if trace.state == "paused" or trace.exceeded_by(cause.hops, self._rules) else None


def count(tx: Transaction, cause: Cause) -> None:
    """One more message came of that."""
    if cause.trace is not None:
        trace = tx.traces.get(cause.trace) or Trace(id=cause.trace)
        tx.traces.put(trace.grown(cause.hops))


def attend(tx: Transaction, message: Message, parties: Sequence[str], now: int) -> None:
    """These parties have been given the message; for agents it is what they act upon next."""
    given = [attention_to(message, party, now) for party in parties if party not in (OPERATOR, message.sender)]
    if given:
        tx.attention.put_many(given)
