"""Permissions: what one agent may do to another."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rookery.domain.agents import Agent, Mode

Permission = Literal["allow", "deny"]
Verdict = Literal["allowed", "needs_approval", "blocked"]

ANYBODY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What `agent` may do to `target`, which is an agent's id or `*`."""

    agent: str
    target: str
    permission: Permission
    requires_approval: bool = False


def verdict(rules: Iterable[Rule], target: str, mode: Mode, *, related: bool) -> Verdict:
    """Whether an agent in that mode, with these rules of its own, may contact the target.

    A manager and its reports always may. Else the rule that names the target counts before the one for anybody,
    and of each a denial before a permission; without a rule it is allowed. Last comes the mode: only an autonomous
    agent contacts others without being asked about.
    """
    if related:
        return "allowed"
    known = {(rule.target, rule.permission): rule for rule in rules}
    for named in (target, ANYBODY):
        if (named, "deny") in known:
            return "blocked"
        allowing = known.get((named, "allow"))
        if allowing is not None:
            return _with_mode(mode, asks=allowing.requires_approval)
    return _with_mode(mode, asks=False)


def related(one: Agent, other: Agent) -> bool:
    """Whether one of them is the other's manager."""
    return one.manager == other.id or other.manager == one.id


def _with_mode(mode: Mode, *, asks: bool) -> Verdict:
    return "needs_approval" if asks or mode != "autonomous" else "allowed"
