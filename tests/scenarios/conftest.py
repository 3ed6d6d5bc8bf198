"""What whole-system tests share: hubs in processes of their own, and the operator's view of one."""

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import pytest

from tests.scenarios.switchboard import Switchboard
from tests.support.agents import Nursery, Stage, nursery  # noqa: F401
from tests.support.fixtures import hub, hub_factory, open_hub  # noqa: F401
from tests.support.hub_process import HubProcess


@pytest.fixture
async def board(hub: HubProcess) -> AsyncIterator[Switchboard]:  # noqa: F811 - the fixture above
    """The operator's calls to the hub of this test."""
    async with Switchboard(hub) as board:
        yield board


@pytest.fixture
def stage(nursery: Nursery, hub: HubProcess) -> Iterator[Stage]:  # noqa: F811 - the fixtures above
    """Where agents come on, in processes of their own; they leave before the hub does."""
    with ExitStack() as agents:
        yield Stage(nursery, hub, agents)
