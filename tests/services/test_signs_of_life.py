"""Agents give signs of life, and fall silent."""

from pathlib import Path
from typing import Any

import pytest

from rookery.domain.agents import STATUSES
from rookery.domain.errors import Unauthorized
from rookery.domain.events import (
    AgentStatusChanged,
)
from rookery.services.expiry import ClaimRules
from tests.services.house import MINUTE, SECOND, THE_OPERATOR, House, a_house

# -- signs of life ---------------------------------------------------------------------------------------


async def test_a_silent_agent_is_offline_after_a_minute_and_never_deleted(house: House) -> None:
    member = await house.member("quiet")
    house.clock.move_on(MINUTE - 1)
    await house.hub.sweep()
    assert (await house.agent(member.id)).status == "idle"
    house.clock.move_on(1)
    await house.hub.sweep()
    assert (await house.agent(member.id)).status == "offline"
    house.clock.move_on(365 * 24 * 60 * MINUTE)
    await house.hub.sweep()
    assert (await house.agent(member.id)).living
    assert (await house.hub.access.principal(member.token)).id == member.id


async def test_falling_silent_is_told_once(house: House) -> None:
    member = await house.member("quiet")
    for _ in range(3):
        house.clock.move_on(MINUTE)
        await house.hub.sweep()
    (entry,) = await house.journal(AgentStatusChanged)
    assert entry.fact == AgentStatusChanged(agent_id=member.id, previous_status="idle", status="offline")
    assert entry.actor == "hub"


async def test_a_heartbeat_keeps_an_agent_online(house: House) -> None:
    member = await house.member("beating")
    for _ in range(5):
        house.clock.move_on(MINUTE - 1)
        agent = await house.hub.agents.heartbeat(member.principal, "beating")
        assert agent.last_active == house.clock.now()
        await house.hub.sweep()
    assert (await house.agent(member.id)).status == "idle"


async def test_a_heartbeat_wakes_one_who_was_offline(house: House) -> None:
    member = await house.member("quiet")
    house.clock.move_on(MINUTE)
    await house.hub.sweep()
    assert (await house.hub.agents.heartbeat(member.principal, "quiet")).status == "idle"


@pytest.mark.parametrize("status", STATUSES)
async def test_a_heartbeat_may_say_how_things_are(house: House, status: Any) -> None:
    member = await house.member("beating")
    assert (await house.hub.agents.heartbeat(member.principal, member.id, status)).status == status
    assert (await house.agent(member.id)).status == status


async def test_a_heartbeat_keeps_the_status_it_does_not_mention(house: House) -> None:
    member = await house.member("beating")
    await house.hub.agents.heartbeat(member.principal, member.id, "working")
    assert (await house.hub.agents.heartbeat(member.principal, member.id)).status == "working"


async def test_a_heartbeat_that_changes_nothing_but_the_time_is_no_fact(house: House) -> None:
    member = await house.member("beating")
    before = await house.position()
    house.clock.move_on(SECOND)
    await house.hub.agents.heartbeat(member.principal, member.id)
    assert await house.position() == before


async def test_any_call_is_a_sign_of_life(house: House) -> None:
    member = await house.member("busy")
    house.clock.move_on(MINUTE)
    await house.hub.sweep()
    house.hub.agents.notice(member.principal)
    await house.hub.agents.settle()
    agent = await house.agent(member.id)
    assert (agent.status, agent.last_active) == ("idle", house.clock.now())


async def test_a_busy_caller_is_written_down_now_and_then(house: House) -> None:
    member = await house.member("busy")
    for _ in range(100):
        house.clock.move_on(200)
        house.hub.agents.notice(member.principal)
    commits = house.store.report().commits
    await house.hub.agents.settle()
    assert house.store.report().commits - commits <= 2
    assert house.clock.now() - (await house.agent(member.id)).last_active <= 10 * SECOND


async def test_a_caller_never_counts_as_silent_however_short_the_patience(tmp_path: Path) -> None:
    async with a_house(tmp_path / "impatient", silent_after=3 * SECOND) as house:
        member = await house.member("busy")
        for _ in range(20):
            house.clock.move_on(SECOND)
            house.hub.agents.notice(member.principal)
            await house.hub.agents.settle()
            await house.hub.sweep()
        assert await house.journal(AgentStatusChanged) == []


async def test_a_caller_never_loses_its_claim_however_short_the_patience(tmp_path: Path) -> None:
    rules = ClaimRules(silence=3 * SECOND)
    async with a_house(tmp_path / "impatient", claims=rules) as house:
        member = await house.member("busy")
        receipt = await house.send(THE_OPERATOR, member)
        await house.hub.inbox.claim(member.principal, member.id, receipt.message.id)
        for _ in range(20):
            house.clock.move_on(SECOND)
            house.hub.agents.notice(member.principal)
            await house.hub.agents.settle()
            await house.hub.sweep()
        assert (await house.delivery(receipt, member)).folder == "cur"


async def test_an_open_socket_keeps_a_claim_however_short_the_patience(tmp_path: Path) -> None:
    async with a_house(tmp_path / "impatient", claims=ClaimRules(silence=3 * SECOND)) as house:
        member = await house.member("listening")
        receipt = await house.send(THE_OPERATOR, member)
        await house.hub.inbox.claim(member.principal, member.id, receipt.message.id)
        subscription = house.hub.relay.subscribe(member.id, None)
        for _ in range(20):
            house.clock.move_on(SECOND)
            await house.hub.sweep()
        assert (await house.delivery(receipt, member)).folder == "cur"
        subscription.close()


async def test_an_open_socket_is_a_sign_of_life(house: House) -> None:
    member = await house.member("listening")
    subscription = house.hub.relay.subscribe(member.id, None)
    for _ in range(10):
        house.clock.move_on(MINUTE // 3)
        await house.hub.sweep()
    assert (await house.agent(member.id)).status == "idle"
    subscription.close()
    house.clock.move_on(MINUTE)
    await house.hub.sweep()
    assert (await house.agent(member.id)).status == "offline"


async def test_a_call_of_one_who_was_deleted_brings_nobody_back(house: House) -> None:
    member = await house.member("gone")
    await house.hub.agents.delete(THE_OPERATOR, "gone")
    await house.hub.agents.still_here([member.id, "never-was"])
    assert not (await house.agent(member.id)).living
    with pytest.raises(Unauthorized):
        await house.hub.access.principal(member.token)
