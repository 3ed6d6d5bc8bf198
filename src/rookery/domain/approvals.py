"""Approvals: questions that only the operator may answer, and the calls that wait for the answer."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from rookery.domain.errors import ApprovalAnsweredAlready, ApprovalChanged
from rookery.domain.messages import Pattern, Priority

ApprovalKind = Literal["contact", "tool", "trace"]
ApprovalStatus = Literal["pending", "approved", "denied", "expired", "cancelled"]
Decision = Literal["approve", "deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRules:
    """How many milliseconds an approval waits before it counts as a denial."""

    patience: int = 15 * 60 * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A message that is sent when the operator says so, from exactly these fields. `to` is an agent's id, the
    operator, a `#channel` or `broadcast`; `message_id` is the id it will have.

    `depth` and `timeout` are those of an ask, `context` and `task` of any contact, `ttl` of a plain message.
    """

    message_id: str
    approval: str
    sender: str
    to: str
    content: str
    pattern: Pattern | None = None
    context: str | None = None
    priority: Priority = "normal"
    metadata: str = "{}"
    reply_to: str | None = None
    ttl: int | None = None
    trace: str | None = None
    hops: int = 0
    task: str | None = None
    depth: int = 0
    timeout: int = 0
    origin: str | None = None

    def fields(self) -> tuple[str | int | None, ...]:
        return (
            self.message_id, self.sender, self.to, self.content, self.pattern, self.context, self.priority,
            self.metadata, self.reply_to, self.ttl, self.trace, self.hops, self.task, self.depth, self.timeout,
            self.origin,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """`agent` wants to use `tool` with these `arguments`, which are what the operator is shown. `digest` covers
    all of it, a `nonce` and the message that waits, so that the answer is to this very call.

    `key` names the waiting call to the one who asks again for the same. `used_at` says that the answer has been
    taken: it serves once.
    """

    id: str
    kind: ApprovalKind
    agent: str
    tool: str
    arguments: tuple[tuple[str, str], ...]
    nonce: str
    digest: str
    created_at: int
    expires_at: int
    status: ApprovalStatus = "pending"
    key: str | None = None
    answered_at: int | None = None
    answered_by: str | None = None
    note: str | None = None
    used_at: int | None = None
    previous_status: str | None = None

    @property
    def pending(self) -> bool:
        return self.status == "pending"

    def answered(
        self, at: int, by: str, status: ApprovalStatus, *, digest: str | None = None, note: str | None = None
    ) -> "Approval":
        """The first answer counts. `digest`, when given, has to be that of what the answer is about."""
        if not self.pending:
            raise ApprovalAnsweredAlready(self.id, self.status)
        if digest is not None and digest != self.digest:
            raise ApprovalChanged(self.id)
        return replace(self, status=status, answered_at=at, answered_by=by, note=note)

    def used(self, at: int) -> "Approval":
        return replace(self, used_at=at)


def approval_digest(
    tool: str, arguments: Iterable[tuple[str, str]], agent: str, nonce: str, held: Held | None = None
) -> str:
    parts = (tool, tuple(arguments), agent, nonce, None if held is None else held.fields())
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def checked_against(approval: Approval, held: Held | None) -> None:
    """Raises ApprovalChanged when what is stored is not what was asked for, even by one byte."""
    now = approval_digest(approval.tool, approval.arguments, approval.agent, approval.nonce, held)
    if now != approval.digest:
        raise ApprovalChanged(approval.id)
