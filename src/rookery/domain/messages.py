"""Messages: immutable once stored."""

import hashlib
from dataclasses import dataclass
from typing import Literal

MessageType = Literal["direct", "broadcast", "channel", "reply", "notice"]
Priority = Literal["low", "normal", "high", "urgent"]
Pattern = Literal["ask", "delegate", "notify", "result"]

RANKS: dict[Priority, int] = {"low": 0, "normal": 1, "high": 2, "urgent": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """`seq` counts the messages of one conversation without a gap; it, never a clock, is their order.

    `metadata` is JSON text as it was sent: the hub carries it and does not look inside. `recipient` is what
    the sender addressed: an agent, the operator, a `#channel` or `broadcast`; who it reached is in the deliveries.
    `thread` is the id of the message that the chain of replies started from.

    `trace` is the id of the message that set everything off, None when that is this one, and `hops` how many
    messages lie between. `task` is the work that it belongs to. `pattern` says what the hub made of it: a question
    that waits for its answer, work that was handed over, news, or a result that came back; no caller sets it.
    """

    id: str
    conversation: str
    seq: int
    sender: str
    recipient: str
    type: MessageType
    content: str
    metadata: str = "{}"
    reply_to: str | None = None
    thread: str
    pattern: Pattern | None = None
    priority: Priority = "normal"
    created_at: int
    expires_at: int | None = None
    trace: str | None = None
    hops: int = 0
    task: str | None = None

    @property
    def traced_to(self) -> str:
        return self.trace or self.id

    def digest(self) -> bytes:
        """A fingerprint over every field, kept beside the message so that damage is noticed on reading."""
        fields = (
            self.id, self.conversation, self.seq, self.sender, self.recipient, self.type, self.content,
            self.metadata, self.reply_to, self.thread, self.pattern, self.priority, self.created_at,
            self.expires_at,
        )  # fmt: skip
        cause = (self.trace, self.hops, self.task)
        if cause != (None, 0, None):  # messages that have none keep the fingerprint they have always had
            fields = (*fields, *cause)
        return hashlib.blake2b(repr(fields).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def request_digest(*parts: str | int | None) -> bytes:
    """What makes two sends the same send: equal digests under one idempotency key are a repetition."""
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
