"""A full disk: nothing half stored, what frees space still passes, and writing goes on once there is room."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from rookery.domain.errors import StorageFull
from rookery.domain.messages import Message
from rookery.ports import Store, Transaction
from rookery.testing.stores.samples import NOW, OWL
from tests.stores.support import both_kinds, opened, peopled, sending, small_disk


async def filled(store: Store) -> list[Message]:
    """Send until the disk is full; what was answered is returned."""
    answered: list[Message] = []
    for _ in range(1000):
        group = [store.write(sending("x" * 20_000)) for _ in range(10)]
        results = await asyncio.gather(*group, return_exceptions=True)
        answered += [result for result in results if isinstance(result, Message)]
        refusals = [result for result in results if isinstance(result, BaseException)]
        if refusals:
            assert {type(refusal) for refusal in refusals} == {StorageFull}
            return answered
    pytest.fail("the disk never became full")


async def cleared(store: Store) -> None:
    def work(tx: Transaction) -> int:
        deliveries = tx.deliveries.uncleared(OWL, None)
        tx.deliveries.save_many([delivery.cleared(NOW) for delivery in deliveries])
        return tx.prune(before=NOW + 1, folders=("done",))

    assert await store.write(work, frees=True) > 0


@both_kinds
async def test_a_full_disk_refuses_and_keeps_what_it_answered(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    with small_disk(tmp_path / "disk", 56) as disk:
        async with peopled(make_store(disk / "data")) as store:
            answered = await filled(store)
            assert answered
            assert store.report().full
            with pytest.raises(StorageFull) as refusal:
                await store.write(sending("one more"))
            assert "rook prune" in refusal.value.message
            for message in answered:
                assert await store.read(lambda tx, wanted=message.id: tx.messages.get(wanted)) == message
        async with opened(make_store(disk / "data")) as store:
            for message in answered:
                assert await store.read(lambda tx, wanted=message.id: tx.messages.get(wanted)) == message
            assert await store.read(lambda tx: tx.deliveries.unread_count(OWL, NOW)) == len(answered)
            assert [message.seq for message in answered] == list(range(1, len(answered) + 1))


@both_kinds
async def test_pruning_a_full_disk_makes_room_to_write_again(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    with small_disk(tmp_path / "disk", 56) as disk:
        async with peopled(make_store(disk / "data")) as store:
            await filled(store)
            assert store.report().full
            await cleared(store)
            again = await store.write(sending("there is room again"))
            assert not store.report().full
            assert await store.read(lambda tx: tx.messages.get(again.id)) == again


@both_kinds
async def test_writing_goes_on_when_somebody_else_makes_room(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    with small_disk(tmp_path / "disk", 56) as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(24 << 20))
        async with peopled(make_store(disk / "data")) as store:
            await filled(store)
            with pytest.raises(StorageFull):
                await store.write(sending("no room"))
            ballast.unlink()
            assert (await store.write(sending("room"))).content == "room"
            assert not store.report().full


@both_kinds
async def test_numbers_have_no_gap_where_the_disk_was_full(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    with small_disk(tmp_path / "disk", 56) as disk:
        async with peopled(make_store(disk / "data")) as store:
            answered = await filled(store)
            await cleared(store)
            again = await store.write(sending("there is room again"))
            assert again.seq == len(answered) + 1
