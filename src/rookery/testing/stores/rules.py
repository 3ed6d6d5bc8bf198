"""Rules: one for each agent and target, set and removed."""

from dataclasses import replace
from pathlib import Path

import pytest

from rookery.domain.events import RuleRemoved
from rookery.domain.permissions import Rule
from rookery.ports import Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.export import exported
from rookery.testing.stores.laws import replayed, stored
from rookery.testing.stores.samples import BEAR, BY_FOX, FOX, NOW, OWL, Mishap, ruled

TO_ANYBODY = Rule(agent=FOX, target="*", permission="allow", requires_approval=True)
TO_OWL = Rule(agent=FOX, target=OWL, permission="deny")
OF_OWL = Rule(agent=OWL, target=FOX, permission="allow")


def removed(tx: Transaction, rule: Rule) -> None:
    """Remove the rule together with the fact of its removal."""
    tx.rules.remove(rule.agent, rule.target)
    fact = RuleRemoved(agent=rule.agent, target=rule.target)
    tx.journal.record(fact, at=NOW, by=BY_FOX, audience=())


class RuleContract(StoreCase):
    async def test_the_rules_of_an_agent_are_its_own_alone(self, store: Store) -> None:
        await store.write(lambda tx: ruled(tx, TO_ANYBODY, OF_OWL, TO_OWL))

        def look(tx: Transaction) -> list[list[Rule]]:
            return [list(tx.rules.of(agent)) for agent in (FOX, OWL, BEAR, "*", "")]

        assert await store.read(look) == [[TO_ANYBODY, TO_OWL], [OF_OWL], [], [], []]
        assert list(await store.read(lambda tx: tx.rules.all())) == [TO_ANYBODY, OF_OWL, TO_OWL]

    async def test_a_second_rule_for_the_same_target_replaces_the_first(self, store: Store) -> None:
        changed = replace(TO_ANYBODY, permission="deny", requires_approval=False)
        await store.write(lambda tx: ruled(tx, TO_ANYBODY, TO_OWL))
        await store.write(lambda tx: ruled(tx, changed))
        assert list(await store.read(lambda tx: tx.rules.all())) == [changed, TO_OWL]

    async def test_a_removed_rule_is_gone_for_good(self, store: Store, directory: Path) -> None:
        def look(tx: Transaction) -> list[list[Rule]]:
            assert replayed(tx) == stored(tx)
            return [list(tx.rules.of(FOX)), list(tx.rules.of(OWL)), list(tx.rules.all())]

        await store.write(lambda tx: ruled(tx, TO_ANYBODY, OF_OWL, TO_OWL))
        await store.write(lambda tx: removed(tx, TO_ANYBODY))
        expected = [[TO_OWL], [OF_OWL], [OF_OWL, TO_OWL]]
        assert await store.read(look) == expected
        await store.rebuild(lambda _: None)
        assert await store.read(look) == expected
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(look) == expected
            await again.write(lambda tx: ruled(tx, TO_ANYBODY))
            assert list(await again.read(lambda tx: tx.rules.all())) == [OF_OWL, TO_OWL, TO_ANYBODY]

    async def test_removing_what_never_was_changes_nothing(self, store: Store) -> None:
        await store.write(lambda tx: ruled(tx, TO_OWL))
        before = await exported(store)
        for agent, target in ((FOX, "*"), (OWL, FOX), (FOX, ""), ("*", OWL)):
            await store.write(lambda tx, agent=agent, target=target: tx.rules.remove(agent, target))
        assert await exported(store) == before

    async def test_a_work_that_fails_has_removed_nothing(self, store: Store) -> None:
        def failing(tx: Transaction) -> None:
            tx.rules.remove(FOX, OWL)
            assert list(tx.rules.all()) == []
            raise Mishap

        await store.write(lambda tx: ruled(tx, TO_OWL))
        with pytest.raises(Mishap):
            await store.write(failing)
        assert list(await store.read(lambda tx: tx.rules.all())) == [TO_OWL]

    async def test_no_rule_is_removed_inside_a_read(self, store: Store) -> None:
        await store.write(lambda tx: ruled(tx, TO_OWL))
        with pytest.raises(Exception):  # noqa: B017, PT011 - any will do, so long as it is refused
            await store.read(lambda tx: tx.rules.remove(FOX, OWL))
        assert list(await store.read(lambda tx: tx.rules.all())) == [TO_OWL]
