"""A channel with people in it, for the tests of the services."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rookery.domain.channels import Channel
from rookery.domain.principals import Principal
from rookery.services.messaging import Receipt
from tests.services.house import House, Member, a_house, contents


class Room:
    """A channel with a fox who created it, an owl and a bear; a crow stands outside."""

    def __init__(self, house: House, fox: Member, owl: Member, bear: Member, crow: Member) -> None:
        self.house = house
        self.fox, self.owl, self.bear, self.crow = fox, owl, bear, crow

    async def say(self, by: Member | Principal, content: str, **more: Any) -> Receipt:
        return await self.house.send(by, "#build", content, **more)

    async def now(self) -> Channel:
        return await self.house.hub.channels.get("build")

    async def history(self, by: Member | Principal, **asked: Any) -> list[str]:
        principal = by.principal if isinstance(by, Member) else by
        _, messages = await self.house.hub.channels.history(principal, "build", **asked)
        return contents(messages)


async def furnished(house: House) -> Room:
    room = Room(house, *await house.members("fox", "owl", "bear", "crow"))
    await house.hub.channels.create(room.fox.principal, "build", members=["owl", "bear"])
    return room


@pytest.fixture
async def room(house: House) -> Room:
    return await furnished(house)


@pytest.fixture
async def patient_room(tmp_path: Path) -> AsyncIterator[Room]:
    """Senders wait for a hand-off far longer than any of them takes."""
    async with a_house(tmp_path / "patient", hand_off_wait=10_000) as house:
        yield await furnished(house)
