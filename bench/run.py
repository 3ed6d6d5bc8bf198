"""What every measure has at hand: a place, the load generator, filled stores, and the sizes of this run."""

import asyncio
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from bench.children import Broken, Child, Driver, HubChild, sends
from bench.sizes import Sizes
from bench.stores import Stores
from rookery.bootstrap import make_store
from rookery.config import Settings, StoreKind
from rookery.ports import Transaction

CALLERS = 8


@dataclass(frozen=True, slots=True)
class Run:
    place: Path
    sizes: Sizes
    driver: Driver
    stores: Stores
    say: Callable[[str], None]

    def settle(self, *children: Child) -> None:
        """Wait until none of them has anything left to do, so that none disturbs what is measured next."""
        if self.sizes.judged:
            for child in children:
                child.settle()


class Caller:
    """A hub under load, and the promise that it keeps what it acknowledges."""

    def __init__(self, run: Run, hub: HubChild, *, to: Sequence[str] = ()) -> None:
        self.hub = hub
        self._run = run
        self._acknowledged = hub.data.with_name(f"{hub.data.name}.acknowledged")
        self._acknowledged.touch()
        self._before = hub.status(run.driver)["messages"]
        self._agents = hub.register(run.driver, CALLERS)
        self._voices = [
            sends(hub.port, token, to or [other for other, _ in self._agents if other != agent])
            for agent, token in self._agents
        ]

    def send(self, connections: int, seconds: float) -> dict[str, Any]:
        return self._run.driver.load(
            self.hub.port, self._voices, connections=connections, seconds=seconds,
            acknowledged=self._acknowledged,
        )  # fmt: skip

    def push(self, count: int, warm_up: int) -> list[float]:
        """Messages from the first agent to the second, whose own socket is open."""
        (_, sender), (receiver, token) = self._agents[:2]
        asks = sends(self.hub.port, sender, [receiver]) * (count + warm_up)
        return self._run.driver.do(
            "push", port=self.hub.port, token=token, requests=[ask.decode() for ask in asks],
            acknowledged=str(self._acknowledged), warm_up=warm_up,
        )["waits"]  # fmt: skip

    def check(self, kind: str = "sqlite") -> None:
        """To be called once the hub has stopped. Raises when a message that was acknowledged is not there."""
        ids = self._acknowledged.read_text().split()
        missing, stored = asyncio.run(_missing(kind, self.hub.data, ids))
        if missing:
            raise Broken(f"{len(missing)} of {len(ids)} acknowledged messages are missing, {missing[0]} first")
        if len(set(ids)) != len(ids) or stored != self._before + len(ids):
            raise Broken(f"{len(ids)} sends were acknowledged; {stored - self._before} messages were added")


async def _missing(kind: str, data: Path, ids: Sequence[str]) -> tuple[list[str], int]:
    store = make_store(Settings(store=cast("StoreKind", kind), data=data))
    await store.open()

    def look(tx: Transaction) -> list[str]:
        return [message_id for message_id in ids if tx.messages.get(message_id) is None]

    try:
        return await store.read(look), store.report().messages
    finally:
        await store.close()


def has_maildir() -> bool:
    return importlib.util.find_spec("rookery.stores.maildir") is not None
