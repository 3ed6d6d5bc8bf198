"""Agents: anything addressable."""

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["claude-code", "codex", "acp", "scripted", "external"]
Role = Literal["leader", "worker"]
Mode = Literal["autonomous", "supervised", "strict"]
Status = Literal["idle", "working", "sleeping", "awaiting_approval", "awaiting_delegation", "offline"]

STATUSES: tuple[str, ...] = get_args(Status)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """`id` never changes and is never reused; `name` is unique among living agents.

    `deleted_at` marks an agent that is gone: it keeps its id, its messages and its place in the journal,
    but has no name to be reached by and no valid token. `sleeping_until` is set while it sleeps.
    """

    id: str
    name: str
    kind: Kind = "external"
    role: Role = "worker"
    mode: Mode = "autonomous"
    manager: str | None = None
    project: str | None = None
    model_name: str | None = None
    status: Status = "offline"
    sleeping_until: int | None = None
    created_at: int = 0
    last_active: int = 0
    deleted_at: int | None = None

    @property
    def online(self) -> bool:
        return self.status != "offline"

    @property
    def living(self) -> bool:
        return self.deleted_at is None
