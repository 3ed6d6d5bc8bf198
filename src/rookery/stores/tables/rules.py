"""Rules in SQL."""

import sqlite3
from collections.abc import Sequence

from rookery.domain.permissions import Rule
from rookery.stores.tables.changes import Changes
from rookery.stores.tables.papers import Kind, Papers

RULE = Kind("rule", "rules", Rule, key=("agent", "target"))

OF = f"{RULE.select} WHERE agent = ? ORDER BY rid"


class RuleTable:
    def __init__(self, connection: sqlite3.Connection, changes: Changes | None, *, writable: bool) -> None:
        self._papers = Papers(RULE, connection, changes, writable=writable)

    def of(self, agent: str) -> Sequence[Rule]:
        return self._papers.many(OF, agent)

    def all(self) -> Sequence[Rule]:
        return self._papers.many(RULE.all)

    def put(self, rule: Rule) -> None:
        self._papers.put(rule)

    def remove(self, agent: str, target: str) -> None:
        self._papers.remove(agent, target)
