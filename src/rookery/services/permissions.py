"""Rules: who may contact whom. The operator makes them; services ask them."""

from collections.abc import Callable, Sequence

from rookery.domain.errors import InvalidRequest
from rookery.domain.events import RuleRemoved, RuleSet, audience
from rookery.domain.ids import OPERATOR
from rookery.domain.permissions import ANYBODY, Permission, Rule, Verdict, related, verdict
from rookery.domain.principals import Principal
from rookery.ports import Clock, Store, Transaction
from rookery.services.access import agent_named, require_operator


class Permissions:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def rules(self, by: Principal, agent: str | None = None) -> Sequence[Rule]:
        """All for the operator; an agent sees its own."""

        def look(tx: Transaction) -> Sequence[Rule]:
            if by.is_operator and agent is None:
                return tx.rules.all()
            whose = by.id if agent is None else agent_named(tx, agent).id
            return tx.rules.of(whose) if by.is_operator or by.id == whose else ()

        return await self._store.read(look)

    async def set(
        self, by: Principal, agent: str, target: str, permission: Permission, *, requires_approval: bool = False
    ) -> Rule:
        """Replaces the rule that there was for these two."""
        require_operator(by, "say who may contact whom")
        if permission == "deny" and requires_approval:
            raise InvalidRequest("What is denied cannot be approved: allow it with approval, or deny it.")

        def work(tx: Transaction) -> Rule:
            rule = Rule(
                agent=agent_named(tx, agent).id,
                target=_target(tx, target),
                permission=permission,
                requires_approval=requires_approval,
            )
            if rule.agent == rule.target:
                raise InvalidRequest("A rule is about two agents; an agent does not contact itself.")
            if rule not in tx.rules.of(rule.agent):
                tx.rules.put(rule)
                fact = RuleSet(rule=rule)
                tx.journal.record(fact, at=self._clock.now(), by=by, audience=audience(rule.agent))
            return rule

        return await self._store.write(work)

    async def remove(self, by: Principal, agent: str, target: str) -> bool:
        """Whether there was such a rule."""
        require_operator(by, "say who may contact whom")

        def work(tx: Transaction) -> bool:
            return _removed(tx, agent_named(tx, agent).id, _target(tx, target), self._clock.now(), by)

        return await self._store.write(work)


def standings(tx: Transaction, sender: str) -> Callable[[str], Verdict]:
    """What the rules say of an agent's contact with each other party. The operator is everybody's manager, and
    free to contact whom it likes."""
    one = tx.agents.get(sender)
    rules = () if one is None else tx.rules.of(sender)

    def standing(target: str) -> Verdict:
        other = None if target == OPERATOR else tx.agents.get(target)
        if one is None or other is None:
            return "allowed"  # what is not there is refused in its own words
        return verdict(rules, target, one.mode, related=related(one, other))

    return standing


def forget_rules(tx: Transaction, agent: str, by: Principal, now: int) -> None:
    """Of an agent that is gone, as the one who acts or the one acted upon."""
    for rule in tx.rules.all():
        if agent in (rule.agent, rule.target):
            _removed(tx, rule.agent, rule.target, now, by)


def _removed(tx: Transaction, agent: str, target: str, now: int, by: Principal) -> bool:
    if not any(rule.target == target for rule in tx.rules.of(agent)):
        return False
    tx.rules.remove(agent, target)
    tx.journal.record(RuleRemoved(agent=agent, target=target), at=now, by=by, audience=audience(agent))
    return True


def _target(tx: Transaction, said: str) -> str:
    return ANYBODY if said == ANYBODY else agent_named(tx, said).id
