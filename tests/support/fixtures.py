"""Fixtures for suites that need a running hub. A suite takes them over in its conftest:

from tests.support.fixtures import hub, hub_factory, open_hub, shared_hub  # noqa: F401
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.hub_process import HubProcess

HubFactory = Callable[..., HubProcess]


@pytest.fixture
def hub_factory(tmp_path: Path) -> Iterator[HubFactory]:
    """Makes and starts hubs, each with its own data unless told otherwise; stops them after the test."""
    with ExitStack() as hubs:
        count = 0

        def make(**options: Any) -> HubProcess:
            nonlocal count
            count += 1
            data = options.pop("data", tmp_path / f"hub-{count}")
            return hubs.enter_context(HubProcess(data, **options))

        yield make


@pytest.fixture
def hub(hub_factory: HubFactory) -> HubProcess:
    """A fresh hub for one test, which may stop, kill and restart it."""
    return hub_factory()


@pytest.fixture
def open_hub(hub_factory: HubFactory) -> HubProcess:
    """A fresh hub with `--auth none`."""
    return hub_factory(auth="none")


@pytest.fixture(scope="module")
def shared_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """One hub for a whole module: quick, but tests must not mind what the others did."""
    with HubProcess(tmp_path_factory.mktemp("shared") / "hub") as hub:
        yield hub
