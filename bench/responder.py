"""An agent that answers every question at once: it hears of it on its socket and answers over MCP.

`python -m bench.responder PORT TOKEN`
"""

import asyncio
import sys

import msgspec
import uvloop

from bench.calls import Client, tool_call
from bench.hub import stop_with_parent
from bench.sockets import Socket

_HANDS = 16


class Responder:
    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._token = token
        self._questions: asyncio.Queue[str] = asyncio.Queue()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        made = loop.create_connection(
            lambda: Socket(self._port, self._token, self._heard), "127.0.0.1", self._port
        )
        _, socket = await made
        await socket.opened
        print("ready", flush=True)
        await asyncio.gather(*(self._answer() for _ in range(_HANDS)))

    def _heard(self, text: bytes) -> None:
        if b'"pattern":"ask"' in text:
            self._questions.put_nowait(msgspec.json.decode(text)["message_id"])

    async def _answer(self) -> None:
        client = Client(self._port)
        while True:
            question = await self._questions.get()
            reply = {"action": "send", "reply_to": question, "content": "yes"}
            await client.ask(tool_call(self._port, self._token, "inbox", reply))


def main() -> None:
    stop_with_parent()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(Responder(int(sys.argv[1]), sys.argv[2]).run())


if __name__ == "__main__":
    main()
