"""A hub whose time stands still, three agents, and a caller without any token."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.services.house import FakeClock
from tests.surfaces.served import Member, Served, register, served


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def hub(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Served]:
    async with served(tmp_path / "data", clock=clock) as hub:
        yield hub


@pytest.fixture
async def bare(hub: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with hub.client(headers={}) as http:
        yield http


@pytest.fixture
async def janus(http: httpx.AsyncClient) -> Member:
    return await register(http, "janus-dev", project="/home/karl/janus")


@pytest.fixture
async def puppet(http: httpx.AsyncClient, janus: Member) -> Member:
    return await register(http, "puppet-dev", project="/home/karl/puppet")


@pytest.fixture
async def abra(http: httpx.AsyncClient, puppet: Member) -> Member:
    return await register(http, "abra-dev")
