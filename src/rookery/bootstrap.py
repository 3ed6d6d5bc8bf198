"""Puts the parts together: settings become a store, a hub, its doors and a listening server."""

import asyncio
import contextlib
import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path

import msgspec
import uvicorn
from starlette.routing import Route, Router, WebSocketRoute
from starlette.types import ASGIApp

import rookery
from rookery.clock import SystemClock
from rookery.config import Settings
from rookery.domain.approvals import ApprovalRules
from rookery.domain.errors import InvalidRequest, StorageUnavailable
from rookery.domain.ids import OPERATOR
from rookery.domain.pacing import PacingRules
from rookery.domain.traces import TraceRules
from rookery.logs import configure_logs
from rookery.ports import Store
from rookery.services.access import RateRules, new_secret
from rookery.services.asking import AskRules
from rookery.services.expiry import ClaimRules
from rookery.services.hub import Hub, HubRules
from rookery.surfaces.gate import Gate
from rookery.surfaces.hang_up import HttpProtocol, SocketProtocol
from rookery.surfaces.mcp.app import Door
from rookery.surfaces.meter import Meter
from rookery.surfaces.paths import Paths
from rookery.surfaces.rest.app import nothing_here, rest_routes
from rookery.surfaces.websocket.app import Sockets
from rookery.wire.discovery import HUB_FILE, TOKEN_FILE, HubFile, operator_token
from rookery.wire.times import iso

_log = logging.getLogger(__name__)
_FAREWELL_PATIENCE = 5


def make_store(settings: Settings) -> Store:
    """The store that the settings name, not opened yet."""
    match settings.store:
        case "sqlite":
            from rookery.stores.sqlite import SqliteStore

            return SqliteStore(settings.data, queue_limit=settings.write_queue)
        case "maildir":
            from rookery.stores.maildir import MaildirStore

            return MaildirStore(settings.data, queue_limit=settings.write_queue)


def make_hub(settings: Settings) -> Hub:
    return Hub(make_store(settings), SystemClock(), hub_rules(settings))


def hub_rules(settings: Settings) -> HubRules:
    return HubRules(
        guarded=settings.auth == "token",
        rate=RateRules(settings.rate_per_second, settings.rate_burst),
        pacing=PacingRules(
            first_gap=_millis(settings.pacing_first_gap),
            longest_gap=_millis(settings.pacing_longest_gap),
            eager_within=_millis(settings.pacing_eager_within),
            reset_after=_millis(settings.pacing_reset_after),
            window=_millis(settings.pacing_window),
            most_in_window=settings.pacing_most_in_window,
        ),
        asks=AskRules(patience=_millis(settings.ask_patience), grace=_millis(settings.ask_grace)),
        approvals=ApprovalRules(patience=_millis(settings.approval_patience)),
        traces=TraceRules(
            most_hops=settings.trace_most_hops,
            most_messages=settings.trace_most_messages,
            remembered=_millis(settings.trace_remembered),
        ),
        claims=ClaimRules(silence=_millis(settings.claim_silence), most=settings.claim_most_losses),
        silent_after=_millis(settings.silent_after),
        sweep_every=_millis(settings.sweep_every),
        socket_buffer=settings.socket_buffer,
    )


@contextlib.asynccontextmanager
async def running_app(hub: Hub, settings: Settings, hosts: list[str]) -> AsyncGenerator[ASGIApp]:
    """Every door of the hub. What they keep running ends with the context."""
    meter = Meter()
    door = Door(hub, max_body=settings.max_body)
    sockets = Sockets(hub, meter, max_sockets=settings.max_sockets)
    router = Router(
        [
            *rest_routes(hub, meter, max_body=settings.max_body),
            Route("/mcp", door),
            WebSocketRoute("/ws/agents", sockets),
        ],
        redirect_slashes=False,
        default=nothing_here,
    )
    try:
        yield Gate(Paths(router), hosts=hosts, max_requests=settings.max_requests, meter=meter)
    finally:
        await door.stop()


def serve(settings: Settings, *, on_ready: Callable[[HubFile], None]) -> None:
    """Run the hub until SIGINT or SIGTERM. Raises before `on_ready` when it cannot start.

    Returns after a clean stop: requests under way are answered, sockets are told, the store is closed.
    """
    if settings.auth == "none" and not is_loopback(settings.host):
        raise InvalidRequest(
            f"Without tokens everybody who reaches {settings.host!r} would be the operator; "
            "bind 127.0.0.1, or leave out --auth none."
        )
    configure_logs(settings.log_level)
    _calm_the_collector()
    listener = _listen(settings)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(settings, listener, on_ready))
    finally:
        listener.close()


async def _serve(settings: Settings, listener: socket.socket, on_ready: Callable[[HubFile], None]) -> None:
    hub = make_hub(settings)
    await hub.start()
    try:
        await hub.access.adopt_operator_token(_operator_secret(settings.data))
        port: int = listener.getsockname()[1]
        async with running_app(hub, settings, allowed_hosts(settings, port)) as app:
            with _announced(settings, port) as hub_file:
                server = _Server(server_config(app), lambda: on_ready(hub_file))
                with _stopped_by_signals(server, hub.waiting.dismiss):
                    await server.serve(sockets=[listener])
    finally:
        await hub.stop()


def server_config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=HttpProtocol,
        ws=SocketProtocol,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws_per_message_deflate=False,
        ws_max_size=65_536,
        timeout_graceful_shutdown=_FAREWELL_PATIENCE,
    )


class _Server(uvicorn.Server):
    """Uvicorn without its own way with signals: it raises them again after a clean stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()


@contextlib.contextmanager
def _stopped_by_signals(server: uvicorn.Server, dismiss: Callable[[], None]) -> Generator[None]:
    """The first signal asks for a clean stop, which calls that wait must not put off; a second one does not wait
    for anybody."""

    def stop() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True
        dismiss()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


@contextlib.contextmanager
def _announced(settings: Settings, port: int) -> Generator[HubFile]:
    """Clients find the hub by this file; it is there exactly while the hub listens."""
    host = settings.host if ":" not in settings.host else f"[{settings.host}]"
    if settings.host in ("0.0.0.0", "::"):  # noqa: S104 - asked for by the operator
        host = "127.0.0.1"
    told = HubFile(
        url=f"http://{host}:{port}",
        pid=os.getpid(),
        version=rookery.__version__,
        started_at=iso(SystemClock().now()),
        auth=settings.auth,
    )
    path = settings.data / HUB_FILE
    _write_private(path, msgspec.json.encode(told))
    try:
        yield told
    finally:
        path.unlink(missing_ok=True)


def _operator_secret(data: Path) -> str:
    secret = operator_token(data)
    if secret is None:
        secret = new_secret(OPERATOR)
        _write_private(data / TOKEN_FILE, f"{secret}\n".encode())
    return secret


def _write_private(path: Path, content: bytes) -> None:
    """All or nothing, and for the owner's eyes only, whatever the umask says."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as exc:
        temporary.unlink(missing_ok=True)
        raise StorageUnavailable(f"{path} cannot be written: {exc.strerror}.", place=str(path)) from exc


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # The protocol is named, because asyncio's own loop turns Nagle's algorithm off only where it is: an answer of
    # two small writes would wait 40 ms for the second.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(1024)
    except OSError as exc:
        listener.close()
        raise InvalidRequest(
            f"Cannot listen on {settings.host}:{settings.port}: {exc.strerror}. "
            "Another program may have the port; choose one with --port (0 takes any free one).",
            port=settings.port,
        ) from exc
    listener.setblocking(False)
    return listener


def allowed_hosts(settings: Settings, port: int) -> list[str]:
    """What may stand in the Host header: this machine's loopback names, the bound address, what was added."""
    names = ["127.0.0.1", "localhost", "[::1]"]
    if settings.host not in ("0.0.0.0", "::"):  # noqa: S104
        names.append(f"[{settings.host}]" if ":" in settings.host else settings.host)
    hosts = [f"{name}:{port}" for name in names]
    if port == 80:
        hosts += names
    return [*hosts, *settings.allowed_hosts]


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _calm_the_collector() -> None:
    """Requests leave few cycles behind, and what is loaded by now stays: look for garbage less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop


def _millis(seconds: float) -> int:
    return round(seconds * 1000)
