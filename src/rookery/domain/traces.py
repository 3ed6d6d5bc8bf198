"""Traces: what one message set off, however many agents it went through, until the operator speaks again."""

from dataclasses import dataclass, replace
from typing import Literal

from rookery.domain.messages import Message

TraceState = Literal["open", "paused", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRules:
    """How far agents may go on by themselves. `remembered` is for how many milliseconds a message that an agent
    was given counts as the cause of what the agent says next."""

    most_hops: int = 16
    most_messages: int = 50
    remembered: int = 600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What a message is to inherit. A message without a cause begins a trace of its own."""

    trace: str | None = None
    hops: int = 0
    task: str | None = None


NO_CAUSE = Cause()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """The last message that an agent was given, and when: what it says next is taken to come of that. What there
    is to inherit is kept here, so that nobody has to read the message for it."""

    agent: str
    message_id: str
    conversation: str
    trace: str
    hops: int
    task: str | None
    at: int

    @property
    def cause(self) -> Cause:
        return Cause(trace=self.trace, hops=self.hops + 1, task=self.task)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """`messages` counts them all, `hops` is the longest way any of them came. What the operator has let pass is
    in `granted_messages` and `granted_hops`. `question` is the approval that a pause waits for."""

    id: str
    messages: int = 1
    hops: int = 0
    granted_messages: int = 0
    granted_hops: int = 0
    state: TraceState = "open"
    question: str | None = None

    def exceeded_by(self, hops: int, rules: TraceRules) -> bool:
        """Whether one more message, that many hops from the first, is more than agents may do by themselves."""
        return (
            hops - self.granted_hops > rules.most_hops
            or self.messages + 1 - self.granted_messages > rules.most_messages
        )

    def grown(self, hops: int) -> "Trace":
        return replace(self, messages=self.messages + 1, hops=max(self.hops, hops))

    def paused(self, question: str) -> "Trace":
        return replace(self, state="paused", question=question)

    def continued(self) -> "Trace":
        """From here the counting starts again."""
        return replace(self, state="open", question=None, granted_messages=self.messages, granted_hops=self.hops)

    def stopped(self) -> "Trace":
        return replace(self, state="stopped", question=None)


def caused_by(message: Message) -> Cause:
    return Cause(trace=message.traced_to, hops=message.hops + 1, task=message.task)


def attention_to(message: Message, agent: str, at: int) -> Attention:
    return Attention(
        agent=agent, message_id=message.id, conversation=message.conversation, trace=message.traced_to,
        hops=message.hops, task=message.task, at=at,
    )  # fmt: skip
