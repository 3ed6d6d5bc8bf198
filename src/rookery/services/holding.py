"""Putting something off until the operator says a word: the question, and what waits for the answer."""

import secrets
from collections.abc import Sequence

from rookery.domain.approvals import Approval, ApprovalKind, ApprovalRules, Held, approval_digest
from rookery.domain.errors import Overloaded
from rookery.domain.events import ApprovalRequested, MessageHeld, audience
from rookery.domain.principals import Principal
from rookery.domain.traces import Trace
from rookery.ports import Transaction
from rookery.services.statuses import with_status

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_MOST_PENDING = 100
_MOST_TEXT = 1 << 20
"""Questions of one agent that may wait at once, and what they may hold. Beyond, it is told to come back."""
_MOST_HELD = 100
"""Messages that may wait for one answer."""

Arguments = Sequence[tuple[str, str]]


class Holding:
    def __init__(self, rules: ApprovalRules) -> None:
        self._rules = rules

    def request(
        self,
        tx: Transaction,
        by: Principal,
        *,
        kind: ApprovalKind,
        agent: str,
        tool: str,
        arguments: Arguments,
        now: int,
        held: Held | None = None,
        approval_id: str | None = None,
        key: str | None = None,
    ) -> Approval:
        """Ask the operator. The one who waits is shown as waiting, except for a trace, which is nobody's."""
        pending = tx.approvals.pending(agent)
        if len(pending) >= _MOST_PENDING or sum(map(_text_in, pending)) > _MOST_TEXT:
            raise Overloaded("approvals that wait for the operator", 60_000)
        waiting = tx.agents.get(agent)
        nonce = secrets.token_hex(16)
        approval = Approval(
            id=approval_id or new_approval_id(tx),
            kind=kind,
            agent=agent,
            tool=tool,
            arguments=tuple(arguments),
            nonce=nonce,
            digest=approval_digest(tool, arguments, agent, nonce, held),
            created_at=now,
            expires_at=now + self._rules.patience,
            key=key,
            previous_status=None if waiting is None else waiting.status,
        )
        tx.approvals.put(approval)
        tx.journal.record(ApprovalRequested(approval=approval), at=now, by=by, audience=audience(agent))
        if kind != "trace" and waiting is not None and waiting.status not in ("offline", "sleeping"):
            with_status(tx, waiting, "awaiting_approval", now, by)
        return approval

    def hold(self, tx: Transaction, by: Principal, held: Held, tool: str, arguments: Arguments, now: int) -> Held:
        """The message waits for an approval of its own, whose id it has already."""
        self.request(
            tx, by, kind="contact", agent=held.sender, tool=tool, arguments=arguments, now=now, held=held,
            approval_id=held.approval,
        )  # fmt: skip
        return self._keep(tx, by, held, now)

    def hold_with_trace(self, tx: Transaction, by: Principal, held: Held, trace: Trace, now: int) -> Held:
        """The message waits with all others of its trace for one answer."""
        if trace.question is None:
            question = self.request(
                tx, by, kind="trace", agent=held.sender, tool="continue", now=now,
                arguments=(
                    ("trace", trace.id), ("messages", str(trace.messages)), ("hops", str(trace.hops)),
                    ("next", held.content),
                ),
                approval_id=held.approval,
            )  # fmt: skip
            trace = trace.paused(question.id)
            tx.traces.put(trace)
        else:
            waiting = tx.held.of(trace.question)
            if len(waiting) >= _MOST_HELD or sum(len(each.content) for each in waiting) > _MOST_TEXT:
                raise Overloaded("messages that wait for the operator", 60_000)
        return self._keep(tx, by, held, now)

    def _keep(self, tx: Transaction, by: Principal, held: Held, now: int) -> Held:
        tx.held.put(held)
        fact = MessageHeld(
            message_id=held.message_id, approval=held.approval, sender=held.sender, recipient=held.to
        )
        tx.journal.record(fact, at=now, by=by, audience=audience(held.sender))
        return held


def _text_in(approval: Approval) -> int:
    return sum(len(value) for _, value in approval.arguments)


def new_approval_id(tx: Transaction) -> str:
    """Short enough to be typed on a phone, and never given twice."""
    length = 4
    while True:
        for _ in range(20):
            candidate = "".join(secrets.choice(_LETTERS) for _ in range(length))
            if tx.approvals.get(candidate) is None:
                return candidate
        length += 1
