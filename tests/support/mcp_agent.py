"""Agents in processes of their own that speak MCP: `python -m tests.support.mcp_agent SOCKET`.

The libraries take a second to load, so they are loaded once: each connection to the socket is given a process of
its own, forked for it. A connection holds one JSON object a line: first who the agent is and its habits, then what
calls to make at once. It is told what the agent is told, one JSON object a line.

A habit is `{"on": "ask", "says": "words", "do": [step, ...]}`: when a message of that pattern (or `plain`) comes
that holds those words, the steps are carried out in order. A step is `{"tool": ..., "arguments": {...}}`; in the
arguments `$id`, `$task` and `$from` are of the message, `$last` is what the step before was told.
"""

import asyncio
import json
import os
import re
import select
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, suppress
from typing import Any

import httpx
import httpx2
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

Json = dict[str, Any]
_TASK = re.compile(r"task_id='([^']+)'")


class Agent:
    def __init__(self, session: ClientSession, habits: list[Json], say: Callable[[Json], None]) -> None:
        self._session = session
        self._habits = habits
        self._say = say
        self._busy: set[asyncio.Task[None]] = set()

    async def call(self, tool: str, arguments: Json) -> Json:
        told = await self._session.call_tool(tool, arguments)
        texts = [part.text for part in told.content if part.type == "text"]
        return {"text": texts[0], "news": texts[1:], "error": bool(told.is_error)}

    async def obey(self, order: Json) -> None:
        told = await self.call(order["tool"], order["arguments"])
        self._say({"answer_to": order["number"], **told})

    async def look(self) -> None:
        """Read what is new, and act on it; several things at once, as a program with several sessions does."""
        while True:
            told = await self.call("inbox", {"action": "list"})
            listing = json.loads(told["text"])
            for message in listing["messages"]:
                self._say({"heard": message})
                self.start(self.act(message))
            if len(listing["messages"]) == listing["unread"]:
                return

    async def act(self, message: Json) -> None:
        pattern = "ask" if "answer_with" in message else "delegate" if "finish_with" in message else "plain"
        if message["text"].startswith("[Delegation"):
            pattern = "result"
        for habit in self._habits:
            if habit["on"] == pattern and habit.get("says", "") in message["text"]:
                await self.carry_out(habit["do"], message, pattern)
                return

    async def carry_out(self, steps: list[Json], message: Json, pattern: str) -> None:
        found = _TASK.search(message.get("finish_with", ""))
        known = {"$id": message["message_id"], "$task": found[1] if found else "", "$from": message["from"]}
        for step in steps:
            filled = {name: _filled(value, known) for name, value in step["arguments"].items()}
            told = await self.call(step["tool"], filled)
            known["$last"] = told["text"]
            self._say({"did": step["tool"], "after": pattern, **told})

    def start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._busy.add(task)
        task.add_done_callback(self._busy.discard)


def _filled(value: Any, known: dict[str, str]) -> Any:
    if isinstance(value, str):
        for name, text in known.items():
            value = value.replace(name, text)
    return value


async def wakes(url: str, token: str) -> AsyncGenerator[int]:
    """Yields whenever something has happened that concerns this agent."""
    async with httpx.AsyncClient(
        headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=30
    ) as http:
        position = 0
        while True:
            try:
                page = (await http.get(f"{url}/v1/events", params={"after": position, "wait": 10})).json()
            except httpx.HTTPError:
                await asyncio.sleep(0.1)  # the hub is away for a moment
                continue
            if "position" not in page:
                await asyncio.sleep(0.1)
                continue
            if page["position"] > position:
                position = page["position"]
                yield position


async def live(connection: socket.socket) -> None:
    """Until the other end closes."""
    lines, writer = await asyncio.open_connection(sock=connection, limit=1 << 24)

    def say(line: Json) -> None:
        writer.write(json.dumps(line).encode() + b"\n")

    said = json.loads(await lines.readline())
    async with AsyncExitStack() as stack:
        if said["transport"] == "stdio":
            words = ["-m", "rookery.cli", "mcp"]
            started = StdioServerParameters(command=sys.executable, args=words, env=said["env"])
            streams = await stack.enter_async_context(stdio_client(started))
        else:
            headers = {"Authorization": f"Bearer {said['token']}"}
            http = await stack.enter_async_context(
                httpx2.AsyncClient(headers=headers, trust_env=False, timeout=300)
            )
            streams = await stack.enter_async_context(
                streamable_http_client(f"{said['url']}/mcp", http_client=http)
            )
        session = await stack.enter_async_context(ClientSession(*streams[:2]))
        await session.initialize()
        agent = Agent(session, said["habits"], say)
        say({"ready": True, "pid": os.getpid()})
        listening = asyncio.ensure_future(_listen(agent, said["url"], said["token"]))
        try:
            while line := await lines.readline():
                agent.start(agent.obey(json.loads(line)))
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening


async def _listen(agent: Agent, url: str, token: str) -> None:
    async for _ in wakes(url, token):
        await agent.look()


def serve(path: str) -> None:
    """Until standard input ends, so that nothing is left when the one who started it is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        connection, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            code = 1
            try:
                asyncio.run(live(connection))
                code = 0
            finally:
                os._exit(code)
        connection.close()


if __name__ == "__main__":
    serve(sys.argv[1])
