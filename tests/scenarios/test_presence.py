"""Who is there: signs of life bring an agent online, silence takes it offline, nothing removes it."""

import pytest

from tests.scenarios.listener import Listener
from tests.scenarios.switchboard import Agent, Switchboard
from tests.support.fixtures import HubFactory
from tests.support.hub_process import HubProcess


@pytest.fixture
def hub(hub_factory: HubFactory) -> HubProcess:
    """A hub that takes half a second without a sign for silence."""
    return hub_factory(env={"ROOKERY_SILENT_AFTER": "0.5", "ROOKERY_SWEEP_EVERY": "0.05"})


async def presence(board: Switchboard) -> dict[str, tuple[str, bool]]:
    agents = (await board.get("/v1/agents"))["agents"]
    return {agent["name"]: (agent["status"], agent["online"]) for agent in agents}


async def goes_offline(board: Switchboard, agent: Agent, *, after: int) -> int:
    """Returns the position at which the silence of an agent was noticed."""
    event = await board.event_of("agent_status_changed", agent_id=agent.id, status="offline", after=after)
    return event["position"]


async def test_a_silent_agent_is_offline_but_never_gone(board: Switchboard) -> None:
    ann, bob = await board.register_many("ann", "bob")
    assert await presence(board) == {"ann": ("idle", True), "bob": ("idle", True)}

    for agent in (ann, bob):
        await goes_offline(board, agent, after=0)

    assert await presence(board) == {"ann": ("offline", False), "bob": ("offline", False)}
    await board.send(ann, bob, "for when you are back")
    assert len(await board.inbox(bob)) == 1


async def test_a_heartbeat_brings_an_agent_back_online(board: Switchboard) -> None:
    ann = await board.register("ann")
    position = await goes_offline(board, ann, after=0)

    answer = await board.post(f"/v1/agents/{ann.id}/heartbeat", token=ann.token)

    assert answer["status"] == "idle"
    back = await board.event_of("agent_status_changed", agent_id=ann.id, after=position)
    assert (back["previous_status"], back["status"]) == ("offline", "idle")
    await goes_offline(board, ann, after=back["position"])


async def test_an_agent_is_online_for_as_long_as_its_socket_is_open(board: Switchboard) -> None:
    """How long is long enough is shown by another agent, which is silent."""
    ann, silent = await board.register_many("ann", "silent")
    await goes_offline(board, ann, after=0)
    start = position = await board.position()
    async with Listener(board.hub, token=ann.token).connected():
        for _ in range(3):
            await board.post(f"/v1/agents/{silent.id}/heartbeat")
            position = await goes_offline(board, silent, after=position)
        assert (await presence(board))["ann"] == ("idle", True)
        meanwhile = [event for event in await board.events(after=start) if event.get("agent_id") == ann.id]
        assert [event["status"] for event in meanwhile] == ["idle"]

    await goes_offline(board, ann, after=position)


async def test_any_call_with_its_own_token_is_a_sign_of_life(board: Switchboard) -> None:
    ann = await board.register("ann")
    position = await goes_offline(board, ann, after=0)
    await board.get(f"/v1/agents/messages/{ann.id}/unread", token=ann.token)
    await board.event_of("agent_status_changed", agent_id=ann.id, status="idle", after=position)


async def test_the_operator_looking_into_an_inbox_is_no_sign_of_life(board: Switchboard) -> None:
    ann, bob = await board.register_many("ann", "bob")
    position = await goes_offline(board, ann, after=0)
    await goes_offline(board, bob, after=0)

    await board.get(f"/v1/agents/messages/{ann.id}")
    await board.send(ann, bob, "the operator speaks for ann")
    await board.post(f"/v1/agents/{bob.id}/heartbeat")
    await goes_offline(board, bob, after=position + 1)

    assert (await presence(board))["ann"] == ("offline", False)
