"""What has to be put in order when an agent goes for good."""

from rookery.domain.agents import Agent
from rookery.domain.events import ApprovalAnswered, MessageDropped, audience
from rookery.domain.principals import THE_HUB, Principal
from rookery.ports import InboxQuery, Transaction
from rookery.services.answers import end_ask
from rookery.services.channels import leave_all
from rookery.services.closing import Closing, Completion
from rookery.services.permissions import forget_rules

_AT_ONCE = 1_000


class Departure:
    def __init__(self, closing: Closing) -> None:
        self._closing = closing

    def settle_affairs(self, tx: Transaction, agent: Agent, by: Principal, now: int) -> None:
        """What waited for it is dead, and who waits for that is told. What it waited for is taken back."""
        reason = f"{agent.name} was deleted"
        self._take_back(tx, agent, by, now)
        self._bury(tx, agent, reason, now)
        for ask in tx.asks.open_to(agent.id):
            end_ask(tx, ask.failed(now, f"{reason}."), THE_HUB, now)
        while tasks := tx.tasks.open_assigned_to(agent.id):
            for task in tasks:
                self._closing.end_task(tx, task, "failed", by=THE_HUB, now=now, error=f"{reason}.")
        leave_all(tx, agent.id, by, now)
        forget_rules(tx, agent.id, by, now)

    def _take_back(self, tx: Transaction, agent: Agent, by: Principal, now: int) -> None:
        for ask in tx.asks.open_by(agent.id):
            end_ask(tx, ask.abandoned(now), THE_HUB, now)
        why = f"{agent.name}, who asked for it, was deleted."
        while tasks := tx.tasks.open_requested_by(agent.id):
            for task in tasks:
                self._closing.end_task(tx, task, "cancelled", by=by, now=now, error=why, tell=False)
        for approval in tx.approvals.pending(agent.id):
            if approval.kind == "trace":
                continue  # others may wait for it, too
            note = f"{agent.name} was deleted."
            cancelled = approval.answered(now, THE_HUB.id, "cancelled", note=note)
            tx.approvals.put(cancelled)
            tx.journal.record(ApprovalAnswered(approval=cancelled), at=now, by=THE_HUB, audience=())
            for held in tx.held.of(approval.id):
                tx.held.remove(held.message_id)
                fact = MessageDropped(
                    message_id=held.message_id, approval=approval.id, sender=agent.id, recipient=held.to
                )
                tx.journal.record(fact, at=now, by=THE_HUB, audience=audience(held.sender))

    def _bury(self, tx: Transaction, agent: Agent, reason: str, now: int) -> None:
        for folder in ("new", "cur"):
            waiting = InboxQuery(recipient=agent.id, folder=folder, limit=_AT_ONCE)
            while items := tx.deliveries.inbox(waiting):
                for item in items:
                    dead = Completion(outcome="dead", error=reason)
                    self._closing.close(tx, item, dead, by=THE_HUB, owner=item.delivery.claimed_by, now=now)
