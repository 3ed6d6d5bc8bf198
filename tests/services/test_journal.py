"""Pages of the journal, and the long poll."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from rookery.domain.errors import RookeryError
from rookery.domain.events import AccessRefused
from rookery.services.hub import HubRules
from rookery.services.journal import Page
from tests.services.house import RULES, THE_OPERATOR, House, a_house, until

PATIENCE = 20.0


async def everything(house: House, by, limit: int) -> list[int]:
    """Page after page, from the beginning to the end."""
    positions: list[int] = []
    page = Page(entries=(), position=0, more=True)
    while page.more:
        page = await house.hub.journal.page(by, after=page.position, limit=limit)
        assert len(page.entries) <= limit
        positions += [entry.position for entry in page.entries]
    return positions


@pytest.mark.parametrize("limit", [1, 2, 7, 1000])
async def test_pages_together_are_the_journal(house: House, limit: int) -> None:
    one, other = await house.members("one", "other")
    for n in range(20):
        await house.send(one, other, f"{n}")
    assert await everything(house, THE_OPERATOR, limit) == list(range(1, await house.position() + 1))
    for member in (one, other):
        wanted = [entry.position for entry in await house.journal(audience=member.id)]
        assert await everything(house, member.principal, limit) == wanted


async def test_the_cursor_moves_on_even_when_nothing_concerned_the_reader(house: House) -> None:
    one, other, third = await house.members("one", "other", "third")
    start = await house.position()
    await house.send(one, other)
    page = await house.hub.journal.page(third.principal, after=start, limit=10)
    assert (list(page.entries), page.position, page.more) == ([], await house.position(), False)


async def test_an_agent_never_sees_the_audit_trail(house: House) -> None:
    one = await house.member("one")
    await house.hub.access.record_refusal(one.principal, "anything", "because")
    for by, seen in ((one.principal, 0), (THE_OPERATOR, 1)):
        page = await house.hub.journal.page(by, after=0, limit=1000)
        assert sum(isinstance(entry.fact, AccessRefused) for entry in page.entries) == seen


# -- waiting ---------------------------------------------------------------------------------------------


async def test_a_page_with_entries_does_not_wait(house: House) -> None:
    await house.member("one")
    async with asyncio.timeout(PATIENCE):
        page = await house.hub.journal.page(THE_OPERATOR, after=0, limit=10, wait=600)
    assert page.entries


async def test_a_wait_ends_with_the_first_entry_that_concerns_the_reader(house: House) -> None:
    one, other, third = await house.members("one", "other", "third")
    start = await house.position()
    asking = asyncio.create_task(house.hub.journal.page(third.principal, after=start, limit=10, wait=600))
    await until(house.hub.relay.subscriptions)
    await house.send(one, other, "not for you")
    assert not asking.done()
    await house.send(one, third, "for you")
    async with asyncio.timeout(PATIENCE):
        page = await asking
    assert [entry.message.content for entry in page.entries if entry.message] == ["for you"]
    assert page.position == await house.position()
    assert house.hub.relay.subscriptions() == 0


async def test_a_wait_without_news_ends_empty_with_its_cursor(house: House) -> None:
    await house.member("one")
    end = await house.position()
    page = await house.hub.journal.page(THE_OPERATOR, after=end, limit=10, wait=0.01)
    assert (list(page.entries), page.position, page.more) == ([], end, False)
    assert house.hub.relay.subscriptions() == 0


async def test_a_wait_that_is_given_up_leaves_nothing_behind(house: House) -> None:
    await house.member("one")
    end = await house.position()
    asking = asyncio.create_task(house.hub.journal.page(THE_OPERATOR, after=end, limit=10, wait=600))
    await until(house.hub.relay.subscriptions)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert house.hub.relay.subscriptions() == 0


async def test_a_burst_larger_than_the_buffer_ends_a_wait_like_any_news(tmp_path: Path) -> None:
    async with a_house(tmp_path / "small", socket_buffer=1) as house:
        one, other = await house.members("one", "other")
        end = await house.position()
        asking = asyncio.create_task(house.hub.journal.page(THE_OPERATOR, after=end, limit=1000, wait=600))
        await until(house.hub.relay.subscriptions)
        await asyncio.gather(*(house.send(one, other, f"{n}") for n in range(20)))
        async with asyncio.timeout(PATIENCE):
            page = await asking
        assert page.entries[0].position == end + 1


class LateHouse(House):
    """Its relay hears of commits only when the test says so, as on a busy loop, or from another hub."""

    def __init__(self, directory: Path, rules: HubRules) -> None:
        super().__init__(directory, rules)
        self._held_back: list[int] | None = None
        self._listeners: list[Callable[[int], None]] = []
        announce_to = self.store.announce_to

        def late(listener: Callable[[int], None]) -> None:
            def told(position: int) -> None:
                if self._held_back is None:
                    listener(position)
                else:
                    self._held_back.append(position)

            self._listeners.append(listener)
            announce_to(told)

        self.store.announce_to = late  # type: ignore[method-assign]

    def hold_back(self) -> None:
        self._held_back = []

    def let_go(self) -> None:
        held, self._held_back = self._held_back or [], None
        if held:
            for listener in self._listeners:
                listener(held[-1])


async def test_a_wait_from_a_position_that_the_relay_has_not_heard_of_yet_is_a_wait_like_any_other(
    tmp_path: Path,
) -> None:
    house = LateHouse(tmp_path / "late", RULES)
    await house.hub.start()
    try:
        one, other = await house.members("one", "other")
        house.hold_back()
        await house.send(one, other, "committed, not announced")
        end = await house.position()
        asking = asyncio.create_task(house.hub.journal.page(THE_OPERATOR, after=end, limit=10, wait=600))
        await until(lambda: house.hub.relay.subscriptions() or asking.done())
        house.let_go()
        await house.send(one, other, "news")
        async with asyncio.timeout(PATIENCE):
            page = await asking
        assert [entry.position for entry in page.entries] == [end + 1, end + 2]
    finally:
        house.let_go()
        await house.hub.stop()


@pytest.mark.parametrize("wait", [0.0, 0.01])
async def test_a_position_beyond_the_end_is_refused_with_the_end(house: House, wait: float) -> None:
    one = await house.member("one")
    end = await house.position()
    for by in (THE_OPERATOR, one.principal):
        with pytest.raises(RookeryError, match="beyond the end of the journal") as refused:
            await house.hub.journal.page(by, after=end + 1, limit=10, wait=wait)
        assert refused.value.data == {"position": end}
