"""The ground that every part of the contract stands on: a store over an empty directory."""

import shutil
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rookery.ports import Store, Transaction


class StoreCase:
    """An implementation gives `make_store`, and a `crash` of its own if its data is not a directory."""

    def make_store(self, directory: Path) -> Store:
        """A store over that directory, not opened yet."""
        raise NotImplementedError

    async def crash(self, store: Store) -> None:
        """Leave behind what a killed process would: the files as they lay, without a farewell.

        What was asked before the crash is answered, and so must be there afterwards.
        """
        directory = Path(store.report().place)
        photograph = directory.with_name(f"{directory.name}-photograph")

        def take_it(_: Transaction) -> None:
            # In a work, and so at a moment when the writer changes no file.
            shutil.rmtree(photograph, ignore_errors=True)
            shutil.copytree(directory, photograph)

        await store.write(lambda _: None)
        await store.write(take_it)
        await store.close()
        shutil.rmtree(directory)
        photograph.rename(directory)

    @asynccontextmanager
    async def opened(self, directory: Path) -> AsyncGenerator[Store]:
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
