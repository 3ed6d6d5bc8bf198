"""A real hub behind a real server on a real socket, inside the test's own process.

    async with served(tmp_path / "data") as hub:
        async with hub.client() as http:
            await http.get("/healthz")

`ServedInThread` does the same beside a test that is not asynchronous.
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import uvicorn
from websockets.asyncio.client import connect

from rookery.bootstrap import allowed_hosts, hub_rules, make_store, running_app, server_config
from rookery.clock import SystemClock
from rookery.config import Settings
from rookery.ports import Clock
from rookery.services.access import new_secret
from rookery.services.hub import Hub

Json = dict[str, Any]
PATIENCE = 20.0
_PLAIN: Json = {"trust_env": False, "verify": False}
"""No proxies, and no certificates to load: these connections are plain HTTP to this machine."""


class Member:
    """An agent as the outside knows it."""

    def __init__(self, told: Json) -> None:
        self.id: str = told["agent_id"]
        self.name: str = told["name"]
        self.token: str = told["token"]

    @property
    def headers(self) -> dict[str, str]:
        return bearer(self.token)


class Served:
    def __init__(self, hub: Hub, port: int, operator_token: str) -> None:
        self.hub = hub
        self.port = port
        self.host = f"127.0.0.1:{port}"
        self.url = f"http://{self.host}"
        self.operator_token = operator_token

    @property
    def guarded(self) -> bool:
        return self.hub.access.guarded

    @property
    def operator(self) -> dict[str, str]:
        """The headers that make a request the operator's."""
        return bearer(self.operator_token) if self.guarded else {}

    def client(self, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
        """The operator's, unless told otherwise."""
        return httpx.AsyncClient(
            base_url=self.url, headers=self.operator if headers is None else headers, timeout=PATIENCE, **_PLAIN
        )

    def blocking_client(self, headers: dict[str, str] | None = None) -> httpx.Client:
        return httpx.Client(
            base_url=self.url, headers=self.operator if headers is None else headers, timeout=PATIENCE, **_PLAIN
        )

    def socket(self, headers: dict[str, str] | None = None, **options: Any) -> connect:
        """A WebSocket; words that `connect` does not know are its query."""
        known = ("subprotocols", "max_size", "origin", "ping_interval", "path", "max_queue", "close_timeout")
        how = {name: options.pop(name) for name in known if name in options}
        path = how.pop("path", "/ws/agents")
        query = urlencode(options)
        return connect(
            f"ws://{self.host}{path}" + (f"?{query}" if query else ""),
            additional_headers=self.operator if headers is None else headers,
            open_timeout=PATIENCE,
            proxy=None,
            compression=None,
            **how,
        )


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class _Server(uvicorn.Server):
    """Leaves the signals of the test process alone, and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()
        self.stopping = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.stopping.wait()


@asynccontextmanager
async def served(
    directory: Path,
    *,
    clock: Clock | None = None,
    farewell: float | None = None,
    hand_off_wait: int = 5_000,
    **settings: Any,
) -> AsyncGenerator[Served]:
    """`farewell` is how many seconds those who are being served have when the hub stops.

    `hand_off_wait` is longer than a sender would care to wait, for on a busy machine all takes its time."""
    chosen = Settings(data=directory, port=0, **settings)
    rules = replace(hub_rules(chosen), hand_off_wait=hand_off_wait)
    hub = Hub(make_store(chosen), clock or SystemClock(), rules)
    await hub.start()
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    port = listener.getsockname()[1]
    try:
        secret = new_secret("operator")
        await hub.access.adopt_operator_token(secret)
        async with running_app(hub, chosen, allowed_hosts(chosen, port)) as app:
            config = server_config(app)
            if farewell is not None:
                config.timeout_graceful_shutdown = farewell  # type: ignore[assignment] - whole seconds only by hint
            server = _Server(config)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            try:
                async with asyncio.timeout(PATIENCE):
                    await server.listening.wait()
                yield Served(hub, port, secret)
            finally:
                server.stopping.set()
                await serving
    finally:
        listener.close()
        await hub.stop()


class ServedInThread:
    """A served hub whose event loop runs in a thread of its own."""

    def __init__(self, directory: Path, **settings: Any) -> None:
        self._directory = directory
        self._settings = settings
        self._ready = threading.Event()
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._served: Served | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="served-hub")

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        await self._start_threads()
        try:
            async with served(self._directory, **self._settings) as self._served:
                self._ready.set()
                await self._stop.wait()
        finally:
            self._ready.set()

    async def _start_threads(self) -> None:
        """All that the loop will ever use, so that no test seems to leave one behind."""
        loop, workers = asyncio.get_running_loop(), 4
        loop.set_default_executor(ThreadPoolExecutor(workers))
        meeting = threading.Barrier(workers)
        await asyncio.gather(*(loop.run_in_executor(None, meeting.wait) for _ in range(workers)))

    def __enter__(self) -> Served:
        self._thread.start()
        assert self._ready.wait(PATIENCE)
        assert self._served is not None, "the hub did not start"
        return self._served

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()


async def register(http: httpx.AsyncClient, name: str | None = None, **said: Any) -> Member:
    answer = await http.post("/v1/agents/register", json={"name": name} | said)
    assert answer.status_code == 200, answer.text
    return Member(answer.json())


def registered(http: httpx.Client, name: str | None = None, **said: Any) -> Member:
    answer = http.post("/v1/agents/register", json={"name": name} | said)
    assert answer.status_code == 200, answer.text
    return Member(answer.json())
