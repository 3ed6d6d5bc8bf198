"""A hub without doors: all services over a real SQLite file, and a clock that only the test moves."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from rookery.domain.agents import Agent
from rookery.domain.deliveries import Delivery
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message
from rookery.domain.principals import Principal
from rookery.ports import InboxItem, Transaction
from rookery.services.agents import Registration
from rookery.services.hub import Hub, HubRules
from rookery.services.messaging import Draft, Receipt
from rookery.stores.sqlite import SqliteStore

T = TypeVar("T")

NOW = 1_800_000_000_000
SECOND = 1_000
MINUTE = 60 * SECOND
THE_OPERATOR = Principal(OPERATOR, "t-operator")

RULES = HubRules(sweep_every=10**9)
"""The sweeps come when the test says so."""


class FakeClock:
    def __init__(self, now: int = NOW) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def move_on(self, milliseconds: int) -> None:
        self._now += milliseconds


class RacingStore(SqliteStore):
    """Lets something happen in the moment between a read and the one who waits for its answer."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._after_next_read: Callable[[], Awaitable[object]] | None = None

    def after_next_read(self, happens: Callable[[], Awaitable[object]]) -> None:
        self._after_next_read = happens

    async def read(self, work: Callable[[Transaction], T]) -> T:
        found = await super().read(work)
        happens, self._after_next_read = self._after_next_read, None
        if happens is not None:
            await happens()
        return found


@dataclass(frozen=True, slots=True)
class Member:
    """An agent with the token that it was given."""

    agent: Agent
    token: str
    principal: Principal

    @property
    def id(self) -> str:
        return self.agent.id


class House:
    def __init__(self, directory: Path, rules: HubRules) -> None:
        self.clock = FakeClock()
        self.store = RacingStore(directory)
        self.hub = Hub(self.store, self.clock, rules)

    # -- doing ---------------------------------------------------------------------------------------

    async def member(self, name: str | None = None, **said: Any) -> Member:
        """Register an agent as the operator would."""
        done = await self.hub.agents.register(THE_OPERATOR, Registration(name=name, **said))
        assert done.token is not None
        return Member(done.agent, done.token, await self.hub.access.principal(done.token))

    async def members(self, *names: str) -> list[Member]:
        return [await self.member(name) for name in names]

    async def send(self, by: Member | Principal, to: Member | str, content: str = "hello", **more: Any) -> Receipt:
        draft = Draft(to=to if isinstance(to, str) else to.id, content=content, **more)
        return await self.hub.messaging.send(by.principal if isinstance(by, Member) else by, draft)

    async def shout(self, by: Member | Principal, content: str = "hear ye", **more: Any) -> Receipt:
        return await self.send(by, "broadcast", content, **more)

    # -- looking -------------------------------------------------------------------------------------

    async def delivery(self, message: Message | Receipt, recipient: Member | str) -> Delivery:
        message_id = message.message.id if isinstance(message, Receipt) else message.id
        owner = recipient if isinstance(recipient, str) else recipient.id
        found = await self.store.read(lambda tx: tx.deliveries.get(message_id, owner))
        assert found is not None
        return found

    async def agent(self, agent_id: str) -> Agent:
        """As stored; also one that is gone."""
        found = await self.store.read(lambda tx: tx.agents.get(agent_id))
        assert found is not None
        return found

    async def inbox(self, owner: Member | str, **asked: Any) -> Sequence[InboxItem]:
        name = owner if isinstance(owner, str) else owner.id
        asked.setdefault("unread_only", False)
        return (await self.hub.inbox.list(THE_OPERATOR, name, **asked)).items

    async def journal(self, *kinds: type, audience: str | None = None) -> list[Any]:
        """The entries of these kinds, as the operator or that agent sees them. What a fact has depends on its
        kind, which the reader of a test sees and a type checker does not."""
        entries = await self.store.read(lambda tx: tx.journal.after(0, limit=1_000_000, audience=audience))
        return [entry for entry in entries if not kinds or isinstance(entry.fact, kinds)]

    async def event(self, kind: type, *, after: int = 0) -> Any:
        """The first entry of that kind behind a position, as soon as it is there."""
        while True:
            page = await self.hub.journal.page(THE_OPERATOR, after=after, limit=1000, wait=20)
            assert page.entries, f"there is no {kind.__name__}"
            for entry in page.entries:
                if isinstance(entry.fact, kind):
                    return entry
            after = page.position

    async def position(self) -> int:
        return await self.store.read(lambda tx: tx.journal.end())


@asynccontextmanager
async def a_house(directory: Path, rules: HubRules = RULES, **changes: Any) -> AsyncGenerator[House]:
    house = House(directory, replace(rules, **changes))
    await house.hub.start()
    try:
        yield house
    finally:
        await house.hub.stop()


async def until(condition: Callable[[], object], within: float = 20.0) -> None:
    """Give way to the other tasks until the condition holds; fails the test when it does not in time."""
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - any condition, without a hook in the code under test
            await asyncio.sleep(0)


def contents(items: Sequence[InboxItem] | Sequence[Message]) -> list[str]:
    return [(item.message if isinstance(item, InboxItem) else item).content for item in items]
