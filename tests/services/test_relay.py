"""From the journal to whoever listens: nothing missed, nothing twice, nothing held for those who do not read."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rookery.domain.errors import InvalidRequest
from rookery.domain.events import Entry, MessageHandedOff, MessageSent
from rookery.ports import Transaction
from rookery.services.inbox import Completion
from rookery.services.relay import FellBehind, Subscription
from tests.services.house import NOW, THE_OPERATOR, House, Member, a_house, until

PATIENCE = 20.0


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """Senders do not wait for a hand-off, for most of the listeners here never report one."""
    async with a_house(tmp_path / "data", hand_off_wait=0) as house:
        yield house


@pytest.fixture
async def patient_house(tmp_path: Path) -> AsyncIterator[House]:
    async with a_house(tmp_path / "data", hand_off_wait=10_000) as house:
        yield house


async def heard(subscription: Subscription, through: int) -> list[int]:
    """The positions that arrive until the subscription has passed the given one."""
    positions: list[int] = []
    async with asyncio.timeout(PATIENCE):
        while subscription.position < through:
            positions += [entry.position for entry in await subscription.batch()]
    return positions


async def due(house: House, listener: str, after: int = 0) -> list[int]:
    """The positions that the listener must hear, by the journal itself."""
    entries = await house.journal(audience=None if listener == "operator" else listener)
    return [entry.position for entry in entries if entry.position > after]


async def marker(house: House) -> int:
    """An entry that everybody hears, and its position: who has heard it has heard all before it."""
    await house.shout(THE_OPERATOR, "the end")
    return await house.position()


# -- catching up and going live --------------------------------------------------------------------------


async def test_a_listener_hears_what_comes_from_now_on(house: House) -> None:
    one, other = await house.members("one", "other")
    await house.send(one, other, "before")
    subscription = house.hub.relay.subscribe(other.id, None)
    start = await house.position()
    await house.send(one, other, "after")
    assert await heard(subscription, await marker(house)) == await due(house, other.id, start)


async def test_a_listener_hears_what_it_missed_and_then_what_comes(house: House) -> None:
    one, other = await house.members("one", "other")
    for n in range(600):  # more than two pages
        await house.send(one, other, f"{n}")
    subscription = house.hub.relay.subscribe(other.id, 0)
    positions = await heard(subscription, await marker(house))
    assert positions == await due(house, other.id)


@pytest.mark.parametrize("listener", ["one", "other", "operator", "idle"])
async def test_nothing_is_missed_and_nothing_comes_twice_while_others_write(house: House, listener: str) -> None:
    members = {name: await house.member(name) for name in ("one", "other", "idle")}
    listener_id = listener if listener == "operator" else members[listener].id
    for n in range(300):
        await house.send(members["one"], members["other"], f"{n}")
    subscriptions: list[tuple[int, Subscription]] = []

    async def write(sender: Member, target: Member) -> None:
        for n in range(150):
            await house.send(sender, target, f"{n}")
            if n % 10 == 0:
                await house.shout(sender)

    listening: list[asyncio.Task[list[int]]] = []

    async def join_and_listen() -> None:
        for n in range(30):
            after = 0 if n % 3 else house.hub.relay.position
            subscription = house.hub.relay.subscribe(listener_id, after)
            subscriptions.append((after, subscription))
            listening.append(asyncio.create_task(until_the_end(subscription)))
            await asyncio.sleep(0)

    the_end = asyncio.get_running_loop().create_future()

    async def until_the_end(subscription: Subscription) -> list[int]:
        positions: list[int] = []
        while not the_end.done() or subscription.position < the_end.result():
            positions += [entry.position for entry in await subscription.batch()]
        return positions

    one, other = members["one"], members["other"]
    await asyncio.gather(write(one, other), write(other, one), write(other, one), join_and_listen())
    the_end.set_result(await house.position() + 1)
    await marker(house)
    async with asyncio.timeout(PATIENCE):
        outcomes = await asyncio.gather(*listening)
    for (after, subscription), positions in zip(subscriptions, outcomes, strict=True):
        wanted = await due(house, listener_id, after)
        assert positions == wanted[: len(positions)]
        assert positions[-1] >= the_end.result()
        subscription.close()


async def test_a_listener_goes_live_however_busy_the_hub_is(patient_house: House) -> None:
    house = patient_house
    one, other = await house.members("one", "other")
    busy = True

    async def write() -> None:
        while busy:
            await house.send(THE_OPERATOR, one)

    writing = [asyncio.create_task(write()) for _ in range(8)]
    subscription = house.hub.relay.subscribe(other.id, None)
    listening = asyncio.create_task(_hand_off_all(house, subscription, other.id))
    try:
        async with asyncio.timeout(PATIENCE):
            while not (await house.send(THE_OPERATOR, other)).delivered:
                pass
    finally:
        busy = False
        await asyncio.gather(*writing)
        listening.cancel()
        subscription.close()


async def test_a_position_beyond_the_end_is_refused_with_the_end(house: House) -> None:
    await house.member("one")
    end = await house.position()
    house.hub.relay.subscribe("operator", end).close()
    with pytest.raises(InvalidRequest, match="beyond the end") as refused:
        house.hub.relay.subscribe("operator", end + 1)
    assert refused.value.data == {"position": end}


async def test_a_burst_larger_than_the_memory_of_the_store_is_read_from_disk(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await house.members("one", "other")
    monkeypatch.setattr(house.store, "recent", lambda after: None)
    subscription = house.hub.relay.subscribe(other.id, None)
    start = house.hub.relay.position
    await asyncio.gather(*(house.send(one, other, f"{n}") for n in range(300)))
    assert await heard(subscription, await marker(house)) == await due(house, other.id, start)


async def test_what_is_written_while_the_relay_reads_from_disk_is_not_passed_over(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await house.members("one", "other")
    monkeypatch.setattr(house.store, "recent", lambda after: None)
    subscription = await live(house, "operator")
    start, written = house.hub.relay.position, asyncio.Event()

    async def meanwhile() -> None:
        await house.send(one, other, "meanwhile")
        written.set()

    house.store.after_next_read(meanwhile)
    await house.send(one, other, "first")
    async with asyncio.timeout(PATIENCE):
        await written.wait()
    end = await house.position()
    assert await heard(subscription, end) == await due(house, "operator", start)


async def live(house: House, listener: str, **how: Any) -> Subscription:
    """A subscription that has missed nothing, and gets what comes put into its buffer."""
    subscription = house.hub.relay.subscribe(listener, None, **how)
    assert await house.hub.relay.catch_up(subscription) == []
    return subscription


# -- who hears what --------------------------------------------------------------------------------------


async def test_each_hears_its_own_traffic_and_the_operator_everything(house: House) -> None:
    one, other, third = await house.members("one", "other", "third")
    subscriptions = {who: house.hub.relay.subscribe(who, None) for who in (one.id, other.id, third.id, "operator")}
    start = await house.position()
    await house.send(one, other, "between us")
    end = await marker(house)
    for who, subscription in subscriptions.items():
        assert await heard(subscription, end) == await due(house, who, start)
    third_heard = await due(house, third.id, start)
    assert len(third_heard) < len(await due(house, one.id, start)) < len(await due(house, "operator", start))


async def test_those_who_listen_are_counted_and_leave_no_trace(house: House) -> None:
    one, other = await house.members("one", "other")
    relay = house.hub.relay
    subscriptions = [relay.subscribe(who, None) for who in (one.id, one.id, "operator")]
    assert relay.listeners() == [one.id]
    assert relay.subscriptions() == 3
    for subscription in subscriptions:
        subscription.close()
        subscription.close()
    assert (relay.listeners(), relay.subscriptions()) == ([], 0)
    assert other.id not in relay.listeners()


# -- those who do not read -------------------------------------------------------------------------------


async def overflowing(house: House, listener: str, fill: Callable[[], Any]) -> tuple[Subscription, list[str]]:
    """A live subscription that nobody reads, and what it says when it has enough."""
    subscription = await live(house, listener)
    said: list[str] = []
    subscription.on_overflow = lambda: said.append("overflow")
    await fill()
    return subscription, said


async def test_a_full_buffer_ends_the_subscription_at_once_and_it_can_resume(tmp_path: Path) -> None:
    async with a_house(tmp_path / "small", socket_buffer=10, hand_off_wait=0) as house:
        one, other = await house.members("one", "other")
        start = await house.position()

        async def fill() -> None:
            for n in range(8):
                await house.send(one, other, f"{n}")

        subscription, said = await overflowing(house, other.id, fill)
        assert said == ["overflow"]
        assert house.hub.relay.fell_behind == 1
        with pytest.raises(FellBehind) as behind:
            await subscription.batch()
        assert behind.value.position == start
        subscription.close()
        resumed = house.hub.relay.subscribe(other.id, behind.value.position)
        assert await heard(resumed, await marker(house)) == await due(house, other.id, start)


async def test_a_slow_reader_does_not_disturb_a_quick_one(tmp_path: Path) -> None:
    async with a_house(tmp_path / "small", socket_buffer=10, hand_off_wait=0) as house:
        one, other = await house.members("one", "other")
        quick = house.hub.relay.subscribe(other.id, None)
        start = await house.position()
        listening = asyncio.create_task(heard(quick, start + 100))

        async def fill() -> None:
            for n in range(60):
                await house.send(one, other, f"{n}")
                await asyncio.sleep(0)

        slow, said = await overflowing(house, other.id, fill)
        assert said == ["overflow"]
        assert await listening == [p for p in await due(house, other.id, start) if p <= quick.position]
        slow.close()


BIG = 1_000_000
"""Characters; a handful of these is more than a subscription may hold back."""


@pytest.mark.parametrize("where", ["content", "metadata", "result"])
async def test_a_buffer_is_bounded_in_text_wherever_the_text_is(house: House, where: str) -> None:
    one, other = await house.members("one", "other")
    text = "x" * BIG
    ids = [(await house.send(one, other)).message.id for _ in range(8)]

    async def fill() -> None:
        for message_id in ids:
            match where:
                case "content":
                    await house.send(one, other, text)
                case "metadata":
                    await house.send(one, other, metadata=f'{{"a":"{text}"}}')
                case _:
                    how = Completion(result=text)
                    await house.hub.inbox.complete(other.principal, other.id, message_id, how)

    subscription, said = await overflowing(house, other.id, fill)
    assert said == ["overflow"]
    subscription.close()


async def test_what_was_read_makes_room_again(tmp_path: Path) -> None:
    async with a_house(tmp_path / "small", socket_buffer=10, hand_off_wait=0) as house:
        one, other = await house.members("one", "other")
        subscription = await live(house, other.id)
        for _ in range(10):
            for _ in range(4):
                await house.send(one, other, "x" * 100_000)
            await subscription.batch()
        assert house.hub.relay.fell_behind == 0
        subscription.close()


# -- hand-offs -------------------------------------------------------------------------------------------


async def _hand_off_all(house: House, subscription: Subscription, listener: str) -> None:
    """What a surface does: give each entry to the socket, then say so."""
    while True:
        house.hub.relay.handed_off(listener, await subscription.batch(), "websocket")


class Socket:
    """A listener that takes what it is given, as a WebSocket does."""

    def __init__(self, house: House, subscription: Subscription) -> None:
        self._subscription = subscription
        self._task = asyncio.create_task(_hand_off_all(house, subscription, subscription.listener))

    @classmethod
    async def opened(cls, house: House, listener: str) -> "Socket":
        return cls(house, await live(house, listener))

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._subscription.close()


async def test_delivered_means_that_the_recipients_own_socket_was_given_the_message(patient_house: House) -> None:
    house = patient_house
    one, other = await house.members("one", "other")
    socket = await Socket.opened(house, other.id)
    receipt = await house.send(one, other)
    assert receipt.delivered
    await house.hub.relay.stop()
    delivery = await house.delivery(receipt, other)
    assert (delivery.rung, delivery.handed_off_at, delivery.handed_off_via) == ("handed_off", NOW, "websocket")
    (told,) = await house.journal(MessageHandedOff)
    assert told.fact == MessageHandedOff(
        message_id=receipt.message.id, recipient=other.id, recipients=(other.id,), via="websocket", at=NOW
    )
    assert told.audience == (one.id,)  # the sender's receipt
    await socket.close()


async def test_a_socket_that_is_still_catching_up_is_waited_for(patient_house: House) -> None:
    house = patient_house
    one, other = await house.members("one", "other")
    subscription = house.hub.relay.subscribe(other.id, 0)
    end = await house.position()
    sending = asyncio.create_task(house.send(one, other))
    await until(lambda: house.hub.relay.position > end)
    socket = Socket(house, subscription)
    assert (await sending).delivered
    await socket.close()


@pytest.mark.parametrize("watcher", ["operator", "one", "third"])
async def test_anybody_elses_socket_is_no_delivery(house: House, watcher: str) -> None:
    members = {name: await house.member(name) for name in ("one", "other", "third")}
    socket = await Socket.opened(house, members[watcher].id if watcher in members else watcher)
    receipt = await house.send(members["one"], members["other"])
    assert not receipt.delivered
    await marker(house)
    await socket.close()
    await house.hub.relay.stop()
    assert (await house.delivery(receipt, members["other"])).rung == "stored"


async def test_the_operators_socket_is_a_delivery_of_what_is_for_the_operator(patient_house: House) -> None:
    house = patient_house
    one = await house.member("one")
    socket = await Socket.opened(house, "operator")
    assert (await house.send(one, "operator")).delivered
    await socket.close()


async def test_a_broadcast_is_delivered_when_one_recipient_got_it_and_noted_for_those_who_did(
    patient_house: House,
) -> None:
    house = patient_house
    one, two, three = await house.members("one", "two", "three")
    sockets = [await Socket.opened(house, who) for who in (two.id, one.id, "operator")]
    receipt = await house.shout(one)
    assert receipt.delivered
    await house.hub.relay.stop()
    assert (await house.delivery(receipt, two)).rung == "handed_off"
    assert (await house.delivery(receipt, three)).rung == "stored"
    for socket in sockets:
        await socket.close()


async def test_a_socket_that_does_not_read_is_no_delivery(house: House) -> None:
    one, other = await house.members("one", "other")
    subscription = await live(house, other.id)
    receipt = await house.send(one, other)
    assert not receipt.delivered
    assert (await house.delivery(receipt, other)).handed_off_at is None
    subscription.close()


async def test_a_reader_of_journal_pages_is_not_waited_for(patient_house: House) -> None:
    house = patient_house
    one, other = await house.members("one", "other")
    subscription = await live(house, other.id, takes_messages=False)
    async with asyncio.timeout(5):  # half of what a socket would be given
        assert not (await house.send(one, other)).delivered
    subscription.close()


async def test_only_the_first_hand_off_counts(house: House) -> None:
    one, other = await house.members("one", "other")
    sockets = [await Socket.opened(house, other.id) for _ in range(2)]
    receipt = await house.send(one, other)
    await house.hub.relay.stop()
    house.clock.move_on(1000)
    again = await Socket.opened(house, other.id)
    resumed = house.hub.relay.subscribe(other.id, 0)
    house.hub.relay.handed_off(other.id, await resumed.batch(), "websocket")
    await house.hub.relay.stop()
    assert (await house.delivery(receipt, other)).handed_off_at == NOW
    assert len(await house.journal(MessageHandedOff)) == 1
    for socket in (*sockets, again):
        await socket.close()
    resumed.close()


async def test_a_message_missed_live_is_handed_off_when_it_is_caught_up_with(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    assert not receipt.delivered
    subscription = house.hub.relay.subscribe(other.id, 0)
    house.hub.relay.handed_off(other.id, await subscription.batch(), "websocket")
    await house.hub.relay.stop()
    assert (await house.delivery(receipt, other)).rung == "handed_off"
    subscription.close()


async def test_a_crowd_of_hand_offs_costs_few_commits(house: House) -> None:
    one = await house.member("one")
    crowd = [await house.member(model_name="crowd") for _ in range(100)]
    sockets = [await Socket.opened(house, member.id) for member in crowd]
    before = house.store.report().commits
    receipt = await house.shout(one)
    await house.hub.relay.stop()
    assert house.store.report().commits - before <= 10
    _, deliveries = await house.hub.inbox.deliveries(one.principal, receipt.message.id)
    assert {delivery.rung for delivery in deliveries} == {"handed_off"}
    for socket in sockets:
        await socket.close()


async def test_stopping_writes_down_the_hand_offs_in_memory(tmp_path: Path) -> None:
    async with a_house(tmp_path / "data") as house:
        one, other = await house.members("one", "other")
        socket = await Socket.opened(house, other.id)
        receipt = await house.send(one, other)
        await socket.close()
    async with a_house(tmp_path / "data") as house:
        assert (await house.delivery(receipt, other)).rung == "handed_off"


# -- watchers --------------------------------------------------------------------------------------------


async def test_a_watcher_sees_every_entry_once_and_in_order(house: House) -> None:
    watched: list[Entry] = []
    house.hub.relay.watch(watched.append)
    one, other = await house.members("one", "other")
    await asyncio.gather(*(house.send(one, other) for _ in range(50)))

    def look(tx: Transaction) -> Sequence[Entry]:
        return tx.journal.after(0, limit=1000)

    assert [entry.position for entry in watched] == [entry.position for entry in await house.store.read(look)]
    assert sum(isinstance(entry.fact, MessageSent) for entry in watched) == 50
