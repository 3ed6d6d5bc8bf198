"""Readers: what fails in one leaves nothing behind."""

from pathlib import Path

import pytest

from rookery.ports import Transaction
from rookery.stores.sqlite import SqliteStore
from rookery.stores.tables.transaction import TableTransaction
from tests.stores.support import peopled, sending


class Mishap(Exception):
    pass


async def test_a_read_that_failed_in_the_middle_does_not_keep_its_thread_in_the_past(tmp_path: Path) -> None:
    def fails_half_way(tx: Transaction) -> None:
        assert isinstance(tx, TableTransaction)
        rows = tx.connection.execute("SELECT id FROM agents")
        next(rows)
        raise Mishap

    async with peopled(SqliteStore(tmp_path, readers=1)) as store:
        with pytest.raises(Mishap) as remembered:
            await store.read(fails_half_way)
        before = await store.read(lambda tx: tx.journal.end())
        await store.write(sending("news"))
        assert await store.read(lambda tx: tx.journal.end()) > before
        assert remembered.value.__traceback__ is not None  # whoever keeps the fault does no harm
