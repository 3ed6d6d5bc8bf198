"""Back-off between models, end to end: through the store, with a clock that the test moves."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rookery.domain.errors import RateLimited
from rookery.domain.events import MessageSent
from rookery.domain.pacing import PacingRules
from rookery.services.messaging import NobodyReached, Receipt
from tests.services.house import MINUTE, RULES, SECOND, THE_OPERATOR, House, Member, a_house


async def tries(house: House, one: Member, other: Member | str, **more: Any) -> int:
    """How long the pair has to wait; 0 when the message was accepted."""
    try:
        await house.send(one, other, between_models=True, **more)
    except RateLimited as refused:
        return refused.retry_after_ms
    return 0


async def test_the_gaps_double_to_thirty_seconds_for_one_who_sends_as_soon_as_allowed(house: House) -> None:
    one, other = await house.members("one", "other")
    assert await tries(house, one, other) == 0
    gaps: list[int] = []
    for _ in range(6):
        gaps.append(await tries(house, one, other))
        house.clock.move_on(gaps[-1] - 1)
        assert await tries(house, one, other) == 1
        house.clock.move_on(1)
        assert await tries(house, one, other) == 0
    assert gaps == [2000, 4000, 8000, 16000, 30000, 2000]  # half a minute's wait is a silence, too


async def test_each_direction_of_a_pair_is_paced_on_its_own(house: House) -> None:
    one, other = await house.members("one", "other")
    assert await tries(house, one, other) == 0
    assert await tries(house, other, one) == 0
    assert await tries(house, one, other) == 2000
    assert await tries(house, other, one) == 2000


async def test_each_target_is_paced_on_its_own(house: House) -> None:
    one, two, three = await house.members("one", "two", "three")
    assert [await tries(house, one, two), await tries(house, one, three)] == [0, 0]
    assert [await tries(house, one, two), await tries(house, one, three)] == [2000, 2000]


async def test_a_target_by_name_and_by_id_is_one_target(house: House) -> None:
    one, other = await house.members("one", "other")
    assert await tries(house, one, other.id) == 0
    assert await tries(house, one, "OTHER") == 2000


async def test_thirty_seconds_of_silence_reset_the_back_off(house: House) -> None:
    one, other = await house.members("one", "other")
    for pause in (0, 2000, 4000):
        house.clock.move_on(pause)
        assert await tries(house, one, other) == 0
    assert await tries(house, one, other) == 8000
    house.clock.move_on(30 * SECOND)
    assert await tries(house, one, other) == 0
    assert await tries(house, one, other) == 2000


async def test_one_who_takes_its_time_keeps_its_gap(house: House) -> None:
    one, other = await house.members("one", "other")
    assert await tries(house, one, other) == 0
    for _ in range(3):
        house.clock.move_on(2000 + 5001)
        assert await tries(house, one, other) == 0
        assert await tries(house, one, other) == 2000


async def test_at_most_ten_a_minute_pass_between_a_pair(tmp_path: Path) -> None:
    pacing = PacingRules(first_gap=1, longest_gap=1)
    async with a_house(tmp_path / "quick", replace(RULES, pacing=pacing)) as house:
        one, other = await house.members("one", "other")
        for _ in range(10):
            assert await tries(house, one, other) == 0
            house.clock.move_on(SECOND)
        assert await tries(house, one, other) == MINUTE - 10 * SECOND
        house.clock.move_on(MINUTE - 10 * SECOND)
        assert await tries(house, one, other) == 0
        assert await tries(house, one, other) == SECOND


async def test_refused_attempts_count_for_nothing_and_leave_no_trace(house: House) -> None:
    one, other = await house.members("one", "other")
    await tries(house, one, other)
    before = await house.position()
    for _ in range(20):
        assert await tries(house, one, other) == 2000
    assert await house.position() == before
    house.clock.move_on(2000)
    assert await tries(house, one, other) == 0


async def test_pacing_survives_a_restart(tmp_path: Path) -> None:
    async with a_house(tmp_path / "data") as house:
        one, other = await house.members("one", "other")
        assert await tries(house, one, other) == 0
    async with a_house(tmp_path / "data") as house:
        assert await tries(house, one, other) == 2000


async def test_plain_sends_are_neither_paced_nor_counted(house: House) -> None:
    one, other = await house.members("one", "other")
    for _ in range(30):
        await house.send(one, other)
    assert await tries(house, one, other) == 0


async def test_the_operator_is_never_paced(house: House) -> None:
    other = await house.member("other")
    for _ in range(30):
        await house.send(THE_OPERATOR, other, between_models=True)


async def test_the_operator_who_speaks_as_an_agent_is_paced_as_that_agent(house: House) -> None:
    one, other = await house.members("one", "other")
    assert await tries(house, one, other) == 0
    with pytest.raises(RateLimited):
        await house.send(THE_OPERATOR, other, between_models=True, sender="one")


async def test_a_message_to_the_operator_is_paced_too(house: House) -> None:
    one = await house.member("one")
    assert await tries(house, one, "operator") == 0
    assert await tries(house, one, "operator") == 2000


async def test_a_repetition_under_its_key_is_no_second_message_of_the_pair(house: House) -> None:
    one, other = await house.members("one", "other")
    assert await tries(house, one, other, idempotency_key="k") == 0
    assert await tries(house, one, other, idempotency_key="k") == 0
    assert len(await house.inbox(other)) == 1


async def test_the_label_between_models_is_the_name_of_the_sender(house: House) -> None:
    one, other = await house.members("puppet-dev", "other")
    receipt = await house.send(one, other, between_models=True)
    assert receipt.message.metadata == '{"type":"inter-agent","sender":"puppet-dev"}'


# -- broadcasts ------------------------------------------------------------------------------------------


async def shouts(house: House, one: Member, **more: Any) -> Receipt:
    return await house.shout(one, between_models=True, **more)


async def test_each_recipient_of_a_broadcast_is_paced_on_its_own(house: House) -> None:
    one, two, three = await house.members("one", "two", "three")
    assert await tries(house, one, two) == 0
    receipt = await shouts(house, one)
    assert receipt.recipients == (three.id,)
    assert [(refused.recipient, refused.retry_after_ms) for refused in receipt.refused] == [(two.id, 2000)]
    assert [len(await house.inbox(member)) for member in (two, three)] == [1, 1]


async def test_a_broadcast_counts_against_each_pair(house: House) -> None:
    one, two, _ = await house.members("one", "two", "three")
    await shouts(house, one)
    assert await tries(house, one, two) == 2000


async def test_a_broadcast_is_hidden_from_those_it_left_out(house: House) -> None:
    one, two, three = await house.members("one", "two", "three")
    await tries(house, one, two)
    await shouts(house, one)
    told = {
        member.id: [
            entry.message.type for entry in await house.journal(MessageSent, audience=member.id) if entry.message
        ]
        for member in (one, two, three)
    }
    assert told == {one.id: ["direct", "broadcast"], two.id: ["direct"], three.id: ["broadcast"]}


async def test_a_broadcast_that_everybody_is_spared_is_not_stored(house: House) -> None:
    one, two, three = await house.members("one", "two", "three")
    await shouts(house, one)
    before = await house.position()
    house.clock.move_on(SECOND)
    with pytest.raises(NobodyReached) as held_back:
        await shouts(house, one)
    assert held_back.value.retry_after_ms == SECOND
    assert [(each.recipient, each.retry_after_ms) for each in held_back.value.refused] == [
        (two.id, SECOND),
        (three.id, SECOND),
    ]
    assert await house.position() == before
