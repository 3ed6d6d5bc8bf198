"""Handlers for agents."""

from msgspec import UNSET

from rookery.services.agents import Change, Registration
from rookery.surfaces.rest.call import Call
from rookery.wire import requests as ask
from rookery.wire import responses as answer
from rookery.wire.times import iso
from rookery.wire.views import agent_view


async def register_agent(call: Call) -> answer.RegisterResponse:
    body: ask.RegisterRequest = call.body
    wanted = Registration(
        name=body.name,
        model_name=body.model_name,
        role=body.role,
        kind=body.kind,
        project=body.project,
        manager=body.manager,
        mode=body.mode,
    )
    done = await call.hub.agents.register(call.principal, wanted)
    verb = "resumed" if done.token is None else "registered"
    return answer.RegisterResponse(
        agent_id=done.agent.id,
        name=done.agent.name,
        role=done.agent.role,
        token=done.token,
        message=f"Agent {done.agent.name} {verb} as {done.agent.id}",
    )


async def list_agents(call: Call) -> answer.AgentsResponse:
    agents = [agent_view(agent) for agent in await call.hub.agents.living()]
    return answer.AgentsResponse(agents=agents, count=len(agents))


async def get_agent(call: Call) -> answer.AgentResponse:
    return answer.AgentResponse(agent=agent_view(await call.hub.agents.get(call.path["agent"])))


async def update_agent(call: Call) -> answer.AgentResponse:
    body: ask.UpdateRequest = call.body
    change = Change(
        name=body.name,
        project=None if body.project is UNSET else body.project or "",
        model_name=None if body.model_name is UNSET else body.model_name or "",
        manager=None if body.manager is UNSET else body.manager or "",
        status=body.status,
        role=body.role,
        kind=body.kind,
        mode=body.mode,
    )
    agent = await call.hub.agents.update(call.principal, call.path["agent"], change)
    return answer.AgentResponse(agent=agent_view(agent))


async def delete_agent(call: Call) -> answer.DeletedResponse:
    gone = await call.hub.agents.delete(call.principal, call.path["agent"])
    return answer.DeletedResponse(agent_id=gone.id, message=f"Agent {gone.name} deleted")


async def heartbeat(call: Call) -> answer.HeartbeatResponse:
    body: ask.HeartbeatRequest = call.body
    agent = await call.hub.agents.heartbeat(call.principal, call.path["agent"], body.status)
    _, unread = await call.hub.inbox.unread_count(call.principal, agent.id)
    return answer.HeartbeatResponse(
        agent_id=agent.id, status=agent.status, last_active=iso(agent.last_active), unread_count=unread
    )


async def new_token(call: Call) -> answer.TokenResponse:
    agent, secret = await call.hub.agents.rotate_token(call.principal, call.path["agent"])
    return answer.TokenResponse(agent_id=agent.id, token=secret)


async def revoke_tokens(call: Call) -> answer.RevokedResponse:
    agent_id, revoked = await call.hub.access.revoke_all(call.principal, call.path["agent"])
    return answer.RevokedResponse(agent_id=agent_id, revoked=revoked)
