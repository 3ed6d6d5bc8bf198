"""Work on the data itself, when no hub has it open."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rookery.cli.desk import Desk
from rookery.config import Loaded, Settings, StoreKind, load
from rookery.domain.errors import InvalidRequest, NotFound
from rookery.wire.discovery import HubFile, running_hub

if TYPE_CHECKING:
    from rookery.ports import Store

T = TypeVar("T")


def hub_is_meant(desk: Desk) -> bool:
    """Whether the command goes to a hub: one was named, or one runs on the data."""
    if desk.url or os.environ.get("ROOKERY_URL"):
        return True
    return hub_on(settings_of(desk, create=True).data) is not None


def hub_on(data: Path) -> HubFile | None:
    """The hub that runs on the data. What a crashed one left behind does not count, even if its process
    number now belongs to another program."""
    hub = running_hub(data)
    return hub if hub is not None and is_alive(hub.pid) and _answers(hub.url) else None


def settings_of(desk: Desk, store: StoreKind | None = None, *, create: bool = False) -> Settings:
    """The settings for the data at hand. Without `create`, data that is not there is not made."""
    settings = with_store_found(load(flags={"data": desk.data, "store": store}))
    if not create and not settings.data.is_dir():
        raise NotFound(f"There is no data in {settings.data}; name the directory with --data.")
    return settings


def with_store_found(loaded: Loaded) -> Settings:
    """Data is opened as the store that wrote it. Raises InvalidRequest when somebody asked for the other: two
    stores in one directory would be two truths."""
    settings = loaded.settings
    found = store_in(settings.data)
    if found is None or found == settings.store:
        return settings
    if loaded.sources["store"] == "default":
        return replace(settings, store=found)
    raise InvalidRequest(
        f"The data in {settings.data} is kept by the {found} store, and {settings.store!r} was asked for "
        f"({loaded.sources['store']}). Leave that out, or take the data over with `rook export` and "
        "`rook import` into another directory.",
        found=found,
    )


def store_in(data: Path) -> StoreKind | None:
    if (data / "rookery.db").exists():
        return "sqlite"
    return "maildir" if (data / "journal").is_dir() or (data / "inbox").is_dir() else None


def with_store(settings: Settings, work: "Callable[[Store], Awaitable[T]]") -> T:
    """Open the data, do the work, close it. Raises StorageUnavailable when a hub has it."""

    async def run() -> T:
        async with _opened(settings) as store:
            return await work(store)

    return asyncio.run(run())


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _answers(url: str) -> bool:
    from rookery.client import Client, RookeryError

    try:
        with Client(url, timeout=2.0, patience=0.0) as hub:
            hub.health()
    except RookeryError as error:
        return error.code != "hub_unreachable"
    return True


@asynccontextmanager
async def _opened(settings: Settings) -> "AsyncGenerator[Store]":
    from rookery.bootstrap import make_store

    store = make_store(settings)
    await store.open()
    try:
        yield store
    finally:
        await store.close()
