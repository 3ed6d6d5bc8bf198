"""Agents in SQL."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rookery.domain.agents import Agent
from rookery.domain.names import same_name
from rookery.stores.tables.changes import Changes, agent_record

COLUMNS = (
    "id, name, kind, role, mode, manager, project, model_name, status, sleeping_until, created_at, last_active,"
    " deleted_at"
)
_GET = f"SELECT {COLUMNS} FROM agents WHERE id = ?"
_LIVING_BY_ID = f"SELECT {COLUMNS} FROM agents WHERE id = ? AND deleted_at IS NULL"
_LIVING_BY_NAME = f"SELECT {COLUMNS} FROM agents WHERE same_name = ? AND deleted_at IS NULL"
_LIVING = f"SELECT {COLUMNS} FROM agents WHERE deleted_at IS NULL ORDER BY rid"
_ALL = f"SELECT {COLUMNS} FROM agents ORDER BY rid"
# '.' is the character after '-', so the range holds exactly the ids that start with "<pair>-".
_IDS_LIKE = "SELECT id FROM agents WHERE id = :pair OR (id > :pair || '-' AND id < :pair || '.')"
_BORN = "SELECT born FROM agents WHERE id = ?"
_ADD = (
    "INSERT INTO agents (id, name, same_name, kind, role, mode, manager, project, model_name, status,"
    " sleeping_until, created_at, last_active, deleted_at, born)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_UPDATE = (
    "UPDATE agents SET name = ?, same_name = ?, kind = ?, role = ?, mode = ?, manager = ?, project = ?,"
    " model_name = ?, status = ?, sleeping_until = ?, created_at = ?, last_active = ?, deleted_at = ? WHERE id = ?"
)
_TOUCH = "UPDATE agents SET last_active = ? WHERE id = ?"


class AgentTable:
    """The writer, who alone changes agents, remembers those it has read: every send asks for two of them."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        journal_end: Callable[[], int],
        changes: Changes | None,
        *,
        writable: bool,
    ) -> None:
        self._connection = connection
        self._journal_end = journal_end
        self._changes = changes
        self._remembers = writable
        self._known: dict[str, Agent] = {}
        self._found: dict[str, str] = {}

    def get(self, agent_id: str) -> Agent | None:
        known = self._known.get(agent_id)
        if known is not None:
            return known
        row = self._connection.execute(_GET, (agent_id,)).fetchone()
        if row is None:
            return None
        agent = agent_from(row)
        if self._remembers:
            self._known[agent_id] = agent
        return agent

    def find(self, id_or_name: str) -> Agent | None:
        known = self._found.get(id_or_name)
        if known is not None:
            return self.get(known)
        row = self._connection.execute(_LIVING_BY_ID, (id_or_name,)).fetchone()
        if row is None:
            row = self._connection.execute(_LIVING_BY_NAME, (same_name(id_or_name),)).fetchone()
        if row is None:
            return None
        agent = agent_from(row)
        if self._remembers:
            self._found[id_or_name] = agent.id
            self._known[agent.id] = agent
        return agent

    def living(self) -> Sequence[Agent]:
        return [agent_from(row) for row in self._connection.execute(_LIVING)]

    def all(self) -> Iterator[Agent]:
        return (agent_from(row) for row in self._connection.execute(_ALL))

    def ids_like(self, pair: str) -> frozenset[str]:
        found = [row[0] for row in self._connection.execute(_IDS_LIKE, {"pair": pair})]
        return frozenset(each for each in found if each == pair or each[len(pair) + 1 :].isdecimal())

    def born_at(self, agent_id: str) -> int:
        row = self._connection.execute(_BORN, (agent_id,)).fetchone()
        return 0 if row is None else row[0]

    def add(self, agent: Agent) -> None:
        """Its registration is the next thing recorded in the journal, by the contract of the services."""
        self.restore(agent, self._journal_end() + 1)

    def restore(self, agent: Agent, born: int) -> None:
        """Add an agent that was registered at that position."""
        self.forget()
        self._connection.execute(
            _ADD,
            (
                agent.id, agent.name, same_name(agent.name), agent.kind, agent.role, agent.mode,
                agent.manager, agent.project, agent.model_name, agent.status, agent.sleeping_until,
                agent.created_at, agent.last_active, agent.deleted_at, born,
            ),
        )  # fmt: skip
        if self._changes is not None:
            self._changes.append(agent_record(agent, born))

    def update(self, agent: Agent) -> None:
        self.forget()
        self._connection.execute(
            _UPDATE,
            (
                agent.name, same_name(agent.name), agent.kind, agent.role, agent.mode, agent.manager,
                agent.project, agent.model_name, agent.status, agent.sleeping_until, agent.created_at,
                agent.last_active, agent.deleted_at, agent.id,
            ),
        )  # fmt: skip
        if self._changes is not None:
            self._changes.append(agent_record(agent, self.born_at(agent.id)))

    def touch(self, agent_id: str, last_active: int) -> None:
        self._known.pop(agent_id, None)
        self._connection.execute(_TOUCH, (last_active, agent_id))
        if self._changes is not None:
            self._changes.append({"record": "sign_of_life", "id": agent_id, "last_active": last_active})

    def forget(self) -> None:
        """What is remembered is out of date, or was never stored: a group of works was taken back."""
        self._known.clear()
        self._found.clear()


def agent_from(row: tuple[Any, ...]) -> Agent:
    return Agent(
        id=row[0], name=row[1], kind=row[2], role=row[3], mode=row[4], manager=row[5], project=row[6],
        model_name=row[7], status=row[8], sleeping_until=row[9], created_at=row[10], last_active=row[11],
        deleted_at=row[12],
    )  # fmt: skip
