"""Working on messages: claims, how they are lost, and how work ends."""

import asyncio
from pathlib import Path

import pytest

from rookery.domain.errors import (
    AlreadyClaimed,
    AlreadyCompleted,
)
from rookery.domain.events import (
    ClaimExpired,
    MessageClaimed,
    MessageCompleted,
    MessageSeen,
)
from rookery.domain.principals import THE_HUB
from rookery.services.expiry import ClaimRules
from rookery.services.inbox import Completion
from rookery.services.messaging import Receipt
from tests.services.house import MINUTE, NOW, SECOND, THE_OPERATOR, House, Member, a_house

QUARTER = 15 * MINUTE


async def claimed(house: House, by: Member, receipt: Receipt) -> None:
    await house.hub.inbox.claim(by.principal, by.id, receipt.message.id)


# -- claim -----------------------------------------------------------------------------------------------


async def test_a_claim_is_recorded_with_who_and_when_and_counts_as_seen(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    owner, item = await house.hub.inbox.claim(other.principal, "other", receipt.message.id)
    assert owner == other.id
    assert item is not None
    delivery = item.delivery
    assert (delivery.folder, delivery.claimed_by, delivery.claimed_at) == ("cur", other.id, NOW)
    assert delivery.rung == "seen"
    (told,) = await house.journal(MessageClaimed)
    assert (told.fact.by, set(told.audience or ())) == (other.id, {one.id, other.id})
    assert len(await house.journal(MessageSeen)) == 1


async def test_exactly_one_of_many_who_claim_at_once_wins_and_the_others_hear_who_did(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    claims = [house.hub.inbox.claim(other.principal, other.id, receipt.message.id)]
    claims += [house.hub.inbox.claim(THE_OPERATOR, other.id, receipt.message.id) for _ in range(20)]
    outcomes = await asyncio.gather(*claims, return_exceptions=True)
    delivery = await house.delivery(receipt, other)
    losers = [outcome for outcome in outcomes if isinstance(outcome, AlreadyClaimed)]
    assert len(losers) == (20 if delivery.claimed_by == other.id else 1)
    assert {loser.data["claimed_by"] for loser in losers} == {delivery.claimed_by}
    assert len(await house.journal(MessageClaimed)) == 1


async def test_many_who_claim_what_is_next_get_a_message_each(house: House) -> None:
    one, other = await house.members("one", "other")
    await asyncio.gather(*(house.send(one, other, f"{n}") for n in range(30)))
    outcomes = await asyncio.gather(*(house.hub.inbox.claim(other.principal, other.id) for _ in range(40)))
    won = [item.message.content for _, item in outcomes if item is not None]
    assert sorted(won, key=int) == [f"{n}" for n in range(30)]


async def test_claiming_again_what_one_holds_changes_nothing(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    await claimed(house, other, receipt)
    before = await house.position()
    house.clock.move_on(SECOND)
    _, item = await house.hub.inbox.claim(other.principal, other.id, receipt.message.id)
    assert item is not None
    assert item.delivery.claimed_at == NOW
    assert await house.position() == before


async def test_nothing_open_is_no_error(house: House) -> None:
    _, other = await house.members("one", "other")
    assert await house.hub.inbox.claim(other.principal, other.id) == (other.id, None)


async def test_what_is_finished_cannot_be_claimed(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    await house.hub.inbox.complete(other.principal, other.id, receipt.message.id, Completion())
    with pytest.raises(AlreadyCompleted, match="already done"):
        await claimed(house, other, receipt)


# -- a claim is lost -------------------------------------------------------------------------------------


async def test_a_claim_is_lost_after_a_quarter_of_an_hour_of_silence(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    await claimed(house, other, receipt)
    house.clock.move_on(QUARTER)
    await house.hub.sweep()
    assert (await house.delivery(receipt, other)).folder == "cur"
    house.clock.move_on(1)
    await house.hub.sweep()
    delivery = await house.delivery(receipt, other)
    assert (delivery.folder, delivery.claimed_by, delivery.expiries) == ("new", None, 1)
    assert delivery.read  # it was seen, whatever came of it
    (told,) = await house.journal(ClaimExpired)
    assert (told.fact.by, told.actor, set(told.audience or ())) == (other.id, "hub", {one.id, other.id})


async def test_a_heartbeat_keeps_a_claim(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    await claimed(house, other, receipt)
    for _ in range(8):
        house.clock.move_on(10 * MINUTE)
        await house.hub.agents.heartbeat(other.principal, other.id)
        await house.hub.sweep()
    assert (await house.delivery(receipt, other)).folder == "cur"


async def test_a_lost_claim_can_be_taken_again(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    await claimed(house, other, receipt)
    house.clock.move_on(QUARTER + 1)
    await house.hub.sweep()
    _, item = await house.hub.inbox.claim(other.principal, other.id)
    assert item is not None
    assert item.message.id == receipt.message.id


async def test_a_claim_of_the_operator_holds_until_it_is_completed(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    await house.hub.inbox.claim(THE_OPERATOR, other.id, receipt.message.id)
    house.clock.move_on(100 * QUARTER)
    await house.hub.sweep()
    assert (await house.delivery(receipt, other)).claimed_by == "operator"


async def test_a_message_whose_claim_was_lost_five_times_is_dead_and_its_sender_is_told(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    for loss in range(1, 6):
        await claimed(house, other, receipt)
        house.clock.move_on(QUARTER + 1)
        await house.hub.sweep()
        delivery = await house.delivery(receipt, other)
        assert (delivery.expiries, delivery.folder) == (loss, "dead" if loss == 5 else "new")
    assert (await house.delivery(receipt, other)).error == "claimed and lost 5 times, last by other"
    (notice,) = await house.inbox(one)
    assert (notice.message.type, notice.message.sender, notice.message.reply_to) == (
        "notice",
        "hub",
        receipt.message.id,
    )
    assert notice.message.content == "Your message to other is dead: claimed and lost 5 times, last by other."
    (told,) = await house.journal(MessageCompleted, audience=one.id)
    assert (told.fact.outcome, told.actor, told.token_id) == ("dead", THE_HUB.id, THE_HUB.token_id)


async def test_how_long_and_how_often_are_settings(tmp_path: Path) -> None:
    async with a_house(tmp_path / "strict", claims=ClaimRules(silence=SECOND, most=1)) as house:
        one, other = await house.members("one", "other")
        receipt = await house.send(one, other)
        await claimed(house, other, receipt)
        house.clock.move_on(SECOND + 1)
        await house.hub.sweep()
        assert (await house.delivery(receipt, other)).folder == "dead"


# -- complete --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", ["done", "dead"])
async def test_a_message_is_finished_with_result_error_and_note(house: House, outcome) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    await claimed(house, other, receipt)
    how = Completion(outcome=outcome, result="r", error="e", note="n")
    delivery = (await house.hub.inbox.complete(other.principal, other.id, receipt.message.id, how)).delivery
    assert (delivery.folder, delivery.rung) == (outcome, outcome)
    assert (delivery.result, delivery.error, delivery.note) == ("r", "e", "n")
    assert (delivery.completed_at, delivery.completed_by) == (NOW, other.id)
    (told,) = await house.journal(MessageCompleted)
    assert (told.fact.result, told.fact.error, told.fact.note) == ("r", "e", "n")
    assert set(told.audience or ()) == {one.id, other.id}


async def test_a_message_can_be_finished_without_a_claim_and_is_then_seen(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    item = await house.hub.inbox.complete(other.principal, other.id, receipt.message.id, Completion())
    assert item.delivery.folder == "done"
    assert item.delivery.read


async def test_finishing_the_same_way_twice_is_fine_and_told_once(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    how = Completion(result="42")
    first = await house.hub.inbox.complete(other.principal, other.id, receipt.message.id, how)
    house.clock.move_on(SECOND)
    assert await house.hub.inbox.complete(other.principal, other.id, receipt.message.id, how) == first
    assert len(await house.journal(MessageCompleted)) == 1


@pytest.mark.parametrize("how", [Completion(outcome="dead"), Completion(result="43"), Completion(note="n")])
async def test_finishing_another_way_is_a_conflict(house: House, how: Completion) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    await house.hub.inbox.complete(other.principal, other.id, receipt.message.id, Completion(result="42"))
    with pytest.raises(AlreadyCompleted):
        await house.hub.inbox.complete(other.principal, other.id, receipt.message.id, how)
    assert (await house.delivery(receipt, other)).result == "42"


async def test_what_somebody_else_claimed_cannot_be_finished_but_by_the_operator(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    await house.hub.inbox.claim(THE_OPERATOR, other.id, receipt.message.id)
    with pytest.raises(AlreadyClaimed):
        await house.hub.inbox.complete(other.principal, other.id, receipt.message.id, Completion())
    mine = await house.send(one, other)
    await claimed(house, other, mine)
    finished = await house.hub.inbox.complete(THE_OPERATOR, other.id, mine.message.id, Completion())
    assert (finished.delivery.folder, finished.delivery.completed_by) == ("done", other.id)


async def test_of_many_who_finish_at_once_one_is_told_of(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    complete = house.hub.inbox.complete
    outcomes = await asyncio.gather(
        *(complete(other.principal, other.id, receipt.message.id, Completion(result=f"{n}")) for n in range(20)),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, AlreadyCompleted) for outcome in outcomes) == 19
    assert len(await house.journal(MessageCompleted)) == 1
