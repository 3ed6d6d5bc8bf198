"""Questions to the operator: who waits, who answers, and what the answer sets off. Once."""

from collections.abc import Sequence

from rookery.domain import contact as words
from rookery.domain.approvals import Approval, Decision, Held, checked_against
from rookery.domain.errors import (
    ApprovalAnsweredAlready,
    ApprovalChanged,
    ApprovalNotFound,
    InvalidRequest,
    RookeryError,
)
from rookery.domain.events import ApprovalAnswered, ApprovalUsed, MessageDropped, audience
from rookery.domain.principals import THE_HUB, Principal
from rookery.domain.traces import Cause
from rookery.ports import Clock, Store, Transaction
from rookery.services.access import Access, require_operator
from rookery.services.contact import Contact
from rookery.services.holding import Holding
from rookery.services.messaging import Messaging
from rookery.services.notices import Notices, known_as
from rookery.services.statuses import at_rest, with_status
from rookery.services.waiting import Gone, Waiting

_SWEPT_AT_ONCE = 200
Outcome = tuple[Approval, str]


class Approvals:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        access: Access,
        holding: Holding,
        contact: Contact,
        messaging: Messaging,
        notices: Notices,
        waiting: Waiting,
    ) -> None:
        self._store = store
        self._clock = clock
        self._access = access
        self._holding = holding
        self._contact = contact
        self._messaging = messaging
        self._notices = notices
        self._waiting = waiting

    # -- looking -------------------------------------------------------------------------------------

    async def pending(self, by: Principal) -> Sequence[Approval]:
        """All for the operator; an agent sees its own."""
        return await self._store.read(lambda tx: tx.approvals.pending(None if by.is_operator else by.id))

    async def recent(self, by: Principal, limit: int = 100) -> Sequence[Approval]:
        """Answered ones too, the newest last."""
        agent = None if by.is_operator else by.id
        return await self._store.read(lambda tx: tx.approvals.recent(agent=agent, limit=limit))

    async def get(self, by: Principal, wanted: str) -> Approval:
        return await self._store.read(lambda tx: _visible(tx, by, wanted))

    # -- answering -----------------------------------------------------------------------------------

    async def answer(
        self,
        by: Principal,
        wanted: str,
        decision: Decision,
        *,
        digest: str | None = None,
        note: str | None = None,
    ) -> Outcome:
        """Only the operator may. The first answer counts; it is carried out in the same transaction, from exactly
        what was asked. `digest` binds the answer to what was shown. Whatever is refused is in the audit trail.

        Returns the approval and a sentence on what came of it.
        """
        require_operator(by, "answer approvals")

        def work(tx: Transaction) -> Outcome:
            approval = _visible(tx, by, wanted)
            now = self._clock.now()
            if approval.pending and now >= approval.expires_at:  # whether the sweep has come by or not
                return self._expired(tx, approval, now)
            status = "approved" if decision == "approve" else "denied"
            answered = approval.answered(now, by.id, status, digest=digest, note=note)
            return self._settled(tx, approval, answered, by, now)

        try:
            answered, told = await self._store.write(work)
            if answered.status == "expired":
                raise ApprovalAnsweredAlready(answered.id, "expired")
            return answered, told
        except (ApprovalAnsweredAlready, ApprovalChanged) as refused:
            await self._access.record_refusal(by, "answer_approval", refused.message)
            raise

    async def expire(self) -> int:
        """What nobody answered in time counts as denied."""

        def late(tx: Transaction) -> Sequence[Approval]:
            return tx.approvals.overdue(self._clock.now(), _SWEPT_AT_ONCE)

        def work(tx: Transaction) -> int:
            now = self._clock.now()
            overdue = late(tx)
            for approval in overdue:
                self._expired(tx, approval, now)
            return len(overdue)

        return await self._store.write(work) if await self._store.read(late) else 0

    def _expired(self, tx: Transaction, approval: Approval, now: int) -> Outcome:
        expired = approval.answered(now, THE_HUB.id, "expired", note="Nobody answered in time.")
        return self._settled(tx, approval, expired, THE_HUB, now)

    def _settled(self, tx: Transaction, before: Approval, answered: Approval, by: Principal, now: int) -> Outcome:
        waiting = tx.held.of(before.id)
        if answered.status == "approved":
            checked_against(before, waiting[0] if before.kind == "contact" and waiting else None)
        tx.approvals.put(answered)
        fact = ApprovalAnswered(approval=answered)
        tx.journal.record(fact, at=now, by=by, audience=audience(answered.agent))
        _resumed(tx, answered, by, now)
        if answered.kind == "tool":
            return answered, f"{known_as(tx, answered.agent)} is told."
        if answered.kind == "trace":
            _continued_or_stopped(tx, answered)
        told: list[str] = []
        while waiting:
            for held in waiting:
                if answered.status == "approved":
                    told.append(self._let_through(tx, answered, held, now))
                else:
                    self._drop(tx, answered, held, by, now)
            waiting = tx.held.of(before.id)
        return answered, " ".join(told) or f"{known_as(tx, answered.agent)} is told."

    def _let_through(self, tx: Transaction, approval: Approval, held: Held, now: int) -> str:
        """Once: it is no longer there to be let through again. What cannot be done any more is told to both."""
        tx.held.remove(held.message_id)
        sender = tx.agents.get(held.sender)
        if sender is not None and not sender.living:
            return f"{sender.name} was deleted meanwhile."
        by = Principal(held.sender, f"approval-{approval.id}")
        try:
            if held.pattern is None:
                self._messaging.release(tx, held, now)
                return f"Sent to {known_as(tx, held.to)}."
            told = self._contact.carry_out(tx, held, now=now, by=by)
        except RookeryError as refused:  # each of them is raised before anything was changed
            self._notices.tell(tx, held.sender, now, f"Error: {refused.message}", _cause_of(held))
            return refused.message
        if told.text:
            self._notices.tell(tx, held.sender, now, told.text, _cause_of(held))
        return told.text or f"{known_as(tx, held.to)} is asked."

    def _drop(self, tx: Transaction, approval: Approval, held: Held, by: Principal, now: int) -> None:
        tx.held.remove(held.message_id)
        fact = MessageDropped(
            message_id=held.message_id, approval=approval.id, sender=held.sender, recipient=held.to
        )
        tx.journal.record(fact, at=now, by=by, audience=audience(held.sender))
        told = words.STOPPED if approval.kind == "trace" else words.denied(known_as(tx, held.to))
        if approval.note:
            told = f"{told}\n{approval.note}"
        self._notices.tell(tx, held.sender, now, told, _cause_of(held))

    # -- questions of programs -----------------------------------------------------------------------

    async def ask_for_tool(
        self,
        by: Principal,
        tool: str,
        payload: str,
        *,
        key: str | None = None,
        gone: Gone | None = None,
    ) -> Approval:
        """Wait until the operator has said whether this agent may use a tool of its own with that JSON payload.

        The answer serves once. Who asks again under the same key, with the same payload, waits for the same
        answer, unless it was taken already.
        """
        if not by.is_agent:
            raise InvalidRequest("The operator needs no permission; this is for agents.")

        def begin(tx: Transaction) -> Approval:
            known = tx.approvals.under_key(by.id, key) if key else None
            if known is not None and known.used_at is None and known.status != "cancelled":
                if (known.tool, known.arguments) != (tool, (("input", payload),)):
                    raise ApprovalChanged(known.id)
                return known
            arguments = [("input", payload)]
            return self._holding.request(
                tx, by, kind="tool", agent=by.id, tool=tool, arguments=arguments, now=self._clock.now(), key=key
            )

        try:
            asked = await self._store.write(begin)
        except ApprovalChanged as refused:
            await self._access.record_refusal(by, "permission_prompt", refused.message)
            raise

        async def look() -> Approval | None:
            found = await self._store.read(lambda tx: tx.approvals.get(asked.id))
            return None if found is not None and found.pending else found or asked

        while True:
            left = max(1_000, asked.expires_at - self._clock.now() + 1_000) / 1000
            answered = await self._waiting.until(
                asked.id, look, timeout=left, gone=gone, when_left=lambda: self._withdraw(asked.id)
            )
            if answered is None:
                await self.expire()
                continue
            return await self._store.write(lambda tx: self._taken(tx, by, answered))  # noqa: B023 - awaited here

    def _taken(self, tx: Transaction, by: Principal, answered: Approval) -> Approval:
        """Raises when another call has taken the answer."""
        approval = tx.approvals.get(answered.id) or answered
        if approval.used_at is not None:
            raise ApprovalAnsweredAlready(approval.id, "used")
        now = self._clock.now()
        used = approval.used(now)
        tx.approvals.put(used)
        tx.journal.record(ApprovalUsed(approval=used), at=now, by=by, audience=audience(used.agent))
        return used

    async def _withdraw(self, approval_id: str) -> None:
        """The program that asked is gone, and would never hear the answer."""

        def work(tx: Transaction) -> None:
            approval = tx.approvals.get(approval_id)
            if approval is not None and approval.pending:
                now = self._clock.now()
                gone = approval.answered(now, THE_HUB.id, "cancelled", note="The one who asked is gone.")
                self._settled(tx, approval, gone, THE_HUB, now)

        await self._store.write(work)


def _visible(tx: Transaction, by: Principal, wanted: str) -> Approval:
    approval = tx.approvals.get(wanted.lower())
    if approval is None or not (by.is_operator or by.id == approval.agent):
        raise ApprovalNotFound(wanted)
    return approval


def _resumed(tx: Transaction, answered: Approval, by: Principal, now: int) -> None:
    """Who was at work when it asked for a tool is at work again; others are back to where they were."""
    agent = tx.agents.get(answered.agent)
    if answered.kind == "trace" or agent is None or not agent.living or agent.status != "awaiting_approval":
        return
    rest = at_rest(tx, agent.id)
    working = rest != "awaiting_approval" and answered.previous_status == "working"
    with_status(tx, agent, "working" if working else rest, now, by)


def _continued_or_stopped(tx: Transaction, answered: Approval) -> None:
    trace = tx.traces.get(dict(answered.arguments)["trace"])
    if trace is not None and trace.question == answered.id:
        tx.traces.put(trace.continued() if answered.status == "approved" else trace.stopped())


def _cause_of(held: Held) -> Cause:
    return Cause(trace=held.trace, hops=max(0, held.hops - 1), task=held.task)
