"""Agents come, change, give signs of life, fall silent and go."""

import asyncio
import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rookery.domain.agents import Agent, Kind, Mode, Role, Status
from rookery.domain.errors import Forbidden, NameRefused, NameTaken, RookeryError
from rookery.domain.events import (
    EVERYONE,
    AgentDeleted,
    AgentRegistered,
    AgentRenamed,
    AgentUpdated,
)
from rookery.domain.ids import ADJECTIVES, ANIMALS, agent_slug
from rookery.domain.names import checked_name, suggested_name
from rookery.domain.principals import THE_HUB, Principal
from rookery.ports import Clock, Store, Transaction
from rookery.services.access import (
    Access,
    agent_named,
    new_token,
    own_or_operated,
    require_operator,
    revoke_tokens,
)
from rookery.services.departure import Departure
from rookery.services.notices import known_as
from rookery.services.statuses import at_rest, wanted_status, with_status

_log = logging.getLogger(__name__)

SIGN_EVERY = 10_000
"""Milliseconds between two signs of life that are written down for an agent which is busy calling, unless the
hub's patience is shorter than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What an agent says of itself. None means: not said."""

    name: str | None = None
    model_name: str | None = None
    role: Role | None = None
    kind: Kind | None = None
    project: str | None = None
    manager: str | None = None
    mode: Mode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """`token` is there this once, and only for a new agent."""

    agent: Agent
    token: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An update. None means: leave as it is; an empty manager or project takes it away."""

    name: str | None = None
    project: str | None = None
    model_name: str | None = None
    status: Status | None = None
    role: Role | None = None
    kind: Kind | None = None
    manager: str | None = None
    mode: Mode | None = None

    def touches_authority(self) -> bool:
        return any(field is not None for field in (self.role, self.kind, self.manager, self.mode))


class Agents:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        access: Access,
        departure: Departure,
        *,
        sign_every: int = SIGN_EVERY,
    ) -> None:
        self._store = store
        self._departure = departure
        self._clock = clock
        self._access = access
        self._sign_every = sign_every
        self._last_sign: dict[str, int] = {}
        self._noticing: set[asyncio.Task[None]] = set()

    # -- coming and going ----------------------------------------------------------------------------

    async def register(self, by: Principal, wanted: Registration) -> Registered:
        """A new agent for the operator; for a valid agent token the same agent again, awake."""
        if by.is_agent:
            return Registered(agent=await self._resume(by, wanted), token=None)

        def work(tx: Transaction) -> Registered:
            now = self._clock.now()
            agent_id = _free_id(tx)
            agent = Agent(
                id=agent_id,
                name=_name_for(tx, wanted, agent_id),
                kind=wanted.kind or "external",
                role=wanted.role or "worker",
                mode=wanted.mode or "autonomous",
                manager=agent_named(tx, wanted.manager).id if wanted.manager else None,
                project=wanted.project or None,
                model_name=wanted.model_name or None,
                status="idle",
                created_at=now,
                last_active=now,
            )
            tx.agents.add(agent)
            tx.journal.record(AgentRegistered(agent=agent), at=now, by=by, audience=EVERYONE)
            return Registered(agent=agent, token=new_token(tx, agent.id, now, by))

        return await self._store.write(work)

    async def _resume(self, by: Principal, wanted: Registration) -> Agent:
        change = Change(name=wanted.name, project=wanted.project, model_name=wanted.model_name, status="idle")
        return await self.update(by, by.id, change)

    async def delete(self, by: Principal, id_or_name: str) -> Agent:
        """The agent is gone: its name is free, its tokens end, and what waited for it is dead.

        Its id stays taken and its messages stay where they are.
        """

        def work(tx: Transaction) -> Agent:
            agent = own_or_operated(tx, by, id_or_name, "delete it")
            now = self._clock.now()
            self._departure.settle_affairs(tx, agent, by, now)
            gone = replace(agent, deleted_at=now, status="offline", sleeping_until=None)
            tx.agents.update(gone)
            revoke_tokens(tx, agent.id, now, by)
            fact = AgentDeleted(agent_id=agent.id, name=agent.name, at=now)
            tx.journal.record(fact, at=now, by=by, audience=EVERYONE)
            return gone

        gone = await self._store.write(work, frees=True)
        self._access.forget_tokens()
        return gone

    # -- looking -------------------------------------------------------------------------------------

    async def living(self) -> Sequence[Agent]:
        return await self._store.read(lambda tx: tx.agents.living())

    async def names(self, agent_ids: Sequence[str]) -> Sequence[str]:
        """What people call them, the operator too; also those that are gone."""
        return await self._store.read(lambda tx: [known_as(tx, agent_id) for agent_id in agent_ids])

    async def get(self, id_or_name: str) -> Agent:
        return await self._store.read(lambda tx: agent_named(tx, id_or_name))

    # -- changing ------------------------------------------------------------------------------------

    async def update(self, by: Principal, id_or_name: str, change: Change) -> Agent:
        """An agent may change its name, project, model and status; its authority only the operator."""

        def work(tx: Transaction) -> Agent:
            agent = own_or_operated(tx, by, id_or_name, "change it")
            if change.touches_authority() and not by.is_operator:
                raise Forbidden("Only the operator may change an agent's role, kind, manager or mode.")
            now = self._clock.now()
            agent = _renamed(tx, agent, change.name, now, by)
            agent = _updated(tx, agent, change, now, by)
            if change.status is not None:
                status, until = wanted_status(tx, agent, change.status)
                agent = with_status(tx, agent, status, now, by, until=until)
            if by.id == agent.id:
                tx.agents.touch(agent.id, now)
                agent = replace(agent, last_active=now)
            return agent

        return await self._store.write(work)

    async def sleep(self, by: Principal, id_or_name: str, milliseconds: int) -> Agent:
        """Until then it is not bothered with work that is handed over; a question wakes it."""

        def work(tx: Transaction) -> Agent:
            agent = own_or_operated(tx, by, id_or_name, "put it to sleep")
            now = self._clock.now()
            return with_status(tx, agent, "sleeping", now, by, until=now + milliseconds)

        return await self._store.write(work)

    async def wake(self, by: Principal, id_or_name: str) -> Agent:
        """Waking one that is awake changes nothing."""

        def work(tx: Transaction) -> Agent:
            agent = own_or_operated(tx, by, id_or_name, "wake it")
            return self._awake(tx, agent, by) if agent.status == "sleeping" else agent

        return await self._store.write(work)

    async def wake_those_who_slept_enough(self) -> int:
        def rested(tx: Transaction) -> list[Agent]:
            now = self._clock.now()
            return [
                agent
                for agent in tx.agents.living()
                if agent.status == "sleeping" and agent.sleeping_until is not None and agent.sleeping_until <= now
            ]

        def work(tx: Transaction) -> int:
            agents = rested(tx)
            for agent in agents:
                self._awake(tx, agent, THE_HUB)
            return len(agents)

        return await self._store.write(work) if await self._store.read(rested) else 0

    def _awake(self, tx: Transaction, agent: Agent, by: Principal) -> Agent:
        """It has as long to give a sign of life as any other."""
        now = self._clock.now()
        awake = with_status(tx, agent, at_rest(tx, agent.id), now, by)
        tx.agents.touch(agent.id, now)
        return replace(awake, last_active=now)

    # -- signs of life -------------------------------------------------------------------------------

    async def heartbeat(self, by: Principal, id_or_name: str, status: Status | None = None) -> Agent:
        """Keep the agent online and its claims alive. One that was offline is idle again."""

        def work(tx: Transaction) -> Agent:
            agent = own_or_operated(tx, by, id_or_name, "send its heartbeat")
            return _alive(tx, agent, status, self._clock.now(), by)

        return await self._store.write(work)

    async def settle(self) -> None:
        """Wait for the signs of life that are being written."""
        await asyncio.gather(*self._noticing)

    def notice(self, principal: Principal) -> None:
        """Any call with an agent's own token is a sign of life. The call does not wait for it to be written,
        and a busy agent's are written now and then."""
        now = self._clock.now()
        if now - self._last_sign.get(principal.id, -self._sign_every) < self._sign_every:
            return
        self._last_sign[principal.id] = now
        task = asyncio.get_running_loop().create_task(self._write_sign(principal.id))
        self._noticing.add(task)
        task.add_done_callback(self._noticing.discard)

    async def _write_sign(self, agent_id: str) -> None:
        try:
            await self.still_here([agent_id])
        except RookeryError as refusal:
            _log.warning("a sign of life of %s was not written: %s", agent_id, refusal.message)

    async def still_here(self, agent_ids: Sequence[str]) -> None:
        """Those with an open socket are alive without saying so."""

        def work(tx: Transaction) -> None:
            now = self._clock.now()
            for agent_id in agent_ids:
                agent = tx.agents.get(agent_id)
                if agent is not None and agent.living:
                    _alive(tx, agent, None, now, THE_HUB)

        if agent_ids:
            await self._store.write(work)

    async def mark_silent(self, silent_for: int) -> int:
        """Agents without a sign of life for that many milliseconds are offline, unless they said that they sleep.
        They are never deleted."""
        moment = self._clock.now() - silent_for

        def quiet(tx: Transaction) -> list[Agent]:
            return [
                agent
                for agent in tx.agents.living()
                if agent.online and agent.status != "sleeping" and agent.last_active <= moment
            ]

        def work(tx: Transaction) -> int:
            silent = quiet(tx)
            for agent in silent:
                with_status(tx, agent, "offline", self._clock.now(), THE_HUB)
            return len(silent)

        return await self._store.write(work) if await self._store.read(quiet) else 0

    async def rotate_token(self, by: Principal, id_or_name: str) -> tuple[Agent, str]:
        """End an agent's tokens and give it a new one."""
        require_operator(by, "renew tokens")

        def work(tx: Transaction) -> tuple[Agent, str]:
            agent = agent_named(tx, id_or_name)
            now = self._clock.now()
            revoke_tokens(tx, agent.id, now, by)
            return agent, new_token(tx, agent.id, now, by)

        renewed = await self._store.write(work)
        self._access.forget_tokens()
        return renewed


def _free_id(tx: Transaction) -> str:
    pick = secrets.randbelow(len(ADJECTIVES) * len(ANIMALS))
    taken = set(tx.agents.ids_like(agent_slug(pick, ())))
    slug = agent_slug(pick, taken)
    while tx.agents.find(slug) is not None:  # somebody's name
        taken.add(slug)
        slug = agent_slug(pick, taken)
    return slug


def _name_for(tx: Transaction, wanted: Registration, agent_id: str) -> str:
    if wanted.name is not None:
        return _free_name(tx, checked_name(wanted.name), agent_id)
    stem = suggested_name(wanted.model_name or "")
    try:
        candidate = checked_name(stem)
    except NameRefused:
        return agent_id
    number = 1
    while _is_taken(tx, candidate, agent_id):
        number += 1
        candidate = f"{stem}-{number}"
    return candidate


def _free_name(tx: Transaction, name: str, agent_id: str) -> str:
    if _is_taken(tx, name, agent_id):
        raise NameTaken(name)
    return name


def _is_taken(tx: Transaction, name: str, agent_id: str) -> bool:
    holder = tx.agents.find(name)
    # An id stays its agent's for ever, so that a newcomer cannot pass for one that is gone.
    return (holder is not None and holder.id != agent_id) or (
        name != agent_id and tx.agents.get(name.casefold()) is not None
    )


def _renamed(tx: Transaction, agent: Agent, name: str | None, now: int, by: Principal) -> Agent:
    if name is None or name == agent.name:
        return agent
    renamed = replace(agent, name=_free_name(tx, checked_name(name), agent.id))
    tx.agents.update(renamed)
    fact = AgentRenamed(agent_id=agent.id, previous_name=agent.name, name=name)
    tx.journal.record(fact, at=now, by=by, audience=EVERYONE)
    return renamed


def _updated(tx: Transaction, agent: Agent, change: Change, now: int, by: Principal) -> Agent:
    manager = agent.manager
    if change.manager is not None:
        manager = agent_named(tx, change.manager).id if change.manager else None
    updated = replace(
        agent,
        kind=change.kind or agent.kind,
        role=change.role or agent.role,
        mode=change.mode or agent.mode,
        manager=manager,
        project=agent.project if change.project is None else change.project or None,
        model_name=agent.model_name if change.model_name is None else change.model_name or None,
    )
    if updated == agent:
        return agent
    tx.agents.update(updated)
    fact = AgentUpdated(
        agent_id=agent.id, kind=updated.kind, role=updated.role, mode=updated.mode, manager=updated.manager,
        project=updated.project, model_name=updated.model_name,
    )  # fmt: skip
    tx.journal.record(fact, at=now, by=by, audience=EVERYONE)
    return updated


def _alive(tx: Transaction, agent: Agent, said: Status | None, now: int, by: Principal) -> Agent:
    status, until = wanted_status(tx, agent, said)
    agent = with_status(tx, agent, status, now, by, until=until)
    tx.agents.touch(agent.id, now)
    return replace(agent, last_active=now)
