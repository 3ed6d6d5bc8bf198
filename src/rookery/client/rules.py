"""Calls about rules: who may contact whom. `ANYBODY` stands for every agent."""

from typing import Final

from rookery.client.call import call_of
from rookery.client.exchange import Session, Steps, exchange
from rookery.wire import contact as answer
from rookery.wire import requests as ask
from rookery.wire.requests import Permission

ANYBODY: Final = "*"


def rules(session: Session, agent: str | None = None) -> Steps[answer.RulesResponse]:
    """All rules, or those for one agent; an agent sees its own."""
    return (yield from exchange(session, call_of("list_rules", answer.RulesResponse, query={"agent": agent})))


def allow(
    session: Session, agent: str, target: str = ANYBODY, *, requires_approval: bool = False
) -> Steps[answer.RuleResponse]:
    """Let an agent contact another; with `requires_approval`, each time the operator says yes. Replaces the rule
    that there was for these two. For the operator."""
    return (yield from _set(session, agent, target, "allow", requires_approval))


def forbid(session: Session, agent: str, target: str = ANYBODY) -> Steps[answer.RuleResponse]:
    """Keep an agent from contacting another. For the operator."""
    return (yield from _set(session, agent, target, "deny", False))


def remove_rule(session: Session, agent: str, target: str = ANYBODY) -> Steps[answer.RemovedResponse]:
    """Take a rule away; says whether there was one. For the operator."""
    query = {"agent": agent, "target": target}
    call = call_of("remove_rule", answer.RemovedResponse, query=query, repeatable=True)
    return (yield from exchange(session, call))


def _set(
    session: Session, agent: str, target: str, permission: Permission, requires_approval: bool
) -> Steps[answer.RuleResponse]:
    rule = ask.RuleRequest(agent=agent, target=target, permission=permission, requires_approval=requires_approval)
    call = call_of("set_rule", answer.RuleResponse, body=rule, repeatable=True)
    return (yield from exchange(session, call))
