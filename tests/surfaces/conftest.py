"""What tests of the doors share: hubs on real sockets."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.surfaces.served import Served, served


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Served]:
    """A fresh guarded hub with the documented settings."""
    async with served(tmp_path / "data") as hub:
        yield hub


@pytest.fixture
async def http(hub: Served) -> AsyncIterator[httpx.AsyncClient]:
    """The operator's connection to it."""
    async with hub.client() as http:
        yield http


@pytest.fixture
async def open_hub(tmp_path: Path) -> AsyncIterator[Served]:
    """A fresh hub with `--auth none`."""
    async with served(tmp_path / "open", auth="none") as hub:
        yield hub
