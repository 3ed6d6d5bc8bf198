"""A message is worked on by one at a time, and comes back when that one goes silent."""

import asyncio
from typing import Any

import pytest

from tests.scenarios.switchboard import PATIENCE, Agent, Json, Refused, Switchboard
from tests.support.fixtures import HubFactory
from tests.support.hub_process import HubProcess

RACERS = 20
LOSSES = 5


@pytest.fixture
def hub(hub_factory: HubFactory) -> HubProcess:
    """A hub that loses patience after a third of a second."""
    return hub_factory(env={"ROOKERY_CLAIM_SILENCE": "0.3", "ROOKERY_SWEEP_EVERY": "0.05"})


def inbox_of(agent: Agent) -> str:
    return f"/v1/agents/messages/{agent.id}"


async def one_message(board: Switchboard, content: str = "work", **more: Any) -> tuple[Agent, Agent, str]:
    ann, bob = await board.register_many("ann", "bob")
    return ann, bob, (await board.send(ann, bob, content, **more))["message_id"]


async def claim(board: Switchboard, agent: Agent, message_id: str, *, token: str | None = None) -> Json:
    answer = await board.post(f"{inbox_of(agent)}/{message_id}/claim", token=token or agent.token)
    return answer["message"]


async def item(board: Switchboard, agent: Agent, message_id: str) -> Json:
    return next(m for m in await board.inbox(agent) if m["message_id"] == message_id)


# -- the race --------------------------------------------------------------------------------------------


async def test_of_twenty_who_ask_for_the_next_message_exactly_one_gets_it(hub_factory: HubFactory) -> None:
    async with Switchboard(hub_factory()) as board:
        ann, bob = await board.register_many("ann", "bob")
        for number in range(10):
            await board.send(ann, bob, f"work {number}")

            answers = await asyncio.gather(
                *(board.post(f"{inbox_of(bob)}/claim", token=bob.token) for _ in range(RACERS))
            )

            won = [answer["message"] for answer in answers if answer["message"] is not None]
            assert [message["content"] for message in won] == [f"work {number}"]
            assert (won[0]["folder"], won[0]["claimed_by"]) == ("cur", bob.id)


async def test_twenty_who_ask_for_twenty_messages_get_one_each(hub_factory: HubFactory) -> None:
    async with Switchboard(hub_factory()) as board:
        ann, bob = await board.register_many("ann", "bob")
        sent = {(await board.send(ann, bob, "work"))["message_id"] for _ in range(RACERS)}

        answers = await asyncio.gather(*(board.post(f"{inbox_of(bob)}/claim") for _ in range(RACERS)))

        assert {answer["message"]["message_id"] for answer in answers} == sent
        assert (await board.post(f"{inbox_of(bob)}/claim"))["message"] is None


async def test_when_an_agent_and_the_operator_race_for_a_message_one_wins_and_the_other_hears_who(
    hub_factory: HubFactory,
) -> None:
    async with Switchboard(hub_factory()) as board:
        ann, bob = await board.register_many("ann", "bob")
        operator = board.hub.token
        assert operator is not None
        names = {bob.token: bob.id, operator: "operator"}
        for number in range(10):
            message_id = (await board.send(ann, bob, "work"))["message_id"]
            tokens = [(bob.token, operator)[(racer + number) % 2] for racer in range(RACERS)]

            outcomes = await asyncio.gather(
                *(claim(board, bob, message_id, token=token) for token in tokens), return_exceptions=True
            )

            winner = (await item(board, bob, message_id))["claimed_by"]
            for token, outcome in zip(tokens, outcomes, strict=True):
                if names[token] == winner:
                    assert isinstance(outcome, dict), outcome
                    assert outcome["claimed_by"] == winner
                else:
                    assert isinstance(outcome, Refused), outcome
                    assert (outcome.status, outcome.code) == (409, "already_claimed")
                    assert outcome.data == {"message_id": message_id, "claimed_by": winner}
            claims = [
                event
                for event in await board.events()
                if event["type"] == "inbox_message_claimed" and event["message_id"] == message_id
            ]
            assert [event["claimed_by"] for event in claims] == [winner]


# -- what time does --------------------------------------------------------------------------------------


async def test_a_claim_of_a_silent_agent_is_lost_and_the_message_is_open_again(board: Switchboard) -> None:
    _, bob, message_id = await one_message(board)
    await claim(board, bob, message_id)

    expired = await board.event_of("inbox_claim_expired", message_id=message_id)

    assert (expired["agent_id"], expired["claimed_by"], expired["folder"]) == (bob.id, bob.id, "new")
    lost = await item(board, bob, message_id)
    assert (lost["folder"], lost["claimed_by"], lost["read"]) == ("new", None, True)
    assert (await claim(board, bob, message_id))["folder"] == "cur"


async def test_a_message_whose_claims_were_lost_five_times_is_dead_and_its_sender_is_told(
    board: Switchboard,
) -> None:
    ann, bob, message_id = await one_message(board)
    after = 0
    for _ in range(LOSSES):
        assert (await item(board, bob, message_id))["folder"] == "new"
        await claim(board, bob, message_id)
        expired = await board.event_of("inbox_claim_expired", message_id=message_id, after=after)
        after = expired["position"]

    dead = await item(board, bob, message_id)
    assert (dead["folder"], dead["receipts"]["rung"]) == ("dead", "dead")
    assert f"lost {LOSSES} times" in dead["error"]
    (notice,) = await board.inbox(ann)
    assert (notice["from_agent_id"], notice["message_type"]) == ("hub", "notice")
    assert (notice["to_agent_id"], notice["reply_to"]) == (ann.id, message_id)
    assert "bob is dead" in notice["content"]
    with pytest.raises(Refused, match="already_completed"):
        await claim(board, bob, message_id)


async def test_heartbeats_keep_a_claim(hub_factory: HubFactory) -> None:
    """How long is long enough is shown by another agent, which says nothing and loses its claims."""
    slow = hub_factory(env={"ROOKERY_CLAIM_SILENCE": "1", "ROOKERY_SWEEP_EVERY": "0.05"})
    async with Switchboard(slow) as board:
        ann, bob, kept = await one_message(board)
        silent = await board.register("silent")
        await claim(board, bob, kept)
        async with asyncio.timeout(PATIENCE):
            for _ in range(2):
                lost = (await board.send(ann, silent, "work"))["message_id"]
                await claim(board, silent, lost)
                while (await item(board, silent, lost))["folder"] == "cur":
                    await board.post(f"/v1/agents/{bob.id}/heartbeat", token=bob.token)
                    await asyncio.sleep(0.05)

        held = await item(board, bob, kept)
        assert (held["folder"], held["claimed_by"]) == ("cur", bob.id)
        lost_claims = [event for event in await board.events() if event["type"] == "inbox_claim_expired"]
        assert {event["agent_id"] for event in lost_claims} == {silent.id}


async def test_a_message_that_nobody_takes_in_its_time_is_dead_and_its_sender_is_told(
    board: Switchboard,
) -> None:
    ann, bob, message_id = await one_message(board, "now or never", ttl_seconds=0.2)
    await board.send(ann, bob, "whenever you like")

    done = await board.event_of("inbox_message_completed", message_id=message_id)

    assert (done["status"], done["completed_by"]) == ("dead", "hub")
    folders = {m["content"]: m["folder"] for m in await board.inbox(bob, folder="new")}
    assert folders == {"whenever you like": "new"}
    (notice,) = await board.inbox(ann)
    assert (notice["from_agent_id"], notice["message_type"]) == ("hub", "notice")
    assert notice["reply_to"] == message_id
    with pytest.raises(Refused, match="already_completed"):
        await claim(board, bob, message_id)
