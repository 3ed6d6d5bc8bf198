"""Channels: kept whole, in the order they were created, archived ones too."""

from dataclasses import replace
from pathlib import Path

import pytest

from rookery.domain.channels import Channel
from rookery.ports import Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.export import exported, loaded
from rookery.testing.stores.samples import BEAR, FOX, NOW, OWL, a_channel, contents, founded, said

OPS, BUILD, LOUNGE = a_channel("ops", FOX, topic="who is on call"), a_channel("build"), a_channel("a-lounge", OWL)


def names(tx: Transaction) -> list[str]:
    return [channel.name for channel in tx.channels.all()]


class ChannelContract(StoreCase):
    async def test_a_channel_is_kept_with_every_field(self, store: Store, directory: Path) -> None:
        full = Channel(
            name="v1.2_rc-3", topic="what breaks, 'é' 🦊\n", members=(OWL, FOX, BEAR), created_by=BEAR,
            created_at=NOW, archived_at=NOW + 1,
        )  # fmt: skip
        bare = Channel(name="x", created_by="operator", created_at=NOW)

        def look(tx: Transaction) -> list[Channel | None]:
            return [tx.channels.get(full.name), tx.channels.get("x")]

        await store.write(lambda tx: founded(tx, full, bare))
        assert await store.read(look) == [full, bare]
        await store.close()
        async with self.opened(directory) as again:
            assert await again.read(look) == [full, bare]

    async def test_a_channel_that_never_was_is_none(self, store: Store) -> None:
        await store.write(lambda tx: founded(tx, BUILD))
        for name in ("ghost", "", "#build", "buil", "build%"):
            assert await store.read(lambda tx, name=name: tx.channels.get(name)) is None

    async def test_a_store_without_channels_lists_none(self, store: Store) -> None:
        assert list(await store.read(lambda tx: tx.channels.all())) == []

    async def test_channels_come_in_order_of_creation(self, store: Store, directory: Path) -> None:
        for channel in (OPS, BUILD, LOUNGE):
            await store.write(lambda tx, channel=channel: founded(tx, channel))
        assert list(await store.read(lambda tx: tx.channels.all())) == [OPS, BUILD, LOUNGE]
        await store.close()
        async with self.opened(directory) as again:
            assert list(await again.read(lambda tx: tx.channels.all())) == [OPS, BUILD, LOUNGE]

    async def test_putting_again_replaces_the_channel_in_its_place(self, store: Store, directory: Path) -> None:
        changed = replace(OPS, topic=None, members=(BEAR, OWL), archived_at=NOW + 5)
        await store.write(lambda tx: founded(tx, OPS, BUILD))
        await store.write(lambda tx: tx.channels.put(changed))
        await store.write(lambda tx: founded(tx, LOUNGE))
        assert list(await store.read(lambda tx: tx.channels.all())) == [changed, BUILD, LOUNGE]
        await self.crash(store)
        async with self.opened(directory) as again:
            assert list(await again.read(lambda tx: tx.channels.all())) == [changed, BUILD, LOUNGE]
            assert await again.read(lambda tx: tx.channels.get("ops")) == changed

    async def test_a_channel_is_read_back_within_the_work_that_put_it(self, store: Store) -> None:
        def work(tx: Transaction) -> list[Channel | None]:
            tx.channels.put(BUILD)
            first = tx.channels.get("build")
            tx.channels.put(BUILD.joined(OWL))
            return [first, tx.channels.get("build")]

        assert await store.write(work) == [BUILD, BUILD.joined(OWL)]

    async def test_no_channel_is_put_inside_a_read(self, store: Store) -> None:
        await store.write(lambda tx: founded(tx, OPS))
        for channel in (BUILD, OPS.joined(BEAR)):
            with pytest.raises(Exception):  # noqa: B017, PT011 - any will do, so long as it is refused
                await store.read(lambda tx, channel=channel: tx.channels.put(channel))
        assert list(await store.read(lambda tx: tx.channels.all())) == [OPS]

    async def test_what_is_said_in_a_channel_stays_with_it(self, store: Store, directory: Path) -> None:
        """Also what mentions nobody, and so lies in no inbox."""

        def work(tx: Transaction) -> None:
            founded(tx, OPS, BUILD)
            said(tx, "first", OPS)
            said(tx, "elsewhere", BUILD)
            said(tx, "@owl", OPS, (OWL,))

        def history(tx: Transaction) -> list[str]:
            return contents(tx.messages.history(OPS.conversation, before=None, limit=10))

        await store.write(work)
        assert await store.read(history) == ["first", "@owl"]
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(history) == ["first", "@owl"]

    async def test_an_export_carries_channels_in_their_order(self, store: Store, tmp_path: Path) -> None:
        gone = OPS.archived(NOW + 3)
        await store.write(lambda tx: founded(tx, OPS, LOUNGE, BUILD))
        await store.write(lambda tx: tx.channels.put(gone))
        (tmp_path / "second").mkdir()
        async with self.opened(tmp_path / "second") as copy:
            await loaded(copy, await exported(store))
            assert list(await copy.read(lambda tx: tx.channels.all())) == [gone, LOUNGE, BUILD]
        async with self.opened(tmp_path / "second") as again:
            assert await again.read(names) == ["ops", "a-lounge", "build"]

    async def test_a_store_with_a_channel_alone_is_not_empty(self, store: Store) -> None:
        records = await exported(store)
        await store.write(lambda tx: tx.channels.put(BUILD))
        with pytest.raises(Exception, match=r"\w"):
            await loaded(store, records)
        assert await store.read(names) == ["build"]
