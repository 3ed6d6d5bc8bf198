"""What is said in a channel: how fast, and whether it arrived."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from rookery.domain.errors import (
    RateLimited,
)
from rookery.domain.events import (
    MessageHandedOff,
)
from rookery.services.messaging import NobodyReached
from tests.services.house import SECOND, House, Member, contents
from tests.services.room import Room, patient_room, room

__all__ = ["patient_room", "room"]


# -- back-off between models -----------------------------------------------------------------------------


async def test_each_who_is_mentioned_is_paced_on_its_own(room: Room) -> None:
    await room.say(room.fox, "@owl", between_models=True)
    receipt = await room.say(room.fox, "@owl @bear", between_models=True)
    assert receipt.recipients == (room.bear.id,)
    assert [(each.recipient, each.retry_after_ms) for each in receipt.refused] == [(room.owl.id, 2 * SECOND)]
    assert contents(await room.house.inbox(room.owl)) == ["@owl"]
    assert contents(await room.house.inbox(room.bear)) == ["@owl @bear"]
    assert await room.history(room.owl) == ["@owl", "@owl @bear"]  # which it hears all the same


async def test_a_message_whose_every_mention_has_to_wait_is_not_said(room: Room) -> None:
    await room.say(room.fox, "@owl @bear", between_models=True)
    room.house.clock.move_on(SECOND)
    before = await room.house.position()
    with pytest.raises(NobodyReached) as held_back:
        await room.say(room.fox, "@bear @owl", between_models=True)
    assert held_back.value.retry_after_ms == SECOND
    assert [(each.recipient, each.retry_after_ms) for each in held_back.value.refused] == [
        (room.bear.id, SECOND),
        (room.owl.id, SECOND),
    ]
    assert await room.house.position() == before
    assert await room.history(room.fox) == ["@owl @bear"]


async def test_a_mention_and_a_direct_message_are_one_pace(room: Room) -> None:
    await room.say(room.fox, "@owl", between_models=True)
    with pytest.raises(RateLimited):
        await room.house.send(room.fox, room.owl, between_models=True)
    await room.house.send(room.fox, room.bear, between_models=True)
    with pytest.raises(NobodyReached):
        await room.say(room.fox, "@bear", between_models=True)


async def test_what_calls_upon_nobody_is_not_paced(room: Room) -> None:
    for n in range(5):
        await room.say(room.fox, f"{n}", between_models=True)
    await room.say(room.fox, "@owl", between_models=True)
    assert len(await room.history(room.fox)) == 6


async def test_plain_messages_in_a_channel_are_neither_paced_nor_counted(room: Room) -> None:
    for _ in range(5):
        assert (await room.say(room.fox, "@owl")).refused == []
    assert (await room.say(room.fox, "@owl", between_models=True)).recipients == (room.owl.id,)


async def test_the_label_between_models_is_the_name_of_the_sender(room: Room) -> None:
    receipt = await room.say(room.fox, "@owl", between_models=True)
    assert receipt.message.metadata == '{"type":"inter-agent","sender":"fox"}'


# -- hand-offs -------------------------------------------------------------------------------------------


@asynccontextmanager
async def listening(house: House, *listeners: Member | str) -> AsyncGenerator[None]:
    """Sockets of those who listen, which take what they are given."""
    relay = house.hub.relay
    subscriptions = [relay.subscribe(who if isinstance(who, str) else who.id, None) for who in listeners]
    for subscription in subscriptions:
        assert await relay.catch_up(subscription) == []  # and so it is live

    async def take(which: int) -> None:
        while True:
            entries = await subscriptions[which].batch()
            relay.handed_off(subscriptions[which].listener, entries, "websocket")

    tasks = [asyncio.create_task(take(which)) for which in range(len(subscriptions))]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for subscription in subscriptions:
            subscription.close()


async def test_delivered_means_that_a_mentioned_members_own_socket_took_it(patient_room: Room) -> None:
    room = patient_room
    async with listening(room.house, room.owl, room.bear, "operator"):
        receipt = await room.say(room.fox, "@owl, look")
        assert receipt.delivered
    await room.house.hub.relay.stop()
    assert (await room.house.delivery(receipt, room.owl)).rung == "handed_off"
    (told,) = await room.house.journal(MessageHandedOff)
    assert (told.fact.recipient, told.fact.recipients) == ("#build", (room.owl.id,))
    assert told.audience == (room.fox.id,)


async def test_the_socket_of_another_member_is_no_delivery(room: Room) -> None:
    async with listening(room.house, room.bear, room.fox, "operator"):
        receipt = await room.say(room.fox, "@owl, look")
        assert not receipt.delivered
    await room.house.hub.relay.stop()
    assert (await room.house.delivery(receipt, room.owl)).rung == "stored"
    assert await room.house.journal(MessageHandedOff) == []


async def test_nobody_answers_for_a_mentioned_member_whose_socket_does_not_read(room: Room) -> None:
    relay = room.house.hub.relay
    owls, bears = (relay.subscribe(member.id, None) for member in (room.owl, room.bear))
    for subscription in (owls, bears):
        assert await relay.catch_up(subscription) == []
    sending = asyncio.create_task(room.say(room.fox, "@owl, look"))
    entries = await bears.batch()
    while not sending.done():  # so also while the sender waits for the owl
        relay.handed_off(room.bear.id, entries, "websocket")
        await asyncio.sleep(0)
    assert not sending.result().delivered
    owls.close()
    bears.close()


async def test_the_operators_socket_is_a_delivery_of_what_calls_upon_the_operator(patient_room: Room) -> None:
    room = patient_room
    async with listening(room.house, "operator"):
        receipt = await room.say(room.fox, "@operator, which branch?")
        assert receipt.delivered
    await room.house.hub.relay.stop()
    assert (await room.house.delivery(receipt, "operator")).rung == "handed_off"


async def test_a_message_that_mentions_nobody_is_not_waited_for(patient_room: Room) -> None:
    room = patient_room
    async with listening(room.house, room.owl, room.bear), asyncio.timeout(5):  # half of the wait for a socket
        assert not (await room.say(room.fox, "thinking aloud")).delivered


async def test_a_repetition_says_whether_the_first_was_taken(patient_room: Room) -> None:
    room = patient_room
    async with listening(room.house, room.owl):
        assert (await room.say(room.fox, "@owl", idempotency_key="k")).delivered
    await room.house.hub.relay.stop()
    again = await room.say(room.fox, "@owl", idempotency_key="k")
    assert (again.delivered, again.repeated) == (True, True)
