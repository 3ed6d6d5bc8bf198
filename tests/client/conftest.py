from collections.abc import AsyncIterator
from typing import Any

import pytest

from rookery import AsyncClient, Client
from tests.support.fixtures import hub, hub_factory, open_hub, shared_hub
from tests.support.hub_process import HubProcess

__all__ = ["hub", "hub_factory", "open_hub", "shared_hub"]


@pytest.fixture(params=["blocking", "async"])
async def operator(request: pytest.FixtureRequest, shared_hub: HubProcess) -> AsyncIterator[Any]:
    """The operator of the module's hub, once with each kind of client."""
    if request.param == "blocking":
        with Client(data=shared_hub.data) as client:
            yield client
    else:
        async with AsyncClient(data=shared_hub.data) as client:
            yield client
