from pathlib import Path

import pytest

from tests.support.fixtures import hub, hub_factory, open_hub, shared_hub
from tests.support.hub_process import HubProcess
from tests.support.rook import Rook

__all__ = ["hub", "hub_factory", "open_hub", "shared_hub"]


@pytest.fixture
def rook(shared_hub: HubProcess, tmp_path: Path) -> Rook:
    """`rook` as the operator of the module's hub."""
    return Rook(shared_hub.environment(), tmp_path)


@pytest.fixture
def lonely(tmp_path: Path, home: Path) -> Rook:
    """`rook` where no hub is."""
    import os

    env = {name: value for name, value in os.environ.items() if not name.startswith("ROOKERY_")}
    # A port that nothing listens on, instead of the one that a developer's own hub may have.
    return Rook(env | {"ROOKERY_DATA": str(tmp_path / "data"), "HOME": str(home)}, tmp_path)
