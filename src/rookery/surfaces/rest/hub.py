"""Handlers for the hub itself: health, counters, its documents, its data."""

import asyncio
import threading
from collections.abc import AsyncGenerator

import rookery
from rookery.domain.errors import StorageFull
from rookery.services.access import require_operator
from rookery.surfaces.http import encoded
from rookery.surfaces.rest.call import Call, Plain
from rookery.surfaces.rest.metrics import metrics_text
from rookery.surfaces.rest.pages import docs_page, front_page, page_headers
from rookery.wire import requests as ask
from rookery.wire import responses as answer
from rookery.wire.openapi import openapi_document
from rookery.wire.times import iso

_EXPORTED_AHEAD = 64


async def healthz(call: Call) -> answer.HealthResponse:
    report = call.hub.store.report()
    if report.full:
        raise StorageFull(report.place)
    return answer.HealthResponse(status="ok", version=rookery.__version__)


async def status(call: Call) -> answer.StatusResponse:
    report = call.hub.store.report()
    agents = await call.hub.agents.living()
    return answer.StatusResponse(
        version=rookery.__version__,
        store=report.kind,
        data=report.place,
        position=report.position,
        messages=report.messages,
        bytes=report.bytes,
        full=report.full,
        agents=len(agents),
        online=sum(agent.online for agent in agents),
        sockets=call.meter.sockets,
        approvals=len(await call.hub.approvals.pending(call.principal)),
        auth="token" if call.hub.access.guarded else "none",
        started_at=iso(call.hub.started_at),
    )


async def prune(call: Call) -> answer.PrunedResponse:
    body: ask.PruneRequest = call.body
    before = call.hub.clock.now() - round(body.older_than_seconds * 1000)
    pruned = await call.hub.inbox.prune(call.principal, before=before, folders=body.folders)
    return answer.PrunedResponse(pruned=pruned, message=f"Removed {pruned} message(s) for good")


async def export(call: Call) -> AsyncGenerator[bytes]:
    require_operator(call.principal, "export")
    return _exported_lines(call)


async def _exported_lines(call: Call) -> AsyncGenerator[bytes]:
    """The store is read in a thread of its own, never further ahead of the network than a few lines."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    room = threading.Semaphore(_EXPORTED_AHEAD)
    given_up = threading.Event()

    def put(line: bytes | None) -> bool:
        """Whether somebody still reads. The thread never waits for one who has gone."""
        while not room.acquire(timeout=0.1):
            if given_up.is_set():
                return False
        loop.call_soon_threadsafe(lines.put_nowait, line)
        return not given_up.is_set()

    def produce() -> None:
        try:
            for record in call.hub.store.export():
                if not put(encoded(record) + b"\n"):
                    return
        finally:
            put(None)

    producing = loop.run_in_executor(None, produce)
    try:
        while (line := await lines.get()) is not None:
            room.release()
            yield line
    finally:
        given_up.set()
        await producing  # and raise what it met


async def metrics(call: Call) -> Plain:
    return Plain(metrics_text(call.hub, call.meter).encode())


async def openapi(call: Call) -> Plain:  # noqa: ARG001 - every handler takes the call
    return Plain(_OPENAPI)


async def docs(call: Call) -> Plain:  # noqa: ARG001
    return Plain(_DOCS, page_headers())


async def front(call: Call) -> Plain:  # noqa: ARG001
    return Plain(_FRONT, page_headers())


_DOCUMENT = openapi_document(rookery.__version__)
_OPENAPI = encoded(_DOCUMENT)
_DOCS = docs_page(_DOCUMENT).encode()
_FRONT = front_page(rookery.__version__).encode()
