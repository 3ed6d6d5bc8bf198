"""What tests of the services share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.services.house import House, a_house


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A hub with the documented rules and a clock that stands still."""
    async with a_house(tmp_path / "data") as house:
        yield house
