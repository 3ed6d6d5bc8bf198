"""`rook ask`, `rook delegate`, `rook notify`, `rook sleep` and `rook wake`."""

import itertools
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rookery import Client
from tests.client.answering import answering
from tests.support.hub_process import HubProcess
from tests.support.rook import ROOK, Rook
from tests.support.terminal import Terminal

DEADLINE = 20.0
_numbers = itertools.count(1)


@pytest.fixture
def operator(shared_hub: HubProcess) -> Iterator[Client]:
    with Client(data=shared_hub.data) as client:
        yield client


@pytest.fixture
def agent(operator: Client) -> Client:
    return operator.register(name=f"worker{next(_numbers)}-{os.getpid()}")


def wait_until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=DEADLINE)
    return process.returncode, out, err


# -- asking ----------------------------------------------------------------------------------------------


def test_the_answer_alone_is_printed(rook: Rook, shared_hub: HubProcess, agent: Client) -> None:
    with answering(shared_hub.data, agent.token, lambda _: "42\nand one\x1b[31m \u202emore") as questions:
        done = rook("ask", agent.name, "how many?", "--context", "tests that fail")
        assert (done.out, done.err) == ("42\nand one[31m <U+202E>more\n", "")
    assert "Context: tests that fail\n\nhow many?" in questions[0]


def test_a_question_comes_through_a_pipe_and_the_answer_as_json(
    rook: Rook, shared_hub: HubProcess, agent: Client
) -> None:
    with answering(shared_hub.data, agent.token, lambda question: question[-5:]):
        told = rook("ask", agent.name, "--json", text="line\nmany?\n").json
    assert (told["ok"], told["status"], told["answer"]["content"]) == (True, "answered", "many?")
    assert told["answer"]["reply_to"] == told["message_id"]


def test_the_operator_asks_for_an_agent(
    rook: Rook, shared_hub: HubProcess, operator: Client, agent: Client
) -> None:
    asker = operator.register()
    with answering(shared_hub.data, agent.token, lambda question: question.splitlines()[0]):
        assert f"Request from {asker.name} |" in rook("ask", agent.name, "who?", "--as", asker.name).out


def test_no_answer_in_time_is_exit_6_and_says_what_to_do(rook: Rook, agent: Client) -> None:
    done = rook.tried("ask", agent.name, "anybody?", "--timeout", "1s")
    assert (done.code, done.out) == (6, "")
    assert f"{agent.name} did not respond within 1 second" in done.err
    assert "delegate" in done.err
    done = rook.tried("ask", agent.name, "anybody?", "--timeout", "1s", "--json")
    assert json.loads(done.err)["error"]["code"] == "ask_timed_out"


def test_each_kind_of_refusal_has_its_exit_code(rook: Rook, operator: Client, agent: Client) -> None:
    for verb in ("ask", "delegate", "notify"):
        done = rook.tried(verb, "nobody-at-all", "hello?")
        assert (done.code, done.out) == (3, "")
        assert agent.name in done.err
    other = operator.register()
    operator.forbid(other.id, agent.id)
    assert rook.tried("notify", agent.name, "psst", ROOKERY_TOKEN=str(other.token)).code == 5
    operator.update(agent.id, status="offline")
    done = rook.tried("ask", agent.name, "there?")
    assert (done.code, "notify" in done.err) == (6, True)
    assert rook.tried("ask", agent.name, "x", "--timeout", "0").code == 2
    assert rook.tried("sleep", agent.name, "soon").code == 2


def test_a_question_that_an_agent_may_not_ask_unasked_waits_for_the_operator(
    rook: Rook, shared_hub: HubProcess, operator: Client, agent: Client
) -> None:
    asker = operator.register(mode="strict")
    for decision, code in (("approve", 0), ("deny", 4)):
        with answering(shared_hub.data, agent.token, lambda _: "42"):
            asking = rook.started("ask", agent.name, f"how many, {decision}?", ROOKERY_TOKEN=str(asker.token))
            wait_until(lambda: asker.approvals().count)
            rook(decision, asker.approvals().approvals[0].approval_id)
            returned, out, _ = ended(asking)
        assert (returned, out) == (code, "42\n" if code == 0 else "")


def test_ctrl_c_leaves_quietly_and_the_question_is_given_up(hub_factory: Callable[..., HubProcess]) -> None:
    hub = hub_factory(env={"ROOKERY_ASK_GRACE": "0.2"})
    with Client(data=hub.data) as operator:
        agent = operator.register(name="builder")
        asking = Rook(hub.environment(), hub.data).started("ask", "builder", "still there?")
        wait_until(agent.unread)
        asking.send_signal(signal.SIGINT)
        assert ended(asking) == (130, "", "")

        def endings() -> list[str]:
            return [each["status"] for each in operator.events(limit=1000).events if each["type"] == "ask_ended"]

        wait_until(lambda: endings() == ["abandoned"])


@pytest.mark.parametrize("crash", [False, True], ids=["clean restart", "kill -9"])
def test_a_restart_of_the_hub_is_waited_out_and_the_question_asked_once(hub: HubProcess, crash: bool) -> None:
    with Client(data=hub.data) as operator:
        agent = operator.register(name="builder")
        asking = Rook(hub.environment(), hub.data).started("ask", "builder", "how many?")
        wait_until(agent.unread)
        hub.restart(crash=crash)
        (question,) = agent.inbox().messages
        agent.reply(question, "42")
        assert ended(asking) == (0, "42\n", "")
        assert agent.inbox(unread_only=False).count == 1


# -- handing over, and letting know ----------------------------------------------------------------------


def test_work_is_handed_over_and_has_a_number(rook: Rook, operator: Client, agent: Client) -> None:
    said = rook("delegate", agent.name, "make it so", "--priority", "high", "--context", "soon").out
    task, _, rest = said.partition("  ")
    assert rest == f"handed over to {agent.name}\n"
    found = operator.task(task).task
    assert (found.request, found.context, found.priority, found.assignee) == (
        "make it so",
        "soon",
        "high",
        agent.id,
    )
    told = rook("delegate", agent.name, "-", "--json", text="and this\n").json
    assert (told["status"], told["task"]["request"]) == ("delegated", "and this")


def test_work_of_an_agent_is_part_of_what_it_works_on(rook: Rook, operator: Client, agent: Client) -> None:
    other = operator.register()
    whole = rook("delegate", agent.name, "the whole", "--json").json["task"]["task_id"]
    agent.claim()
    part = rook("delegate", other.name, "a part", "--as", agent.name, "--json").json["task"]
    assert (part["parent"], part["requester"]) == (whole, agent.id)


def test_word_is_left(rook: Rook, agent: Client) -> None:
    said = rook("notify", agent.name, "main is frozen", "--context", "audit").out
    message, _, rest = said.partition("  ")
    assert rest == f"left for {agent.name}\n"
    (left,) = agent.inbox().messages
    assert (left.message_id, left.pattern) == (message, "notify")
    assert rook("notify", agent.name, "again", "--json").json["status"] == "notified"


def test_what_an_agent_may_not_do_unasked_says_what_it_waits_for(
    rook: Rook, operator: Client, agent: Client
) -> None:
    strict = operator.register(mode="strict")
    for verb in ("notify", "delegate", "send"):
        said = rook(verb, agent.name, "psst", ROOKERY_TOKEN=str(strict.token)).out
        assert said.rstrip().endswith(
            f"waits for the operator: approval {strict.approvals().approvals[-1].approval_id}"
        )


def test_one_that_sleeps_gets_its_work_when_it_wakes(rook: Rook, agent: Client) -> None:
    assert rook("sleep", agent.name, "2h").out.startswith(f"{agent.name} sleeps until ")
    assert "sleeping until " in next(line for line in rook("agents").out.splitlines() if agent.name in line)
    assert f"{agent.name} sleeps until " in rook("delegate", agent.name, "later").out
    assert agent.unread() == 0
    assert rook("wake", agent.name).out == f"{agent.name} is idle.\n"
    assert agent.unread() == 1
    assert rook("sleep", agent.name, "30m", "--json").json["agent"]["status"] == "sleeping"
    assert rook("wake", agent.name, "--json").json["agent"]["sleeping_until"] is None
    assert rook.tried("sleep", "nobody-at-all", "1h").code == 3


# -- on a terminal ---------------------------------------------------------------------------------------


@pytest.fixture
def terminal(shared_hub: HubProcess, tmp_path: Path) -> Iterator[Terminal]:
    env = {name: shared_hub.environment()[name] for name in ("PATH", "HOME", "ROOKERY_DATA")}
    with Terminal(tmp_path / "tmux", env=env) as terminal:
        terminal.type(f"alias rook={ROOK}")
        terminal.wait_for("$")
        yield terminal


def test_a_person_sees_how_long_it_takes_and_the_answer_behind_the_gutter(
    terminal: Terminal, operator: Client, agent: Client
) -> None:
    terminal.start(f"rook ask {agent.name} 'how many?'")
    terminal.wait_for(f"Waiting for {agent.name} ... 2 s")
    agent.reply(agent.inbox().messages[0], "42\nrook: all is well")
    lines = [line.rstrip() for line in terminal.ended(0).splitlines()]
    assert not any("Waiting" in line for line in lines)
    assert lines[0].startswith(f"{agent.name}  ")
    assert lines[1:3] == ["│ 42", "│ rook: all is well"]


def test_a_person_leaves_with_ctrl_c(terminal: Terminal, agent: Client) -> None:
    terminal.start(f"rook ask {agent.name} 'how many?'")
    terminal.wait_for("Waiting for")
    terminal.press("C-c")
    screen = terminal.ended(130)
    assert "Traceback" not in screen
    assert "rook:" not in screen
