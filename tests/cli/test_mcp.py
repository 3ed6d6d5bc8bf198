"""`rook mcp` as a program starts it: the tools on standard input and output."""

import asyncio
import json
import os
import stat
import subprocess
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import psutil
import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from rookery import Client
from rookery.cli import pipe
from rookery.client import Directions
from tests.support.fixtures import HubFactory
from tests.support.hub_process import HubProcess
from tests.support.rook import DEADLINE, ROOK, Rook

LIST_AGENTS = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "tools/call",
    "params": {"name": "list_agents", "arguments": {}},
}


@pytest.fixture
def errors(tmp_path: Path) -> Iterator[TextIO]:
    """What the programs say on stderr."""
    with (tmp_path / "stderr").open("w+") as file:
        yield file


@asynccontextmanager
async def tools(
    hub: HubProcess, errors: TextIO, *words: str, cwd: Path | None = None, **env: str
) -> AsyncGenerator[ClientSession]:
    started = StdioServerParameters(
        command=ROOK, args=["mcp", *words], env=hub.environment() | env, cwd=cwd or hub.data.parent
    )
    async with (
        asyncio.timeout(DEADLINE),
        stdio_client(started, errlog=errors) as streams,
        ClientSession(*streams) as session,
    ):
        await session.initialize()
        yield session


async def called(session: ClientSession, tool: str, **arguments: Any) -> CallToolResult:
    told = await session.call_tool(tool, arguments)
    assert isinstance(told, CallToolResult)
    return told


async def own_name(session: ClientSession) -> Any:
    told = await called(session, "list_agents")
    assert told.structured_content is not None, words_of(told)
    return told.structured_content["self"]


def words_of(told: CallToolResult) -> str:
    assert isinstance(told.content[0], TextContent)
    return told.content[0].text


def id_of(hub: HubProcess, name: str) -> str:
    with Client(data=hub.data) as operator:
        return next(agent.agent_id for agent in operator.agents().agents if agent.name == name)


def spoken(hub: HubProcess, *lines: bytes, words: tuple[str, ...] = (), **env: str) -> list[dict[str, Any]]:
    """What is answered to these lines, by a program that ends well when they do."""
    run = subprocess.run(
        [ROOK, "mcp", *words], input=b"".join(line + b"\n" for line in lines), capture_output=True,
        env=hub.environment() | env, cwd=hub.data.parent, timeout=DEADLINE, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert b"Traceback" not in run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


# -- who it is -------------------------------------------------------------------------------------------


async def test_it_is_an_agent_by_the_name_and_the_same_next_time(hub: HubProcess, errors: TextIO) -> None:
    async with tools(hub, errors, "--name", "builder") as session:
        assert await own_name(session) == "builder"
    first = id_of(hub, "builder")
    async with tools(hub, errors, "--name", "builder") as session:
        assert await own_name(session) == "builder"
    assert id_of(hub, "builder") == first
    with Client(data=hub.data) as operator:
        (agent,) = operator.agents().agents
    assert (agent.kind, agent.project) == ("external", str(hub.data.parent))


async def test_a_second_session_gets_a_number_and_both_can_talk(hub: HubProcess, errors: TextIO) -> None:
    async with tools(hub, errors, "--name", "alice") as one, tools(hub, errors, "--name", "alice") as two:
        assert (await own_name(one), await own_name(two)) == ("alice", "alice-2")
        await called(one, "send_to_agent", target="alice-2", message="hi")
        told = (await called(two, "inbox")).structured_content
    assert told is not None
    assert [message["text"] for message in told["messages"]] == ['[From agent "alice"]:\nhi']
    async with tools(hub, errors, "--name", "alice") as again:
        assert await own_name(again) == "alice"


async def test_without_a_name_it_is_the_directorys(hub: HubProcess, errors: TextIO, tmp_path: Path) -> None:
    project = tmp_path / "My Parser"
    project.mkdir()
    async with tools(hub, errors, cwd=project) as session:
        assert await own_name(session) == "My-Parser"
    async with tools(hub, errors, cwd=project, ROOKERY_AGENT="tester") as session:
        assert await own_name(session) == "tester"


async def test_with_a_token_it_is_that_agent_and_nothing_is_written(hub: HubProcess, errors: TextIO) -> None:
    with Client(data=hub.data) as operator:
        agent = operator.register(name="known")
    assert agent.token
    async with tools(hub, errors, "--name", "other", ROOKERY_TOKEN=agent.token) as session:
        assert await own_name(session) == "known"
    file = hub.data.parent / "known.token"
    file.write_text(agent.token)
    async with tools(hub, errors, "--token-file", str(file)) as session:
        assert await own_name(session) == "known"
    assert not (hub.data / "seats").exists()


async def test_the_token_is_for_its_owners_eyes_only(hub: HubProcess, errors: TextIO) -> None:
    async with tools(hub, errors, "--name", "builder") as session:
        assert await own_name(session) == "builder"
        file = hub.data / "seats" / "builder.token"
        token = file.read_text().strip()
        assert token.startswith("rook_ag_")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        (program,) = [
            child for child in psutil.Process().children(recursive=True) if "mcp" in child.cmdline()[-3:]
        ]
        assert token not in " ".join(program.cmdline())
        assert token not in program.environ().values()
    errors.seek(0)
    assert errors.read() == "rook mcp: this is builder\n"
    answers = json.dumps(spoken(hub, json.dumps(LIST_AGENTS).encode(), words=("--name", "builder")))
    assert "builder" in answers
    assert "rook_ag_" not in answers


async def test_a_name_of_somebody_else_gets_a_number(hub: HubProcess, errors: TextIO) -> None:
    with Client(data=hub.data) as operator:
        operator.register(name="builder")
    async with tools(hub, errors, "--name", "builder") as session:
        assert await own_name(session) == "builder-2"


async def test_an_agent_that_was_deleted_is_made_anew(hub: HubProcess, errors: TextIO) -> None:
    async with tools(hub, errors, "--name", "builder") as session:
        first = id_of(hub, "builder")
        with Client(data=hub.data) as operator:
            operator.delete(first)
        told = await asyncio.gather(*(own_name(session) for _ in range(5)))
        assert set(told) == {"builder"}
        assert id_of(hub, "builder") != first
    second = id_of(hub, "builder")
    with Client(data=hub.data) as operator:
        assert len(operator.agents().agents) == 1
        operator.delete(second)
    async with tools(hub, errors, "--name", "builder") as session:
        assert await own_name(session) == "builder"


async def test_a_hub_without_tokens_needs_none(open_hub: HubProcess, errors: TextIO) -> None:
    async with tools(open_hub, errors) as session:
        assert await own_name(session) is None
    assert not (open_hub.data / "seats").exists()


# -- a hub that comes and goes ---------------------------------------------------------------------------


async def test_a_restart_of_the_hub_is_not_noticed(hub: HubProcess, errors: TextIO) -> None:
    async with tools(hub, errors, "--name", "builder") as session:
        assert await own_name(session) == "builder"
        await asyncio.to_thread(hub.restart)
        assert await own_name(session) == "builder"
        await asyncio.to_thread(hub.stop)
        waiting = asyncio.create_task(own_name(session))
        hub.port = 0  # it may come back elsewhere
        await asyncio.to_thread(hub.start)
        assert await waiting == "builder"


async def test_calls_while_the_hub_restarts_are_all_answered(hub: HubProcess, errors: TextIO) -> None:
    """Whichever moment a call meets: it is done, or it says what happened."""
    async with tools(hub, errors, "--name", "builder") as session:
        restart = asyncio.create_task(asyncio.to_thread(hub.restart, crash=True))
        told: list[CallToolResult] = []
        while not restart.done():
            told += await asyncio.gather(*(called(session, "list_agents") for _ in range(5)))
        await restart
        told.append(await called(session, "list_agents"))
    assert not told[-1].is_error
    for each in told:
        assert words_of(each).startswith('{"agents":' if not each.is_error else "The hub ")


# -- a hub that is away, inside the process: there its patience can be shortened ---------------------------


@pytest.fixture
def out(tmp_path: Path) -> Iterator[BinaryIO]:
    with (tmp_path / "out").open("w+b") as file:
        yield file


async def answers_of(directions: Directions, out: BinaryIO, *lines: bytes) -> list[dict[str, Any]]:
    reader = asyncio.StreamReader()
    reader.feed_data(b"".join(line + b"\n" for line in lines))
    reader.feed_eof()
    async with asyncio.timeout(DEADLINE):
        await pipe.Pipe(directions, lambda _: "rook_ag_token", out).run(reader)
    out.seek(0)
    return [json.loads(line) for line in out.read().splitlines()]


async def test_a_hub_that_is_away_is_a_result_that_says_so(out: BinaryIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "_HUB_AWAY", 0.0)
    (answer,) = await answers_of(Directions("http://127.0.0.1:9"), out, json.dumps(LIST_AGENTS).encode())
    assert (answer["id"], answer["result"]["isError"]) == (7, True)
    assert "`rook up`" in answer["result"]["content"][0]["text"]


async def test_a_hub_that_is_away_is_the_protocols_error_where_no_model_asked(
    out: BinaryIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipe, "_HUB_AWAY", 0.0)
    lines = [b'{"jsonrpc":"2.0","id":"a","method":"tools/list"}', b'{"jsonrpc":"2.0","method":"notifications/x"}']
    (answer,) = await answers_of(Directions("http://127.0.0.1:9"), out, *lines)
    assert (answer["id"], answer["error"]["code"]) == ("a", -32000)


async def test_a_call_that_breaks_off_in_the_middle_is_not_said_twice(out: BinaryIO) -> None:
    heard: list[bytes] = []

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        (answer,) = await answers_of(Directions(url), out, json.dumps(LIST_AGENTS).encode())
    assert answer["result"]["isError"] is True
    assert answer["result"]["content"][0]["text"].startswith("The hub went away in the middle: ")
    assert len(heard) == 1


async def test_a_token_goes_to_no_other_hub_while_its_own_is_down(
    out: BinaryIO, hub: HubProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a trace of a hub the usual address is a guess; here another one listens there."""
    monkeypatch.setattr(pipe, "_HUB_AWAY", 0.0)
    heard: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        monkeypatch.setattr("rookery.client.address.DEFAULT_URL", f"http://127.0.0.1:{port}")
        served = pipe.Pipe(Directions(data=hub.data), lambda _: "rook_ag_token", out)
        await asyncio.to_thread(hub.stop)
        reader = asyncio.StreamReader()
        reader.feed_data(json.dumps(LIST_AGENTS).encode() + b"\n")
        reader.feed_eof()
        async with asyncio.timeout(DEADLINE):
            await served.run(reader)
    out.seek(0)
    assert b"`rook up`" in out.read()
    assert heard == []


async def test_an_agent_is_there_as_long_as_its_program_is(out: BinaryIO, hub_factory: HubFactory) -> None:
    """Also when it thinks for long and calls no tool."""
    hub = hub_factory(env={"ROOKERY_SILENT_AFTER": "0.5", "ROOKERY_SWEEP_EVERY": "0.05"})
    with Client(data=hub.data) as operator:
        thinker, silent = operator.register(name="thinker"), operator.register(name="silent")
        own = pipe.Pipe(Directions(data=hub.data), lambda _: thinker.token, out, sign_every=0.1)
        lines = asyncio.StreamReader()
        serving = asyncio.create_task(own.run(lines))
        async with asyncio.timeout(DEADLINE):
            await asyncio.to_thread(goes_offline, operator, silent.id)
            assert operator.agent("thinker").agent.online
            lines.feed_eof()
            await serving
            await asyncio.to_thread(goes_offline, operator, thinker.id)


def goes_offline(operator: Client, agent_id: str | None) -> None:
    with operator.listen(after=0) as stream:
        next(event for event in stream if event.get("status") == "offline" and event["agent_id"] == agent_id)


# -- its beginning and its end ---------------------------------------------------------------------------


def test_the_end_of_input_ends_it_and_what_was_asked_is_answered(shared_hub: HubProcess) -> None:
    (answer,) = spoken(shared_hub, json.dumps(LIST_AGENTS).encode())
    assert answer["id"] == 7
    assert spoken(shared_hub) == []
    assert spoken(shared_hub, b"", b"  ") == []


def test_input_may_be_a_file_or_nothing(shared_hub: HubProcess, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    asked.write_text(json.dumps(LIST_AGENTS))  # without an end of line
    for source, count in ((asked, 1), (Path(os.devnull), 0)):
        with source.open("rb") as given:
            run = subprocess.run(
                [ROOK, "mcp"], stdin=given, capture_output=True, env=shared_hub.environment(), cwd=tmp_path,
                timeout=DEADLINE, check=False,
            )  # fmt: skip
        assert (run.returncode, len(run.stdout.splitlines())) == (0, count), run.stderr


def test_a_broken_line_is_the_protocols_error_and_the_next_one_is_answered(shared_hub: HubProcess) -> None:
    twice = b'{"jsonrpc":"2.0","id":3,"id":4,"method":"tools/list"}'
    told = spoken(shared_hub, b"{broken", b"\xff\xfe", twice, json.dumps(LIST_AGENTS).encode())
    assert len(told) == 4
    errors = [(each["id"], each["error"]["code"]) for each in told if "error" in each]
    assert sorted(errors, key=str) == [(4, -32000), (None, -32700), (None, -32700)]
    assert [each["id"] for each in told if "result" in each] == [7]


def test_a_notification_gets_no_answer(shared_hub: HubProcess) -> None:
    assert spoken(shared_hub, b'{"jsonrpc":"2.0","method":"notifications/initialized"}') == []


def test_without_any_hub_it_says_how_to_start_one(lonely: Rook) -> None:
    for env in ({}, {"ROOKERY_TOKEN": "rook_ag_token"}):
        done = lonely.tried("mcp", ROOKERY_URL="http://127.0.0.1:9", **env)
        assert (done.code, done.out) == (8, "")
        assert "`rook up`" in done.err
        assert len(done.err.splitlines()) == 1


def test_a_token_that_is_not_valid_is_said_at_once(rook: Rook) -> None:
    done = rook.tried("mcp", ROOKERY_TOKEN="rook_ag_wrong")
    assert (done.code, done.out) == (5, "")


def test_a_name_that_no_agent_may_have_is_refused(rook: Rook) -> None:
    done = rook.tried("mcp", "--name", "operator")
    assert (done.code, done.out) == (2, "")
    assert "reserved" in done.err
