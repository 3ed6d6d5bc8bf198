"""What an agent is doing, and what it waits for."""

from dataclasses import replace

from rookery.domain.agents import Agent, Status
from rookery.domain.events import EVERYONE, AgentStatusChanged
from rookery.domain.principals import Principal
from rookery.ports import Transaction

_AT_REST: tuple[Status, ...] = ("idle", "awaiting_approval", "awaiting_delegation")


def with_status(
    tx: Transaction, agent: Agent, status: Status, now: int, by: Principal, *, until: int | None = None
) -> Agent:
    """`until` is for one that sleeps."""
    if (status, until) == (agent.status, agent.sleeping_until):
        return agent
    changed = replace(agent, status=status, sleeping_until=until)
    tx.agents.update(changed)
    fact = AgentStatusChanged(agent_id=agent.id, previous_status=agent.status, status=status, sleeping_until=until)
    tx.journal.record(fact, at=now, by=by, audience=EVERYONE)
    return changed


def at_rest(tx: Transaction, agent_id: str) -> Status:
    """What an agent that does nothing is waiting for, if it is waiting for something."""
    if any(each.kind != "trace" for each in tx.approvals.pending(agent_id)):
        return "awaiting_approval"
    return "awaiting_delegation" if tx.tasks.open_requested_by(agent_id) else "idle"


def wanted_status(tx: Transaction, agent: Agent, said: Status | None) -> tuple[Status, int | None]:
    """The status after an agent said what it is doing, or gave a mere sign of life. Whoever says that it is idle
    may be waiting for something, which the hub knows better."""
    status = said or ("idle" if agent.status == "offline" else agent.status)
    if status == "idle" and agent.status != "idle":
        return at_rest(tx, agent.id), None
    return status, agent.sleeping_until if status == "sleeping" else None


def settle(tx: Transaction, agent_id: str, now: int, by: Principal) -> None:
    """What the agent waits for has changed. One that is at work, asleep or away stays so."""
    agent = tx.agents.get(agent_id)
    if agent is not None and agent.living and agent.status in _AT_REST:
        with_status(tx, agent, at_rest(tx, agent_id), now, by)
