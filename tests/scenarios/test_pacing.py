"""Two polite models cannot thank each other for hours; programs and the operator are never held up.

The hub runs on the clock of this machine, so each wait it names can be checked to the millisecond, give or take
the time that the call took.
"""

import asyncio
import time
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from rookery.wire.times import millis
from tests.scenarios.switchboard import Agent, Json, Switchboard, contents
from tests.support.fixtures import HubFactory
from tests.support.hub_process import HubProcess


@dataclass(frozen=True)
class Rules:
    """In milliseconds."""

    first_gap: int
    longest_gap: int
    reset_after: int
    eager_within: int = 3_000
    window: int = 60_000
    most_in_window: int = 10

    def settings(self) -> dict[str, str]:
        return {
            "ROOKERY_PACING_FIRST_GAP": str(self.first_gap / 1000),
            "ROOKERY_PACING_LONGEST_GAP": str(self.longest_gap / 1000),
            "ROOKERY_PACING_EAGER_WITHIN": str(self.eager_within / 1000),
            "ROOKERY_PACING_RESET_AFTER": str(self.reset_after / 1000),
            "ROOKERY_PACING_WINDOW": str(self.window / 1000),
            "ROOKERY_PACING_MOST_IN_WINDOW": str(self.most_in_window),
        }

    def allowed_at(self, accepted: list[int]) -> int:
        """When the next message of a pair is allowed, by the times of those that were accepted."""
        level = allowed = 0
        for number, at in enumerate(accepted):
            if number == 0 or at - accepted[number - 1] >= self.reset_after:
                level = 0
            elif at - allowed <= self.eager_within:
                level += 1
            allowed = at + min(self.first_gap * 2**level, self.longest_gap)
            if number + 1 >= self.most_in_window:
                allowed = max(allowed, accepted[number + 1 - self.most_in_window] + self.window)
        return allowed


NEWEST = {"latest": True, "limit": 1, "mark_read": False, "unread_only": False}

A_MINUTE = Rules(first_gap=60_000, longest_gap=60_000, reset_after=60_000)
"""So long that no test on a slow machine outlasts it."""


@dataclass
class Pair:
    """A model that says things to another by name, and knows what must become of them."""

    board: Switchboard
    sender: Agent
    target: Agent
    rules: Rules = A_MINUTE
    accepted: list[int] = field(default_factory=list)
    """The hub's own times."""

    async def say(self, message: str = "thank you") -> int:
        """0 if it was taken, else the wait that was named, in milliseconds. Either must be right."""
        allowed_at = self.rules.allowed_at(self.accepted)
        before = time.time_ns() // 1_000_000
        response = await self.board.request(
            "POST", f"/api/agents/{self.target.name}/messages", {"message": message}, token=self.sender.token
        )
        after = time.time_ns() // 1_000_000
        answer = response.json()
        if response.status_code == 200:
            assert answer == {"delivered": True, "target": self.target.name}
            newest = (await self.board.get(f"/v1/agents/messages/{self.target.id}", **NEWEST))["messages"][0]
            self.accepted.append(millis(newest["timestamp"]))
            assert self.accepted[-1] >= allowed_at
            return 0
        wait = answer["retry_after_ms"]
        assert (response.status_code, answer) == (429, refusal(wait))
        assert allowed_at - after <= wait <= allowed_at - before
        return wait

    async def is_taken(self, message: str = "thank you") -> None:
        assert await self.say(message) == 0

    async def is_refused(self) -> int:
        wait = await self.say("too early")
        assert wait > 0
        return wait


def refusal(wait: int) -> Json:
    return {"delivered": False, "error": "Rate limited", "retry_after_ms": wait}


@pytest.fixture
def hub(hub_factory: HubFactory) -> HubProcess:
    return hub_factory(env=A_MINUTE.settings())


# -- how long --------------------------------------------------------------------------------------------


async def test_gaps_double_up_to_the_longest_for_a_sender_that_is_always_at_the_door(
    hub_factory: HubFactory,
) -> None:
    rules = Rules(first_gap=100, longest_gap=800, reset_after=5_000)
    async with Switchboard(hub_factory(env=rules.settings())) as board:
        ann, bob = await board.register_many("ann", "bob")
        pair = Pair(board, ann, bob, rules)
        await pair.is_taken()
        while len(pair.accepted) < 6:
            await pair.say("too early")
            if wait := await pair.say("asking again makes it neither better nor worse"):
                await asyncio.sleep(wait / 1000)
                await pair.is_taken()  # the wait was exact

        gaps = [later - earlier for earlier, later in pairwise(pair.accepted)]
        assert all(gap >= least for gap, least in zip(gaps, [100, 200, 400, 800, 800], strict=False)), gaps


async def test_silence_ends_the_back_off(hub_factory: HubFactory) -> None:
    rules = Rules(first_gap=300, longest_gap=1_500, reset_after=1_500)
    async with Switchboard(hub_factory(env=rules.settings())) as board:
        ann, bob = await board.register_many("ann", "bob")
        pair = Pair(board, ann, bob, rules)
        while len(pair.accepted) < 3:  # noqa: ASYNC110 - the hub says how long
            await asyncio.sleep(await pair.say() / 1000)
        await asyncio.sleep(max(0, pair.accepted[-1] / 1000 + 1.5 - time.time()))

        await pair.is_taken("after a silence")

        assert await pair.say("too early") <= 300


async def test_a_pair_has_ten_messages_in_any_window(hub_factory: HubFactory) -> None:
    rules = Rules(first_gap=1, longest_gap=1, reset_after=60_000, window=4_000)
    async with Switchboard(hub_factory(env=rules.settings())) as board:
        ann, bob = await board.register_many("ann", "bob")
        pair = Pair(board, ann, bob, rules)
        for _ in range(10):
            await pair.is_taken()

        wait = await pair.say("one too many")

        await asyncio.sleep(wait / 1000)
        await pair.is_taken()


async def test_the_pace_of_a_pair_outlives_the_hub(board: Switchboard) -> None:
    ann, bob = await board.register_many("ann", "bob")
    pair = Pair(board, ann, bob)
    await pair.is_taken()
    board.hub.restart(crash=True)
    await pair.is_refused()


# -- for whom --------------------------------------------------------------------------------------------


async def test_each_pair_and_each_direction_is_paced_alone(board: Switchboard) -> None:
    ann, bob, cyd = await board.register_many("ann", "bob", "cyd")
    pairs = [Pair(board, one, other) for one, other in ((ann, bob), (bob, ann), (ann, cyd), (cyd, ann))]
    for pair in pairs:
        await pair.is_taken()
    for pair in pairs:
        await pair.is_refused()


async def test_a_broadcast_reaches_whom_it_may_and_names_the_others(board: Switchboard) -> None:
    ann, bob, cyd = await board.register_many("ann", "bob", "cyd")
    await Pair(board, ann, bob).is_taken("hello")

    told = await board.post("/api/agents/broadcast", {"message": "to all"}, token=ann.token)

    (failed,) = told["failed"]
    assert told["delivered_to"] == ["cyd"]
    assert (failed["name"], failed["error"]) == ("bob", "Rate limited")
    assert 0 < failed["retry_after_ms"] <= 60_000
    assert contents(await board.inbox(bob)) == ["hello"]
    assert contents(await board.inbox(cyd)) == ["to all"]
    await Pair(board, ann, cyd, accepted=[millis((await board.inbox(cyd))[0]["timestamp"])]).is_refused()


async def test_an_unknown_name_is_answered_with_the_names_there_are(board: Switchboard) -> None:
    ann, _ = await board.register_many("ann", "bob")
    response = await board.request("POST", "/api/agents/nobody/messages", {"message": "hello"}, token=ann.token)
    assert response.status_code == 404
    assert response.json() == {"delivered": False, "error": "Agent not found", "available": ["ann", "bob"]}


# -- who is not paced ------------------------------------------------------------------------------------


async def test_programs_are_not_paced(board: Switchboard) -> None:
    ann, bob = await board.register_many("ann", "bob")
    await Pair(board, ann, bob).is_taken("as a model")
    for number in range(30):
        body = {"to_agent_id": bob.id, "content": str(number)}
        await board.post("/v1/agents/messages/send", body, token=ann.token)
    assert len(await board.inbox(bob)) == 31


@pytest.mark.parametrize("auth", ["token", "none"])
async def test_the_operator_is_not_paced_but_whoever_it_speaks_for_is(hub_factory: HubFactory, auth: str) -> None:
    async with Switchboard(hub_factory(auth=auth, env=A_MINUTE.settings())) as board:
        await board.register_many("ann", "bob")
        for number in range(20):
            answer = await board.post("/api/agents/bob/messages", {"message": str(number)})
            assert answer == {"delivered": True, "target": "bob"}

        as_ann = {"message": "as ann", "sender": "ann"}
        taken = await board.request("POST", "/api/agents/bob/messages", as_ann)
        refused = await board.request("POST", "/api/agents/bob/messages", as_ann)

        assert [taken.status_code, refused.status_code] == [200, 429]
        assert refused.json()["retry_after_ms"] > 1_000
        assert (await board.post("/api/agents/bob/messages", {"message": "still me"}))["delivered"]
