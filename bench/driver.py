"""The load generator, in a process of its own: jobs come as JSON lines, results go back as JSON lines."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import msgspec
import uvloop

from bench.calls import Client, Load, message_id
from bench.hub import raise_file_limit
from bench.sockets import Socket

_MOST_AT_ONCE = 50
_PATIENCE = 60.0


class Driver:
    def __init__(self) -> None:
        self._sockets: dict[int, list[Socket]] = {}
        self._on_text: Callable[[bytes], None] = _nobody

    async def load(self, job: dict[str, Any]) -> dict[str, object]:
        """`busy` is the share of the time in which this process used its CPU: near 1, it is the bottleneck."""
        load = Load(job["seconds"], keep_ids=job["acknowledged"] is not None)
        voices = [[ask.encode() for ask in voice] for voice in job["voices"]]
        used = process_time()
        await load.run(job["port"], voices, job["connections"])
        busy = (process_time() - used) / load.seconds
        if job["acknowledged"] is not None:
            _append(Path(job["acknowledged"]), load.ids)
        waits = sorted(load.waits)
        return {
            "answers": len(waits),
            "seconds": load.seconds,
            "p50": waits[len(waits) // 2],
            "p99": waits[len(waits) * 99 // 100],
            "busy": busy,
        }

    async def call(self, job: dict[str, Any]) -> dict[str, object]:
        """Requests in order; returns the bodies of the answers."""
        client = Client(job["port"])
        try:
            answers = [await client.ask(ask.encode()) for ask in job["requests"]]
        finally:
            client.close()
        return {"answers": [answer.partition(b"\r\n\r\n")[2].decode() for answer in answers]}

    async def push(self, job: dict[str, Any]) -> dict[str, object]:
        """How long from the first byte of a send until the receiver's own socket has the message."""
        frames: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        socket = await _open(job["port"], job["token"], lambda text: _note(frames, text))
        client = Client(job["port"])
        waits: list[float] = []
        ids: list[str] = []
        try:
            for ask in job["requests"]:
                began = perf_counter()
                answering = asyncio.ensure_future(client.ask(ask.encode()))
                arrived, text = await asyncio.wait_for(frames.get(), _PATIENCE)
                waits.append(arrived - began)
                ids.append(message_id(await answering))
                if f'"message_id":"{ids[-1]}"'.encode() not in text:
                    raise AssertionError(f"the push is not the message that was sent: {text!r}")
        finally:
            client.close()
            socket.close()
        _append(Path(job["acknowledged"]), ids)
        return {"waits": waits[job["warm_up"] :]}

    async def listen(self, job: dict[str, Any]) -> dict[str, object]:
        """Open a socket for each token and keep them open, by port."""
        room = asyncio.Semaphore(_MOST_AT_ONCE)

        async def join(token: str) -> Socket:
            async with room:
                return await _open(job["port"], token, self._heard)

        self._sockets[job["port"]] = await asyncio.gather(*(join(token) for token in job["tokens"]))
        return {}

    def _heard(self, text: bytes) -> None:
        self._on_text(text)

    async def fan_out(self, job: dict[str, Any]) -> dict[str, object]:
        """Broadcast, one after the other; the time is over when every socket has every message."""
        sockets = self._sockets[job["port"]]
        expected = len(sockets) * len(job["requests"])
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        arrived = 0

        def count(text: bytes) -> None:
            nonlocal arrived
            if b'"agent_broadcast"' in text[:64]:
                arrived += 1
                if arrived == expected and not over.done():
                    over.set_result(None)

        def gone(why: str) -> None:
            if not over.done():
                over.set_exception(ConnectionError(why))

        for socket in sockets:
            socket.lost = gone
        self._on_text = count
        client = Client(job["port"])
        began, used = perf_counter(), process_time()
        try:
            for ask in job["requests"]:
                await client.ask(ask.encode())
            await asyncio.wait_for(over, _PATIENCE)
        finally:
            self._on_text = _nobody
            for socket in sockets:
                socket.lost = None
            client.close()
        seconds = perf_counter() - began
        return {"deliveries": arrived, "seconds": seconds, "busy": (process_time() - used) / seconds}


def _nobody(text: bytes) -> None:
    pass


def _note(frames: "asyncio.Queue[tuple[float, bytes]]", text: bytes) -> None:
    if b'"agent_message"' in text[:64]:
        frames.put_nowait((perf_counter(), text))


async def _open(port: int, token: str, on_text: Callable[[bytes], None]) -> Socket:
    loop = asyncio.get_running_loop()
    _, socket = await loop.create_connection(lambda: Socket(port, token, on_text), "127.0.0.1", port)
    await socket.opened
    return socket


def _append(file: Path, ids: list[str]) -> None:
    with file.open("a") as acknowledged:
        acknowledged.writelines(f"{each}\n" for each in ids)


async def _work() -> None:
    driver = Driver()
    while line := await asyncio.to_thread(sys.stdin.buffer.readline):
        job = msgspec.json.decode(line)
        work: Callable[[dict[str, Any]], Awaitable[dict[str, object]]] = getattr(driver, job["job"])
        try:
            result = await work(job)
        except Exception as exc:  # told to the benchmark, which stops
            result = {"error": f"{type(exc).__name__}: {exc}"}
        os.write(sys.stdout.fileno(), msgspec.json.encode(result) + b"\n")


def main() -> None:
    raise_file_limit()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_work())


if __name__ == "__main__":
    main()
