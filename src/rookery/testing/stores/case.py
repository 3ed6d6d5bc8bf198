"""The ground that every part of the contract stands on: a store over an empty directory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rookery.ports import Store


class StoreCase:
    """An implementation gives `make_store`, and `crash` if it can be dropped without a farewell."""

    def make_store(self, directory: Path) -> Store:
        """A store over that directory, not opened yet."""
        raise NotImplementedError

    async def crash(self, store: Store) -> None:
        """Leave the store as a killed process would: nothing is flushed, locks and handles are gone."""
        await store.close()

    @asynccontextmanager
    async def opened(self, directory: Path) -> AsyncIterator[Store]:
        store = self.make_store(directory)
        await store.open()
        try:
            yield store
        finally:
            await store.close()

    @pytest.fixture
    def directory(self, tmp_path: Path) -> Path:
        directory = tmp_path / "data"
        directory.mkdir()
        return directory

    @pytest.fixture
    async def store(self, directory: Path) -> AsyncIterator[Store]:
        async with self.opened(directory) as store:
            yield store
