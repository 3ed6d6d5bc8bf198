"""Calls about agents. Agents are named by id or by name; None means the caller itself."""

from msgspec import UNSET, UnsetType

from rookery.client.call import call_of
from rookery.client.exchange import Session, Steps, exchange
from rookery.wire import requests as ask
from rookery.wire import responses as answer
from rookery.wire.requests import Kind, Mode, Role, Status

OPERATOR = "operator"


def me(session: Session) -> Steps[str]:
    """Whose token this client has: an agent's id, or `operator`. Asked once."""
    if session.identity is None:
        known = yield from exchange(session, call_of("named_agents", answer.NamedAgentsResponse))
        if known.self_name is None:
            session.identity = OPERATOR
        else:
            found = yield from agent(session, known.self_name)
            session.identity = found.agent.agent_id
    return session.identity


def of(session: Session, agent: str | None) -> Steps[str]:
    return agent if agent is not None else (yield from me(session))


def register(
    session: Session,
    *,
    name: str | None = None,
    model_name: str | None = None,
    role: Role | None = None,
    kind: Kind | None = None,
    project: str | None = None,
    manager: str | None = None,
    mode: Mode | None = None,
) -> Steps[answer.RegisterResponse]:
    """A new agent and its token, which is told this once. Not repeated if the hub may have heard it: the
    second agent would be a stranger."""
    wanted = ask.RegisterRequest(
        name=name, model_name=model_name, role=role, kind=kind, project=project, manager=manager, mode=mode
    )
    return (yield from exchange(session, call_of("register_agent", answer.RegisterResponse, body=wanted)))


def agents(session: Session) -> Steps[answer.AgentsResponse]:
    """All agents that live here, in order of registration."""
    return (yield from exchange(session, call_of("list_agents", answer.AgentsResponse)))


def agent(session: Session, agent: str | None = None) -> Steps[answer.AgentResponse]:
    """One agent, by id or name."""
    places = {"agent": (yield from of(session, agent))}
    return (yield from exchange(session, call_of("get_agent", answer.AgentResponse, places=places)))


def update(
    session: Session,
    agent: str | None = None,
    *,
    name: str | None = None,
    project: str | UnsetType | None = UNSET,
    model_name: str | UnsetType | None = UNSET,
    manager: str | UnsetType | None = UNSET,
    status: Status | None = None,
    role: Role | None = None,
    kind: Kind | None = None,
    mode: Mode | None = None,
) -> Steps[answer.AgentResponse]:
    """Change what is given. None takes project, model_name or manager away; leave them out to keep them."""
    change = ask.UpdateRequest(
        name=name, project=project, model_name=model_name, manager=manager, status=status, role=role,
        kind=kind, mode=mode,
    )  # fmt: skip
    places = {"agent": (yield from of(session, agent))}
    call = call_of("update_agent", answer.AgentResponse, places=places, body=change, repeatable=True)
    return (yield from exchange(session, call))


def rename(session: Session, name: str, *, agent: str | None = None) -> Steps[answer.AgentResponse]:
    """The id stays."""
    return (yield from update(session, (yield from of(session, agent)), name=name))


def delete(session: Session, agent: str | None = None) -> Steps[answer.DeletedResponse]:
    """The agent is gone, its tokens end, and what waited for it is dead. Its id stays taken."""
    places = {"agent": (yield from of(session, agent))}
    return (yield from exchange(session, call_of("delete_agent", answer.DeletedResponse, places=places)))


def heartbeat(
    session: Session, agent: str | None = None, *, status: Status | None = None
) -> Steps[answer.HeartbeatResponse]:
    """A sign of life: keeps the agent online and its claims alive."""
    places = {"agent": (yield from of(session, agent))}
    call = call_of(
        "heartbeat", answer.HeartbeatResponse, places=places, body=ask.HeartbeatRequest(status=status),
        repeatable=True,
    )  # fmt: skip
    return (yield from exchange(session, call))


def sleep(session: Session, agent: str, seconds: float) -> Steps[answer.AgentResponse]:
    """Put an agent to sleep: work that is handed over to it waits, and a question wakes it."""
    call = call_of(
        "sleep", answer.AgentResponse, places={"agent": agent}, body=ask.SleepRequest(seconds=seconds),
        repeatable=True,
    )  # fmt: skip
    return (yield from exchange(session, call))


def wake(session: Session, agent: str) -> Steps[answer.AgentResponse]:
    """Waking one that is awake changes nothing."""
    call = call_of("wake", answer.AgentResponse, places={"agent": agent}, repeatable=True)
    return (yield from exchange(session, call))


def new_token(session: Session, agent: str) -> Steps[answer.TokenResponse]:
    """End the agent's tokens and give it a new one. For the operator."""
    places = {"agent": agent}
    return (yield from exchange(session, call_of("new_token", answer.TokenResponse, places=places)))


def revoke_tokens(session: Session, agent: str) -> Steps[answer.RevokedResponse]:
    """End the agent's tokens. For the operator."""
    places = {"agent": agent}
    call = call_of("revoke_tokens", answer.RevokedResponse, places=places, repeatable=True)
    return (yield from exchange(session, call))
