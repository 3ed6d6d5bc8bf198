"""The real Claude Code and the real Codex, connected by `rook connect`, with a model that follows a script.

All of it is on loopback: the hub, the model, and a proxy that lets nobody out.
"""

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rookery import Client
from tests.support.agent_programs import INSTALLED_WITHIN, AgentPrograms, agent_programs, ended
from tests.support.hub_process import HubProcess
from tests.support.model_server import Call, Line, ModelServer, Say
from tests.support.rook import ROOK, Done, Rook

pytestmark = pytest.mark.timeout(INSTALLED_WITHIN + 120)

LIST = Call("mcp__rookery__list_agents")
READ = Call("mcp__rookery__inbox")

PERMITTED = {"claude": ("--allowedTools", "mcp__rookery"), "codex": ()}
"""Codex is told by our entry not to ask; in Claude Code that is for its person to say."""

CLAUDE = {"hasCompletedOnboarding": True, "theme": "light"}
CODEX = """\
# mine
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
mcp_optional_startup_grace_ms = 0  # on a busy machine a server takes longer than the second that it gets

[model_providers.scripted]
name = "a model that follows a script"
base_url = "http://127.0.0.1:9/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[features]
plugins = false
apps = false
daemon_auto_start = false

[projects."{project}"]
trust_level = "trusted"
"""


@pytest.fixture(scope="module")
def programs() -> AgentPrograms:
    return agent_programs()


@pytest.fixture
def person(programs: AgentPrograms, tmp_path: Path) -> "Person":
    return Person(programs, tmp_path)


@pytest.fixture
def hub(person: "Person") -> Iterator[HubProcess]:
    """Where everybody's is: nothing but the home directory tells the programs of it."""
    with HubProcess(person.home / ".local" / "share" / "rookery") as hub:
        yield hub


class Person:
    """Who has both programs, a project and a running hub, and nothing else that could be found by chance."""

    def __init__(self, programs: AgentPrograms, directory: Path) -> None:
        self.programs = programs
        self.home = directory / "home"
        self.project = directory / "parser"
        self.claude_settings = self.home / ".claude.json"
        self.codex_settings = self.home / ".codex" / "config.toml"
        self.env = {
            "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "dumb",
            "PATH": os.pathsep.join([str(Path(ROOK).parent), os.defpath]),
        }  # fmt: skip
        self.rook = Rook(self.env, self.project)
        self.project.mkdir(parents=True)
        self.codex_settings.parent.mkdir(parents=True)
        self.codex_settings.write_text(CODEX.format(project=self.project))
        self.claude_settings.write_text(json.dumps(CLAUDE))

    def asks(self, program: str, lines: Sequence[Line], *words: str) -> ModelServer:
        """One turn, without a terminal, in which the model says these lines; the last one is the answer."""
        with ModelServer(lines) as model:
            run = self._claude(model, words) if program == "claude" else self._codex(model, words)
        requests = [(asked.method, asked.path) for asked in model.asked]
        assert run.code == 0, (run, requests)
        assert isinstance(lines[-1], Say)
        assert run.out.strip() == lines[-1].text, (run, requests)
        return model

    def _claude(self, model: ModelServer, words: Sequence[str]) -> Done:
        env = {
            "ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": model.url, "CLAUDE_CODE_MAX_RETRIES": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_TMPDIR": str(self.home),
            "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_TELEMETRY": "1",
            "MCP_CONNECTION_NONBLOCKING": "0", "MCP_CONNECT_TIMEOUT_MS": "30000",  # patience, as with Codex
        }  # fmt: skip
        return self._ended(model, [self.programs.claude, "-p", "Go on.", *words], env)

    def _codex(self, model: ModelServer, words: Sequence[str]) -> Done:
        where = f'model_providers.scripted.base_url="{model.url}/v1"'
        command = [self.programs.codex, "exec", "-c", where, "--skip-git-repo-check", "Go on.", *words]
        return self._ended(model, command, {"OPENAI_API_KEY": "none"})

    def _ended(self, model: ModelServer, command: list[str | Path], env: dict[str, str]) -> Done:
        out = {"HTTP_PROXY": model.url, "HTTPS_PROXY": model.url, "NO_PROXY": "127.0.0.1,localhost"}
        return ended(command, env=self.env | env | out, cwd=self.project)


def write(target: str, message: str) -> Call:
    return Call("mcp__rookery__send_to_agent", {"target": target, "message": message})


def told(result: str) -> Any:
    """Of our tool. A program may put words of its own before it."""
    return json.JSONDecoder().raw_decode(result, result.index("{"))[0]


def offered(model: ModelServer) -> bool:
    """Whether the model heard of our tools at all."""
    assert model.asked
    return any("mcp__rookery" in json.dumps(asked.body) for asked in model.asked)


@pytest.mark.parametrize("words", [(), ("--project",)], ids=["user", "project"])
@pytest.mark.parametrize(("program", "kind"), [("claude", "claude-code"), ("codex", "codex")])
def test_a_connected_program_lists_the_agents_and_its_message_arrives(
    person: Person, hub: HubProcess, program: str, kind: str, words: tuple[str, ...]
) -> None:
    with Client(data=hub.data) as operator:
        tester = operator.register(name="tester")
        person.rook("connect", program, "--yes", *words)

        lines = [LIST, write("tester", "The parser is green."), Say("Told.")]
        model = person.asks(program, lines, *PERMITTED[program])

        listed, sent = map(told, model.results)
        assert listed["self"] == "parser"
        assert {agent["name"]: agent["project"] for agent in listed["agents"]} == {
            "tester": None, "parser": str(person.project),
        }  # fmt: skip
        assert sent == {"delivered": True, "target": "tester"}
        (message,) = tester.inbox().messages
        assert message.content == "The parser is green."
        sender = next(agent for agent in operator.agents().agents if agent.agent_id == message.from_agent_id)
        assert (sender.name, sender.kind) == ("parser", kind)


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_undoing_gives_a_program_its_own_settings_back_and_takes_the_tools_away(
    person: Person, hub: HubProcess, program: str
) -> None:
    person.rook("connect", program, "--yes")
    assert offered(person.asks(program, [Say("They are here.")]))
    person.rook("connect", program, "--undo", "--yes")
    if program == "codex":
        assert person.codex_settings.read_text() == CODEX.format(project=person.project)
    else:  # Claude Code keeps its own accounts in the same file
        after = json.loads(person.claude_settings.read_text())
        assert after | CLAUDE == after
        assert "mcpServers" not in after
    assert not offered(person.asks(program, [Say("They are gone.")]))


def test_connecting_permits_claude_code_nothing_that_its_person_did_not(person: Person, hub: HubProcess) -> None:
    with Client(data=hub.data) as operator:
        tester = operator.register(name="tester")
        person.rook("connect", "claude", "--yes")
        model = person.asks("claude", [write("tester", "hi"), Say("I may not.")])
        assert "mcp__rookery__send_to_agent" in model.results[0]  # the refusal, in the program's words
        assert tester.inbox().count == 0


def test_claude_code_and_codex_write_to_one_another(person: Person, hub: HubProcess) -> None:
    person.rook("connect", "claude", "--name", "writer", "--yes")
    person.rook("connect", "codex", "--name", "reviewer", "--yes")
    permitted = PERMITTED["claude"]

    person.asks("codex", [LIST, Say("Here I am.")])
    model = person.asks("claude", [write("reviewer", "Please look at the parser."), Say("Asked.")], *permitted)
    assert told(model.results[0]) == {"delivered": True, "target": "reviewer"}

    model = person.asks("codex", [READ, write("writer", "It looks fine."), Say("Answered.")])
    (question,) = told(model.results[0])["messages"]
    assert question["text"] == '[From agent "writer"]:\nPlease look at the parser.'

    model = person.asks("claude", [READ, Say("Fine, then.")], *permitted)
    (answer,) = told(model.results[0])["messages"]
    assert answer["text"] == '[From agent "reviewer"]:\nIt looks fine.'


def test_claude_code_asks_and_uses_the_answer(person: Person, hub: HubProcess) -> None:
    """Its call waits for as long as the other takes, and its model reads the sentence and nothing else."""
    person.rook("connect", "claude", "--yes")
    with Client(data=hub.data) as operator, ThreadPoolExecutor(1) as elsewhere:
        tester = operator.register(name="tester")
        elsewhere.submit(answers_the_first_question, tester, "As grass.")
        ask = {"action": "ask", "agent": "tester", "message": "Is it green?", "context": "I wrote the parser."}
        lines = [Call("mcp__rookery__contact_agent", ask), Say("It is green.")]
        model = person.asks("claude", lines, *PERMITTED["claude"])
    assert model.results == ["Response from tester: As grass."]


def answers_the_first_question(agent: Client, words: str) -> None:
    with agent.listen(after=0) as stream:
        question = next(event for event in stream if event.get("pattern") == "ask")
    agent.reply(str(question["message_id"]), words)


def test_work_is_handed_from_claude_code_to_codex_and_its_result_back(person: Person, hub: HubProcess) -> None:
    person.rook("connect", "claude", "--name", "leader", "--yes")
    person.rook("connect", "codex", "--name", "worker", "--yes")
    person.asks("codex", [LIST, Say("Here I am.")])
    work = {"action": "delegate", "agent": "worker", "message": "Draft the notes.", "priority": "high"}
    model = person.asks(
        "claude", [Call("mcp__rookery__contact_agent", work), Say("Handed over.")], *PERMITTED["claude"]
    )
    assert model.results == [
        "Delegated to worker (subtask task-1). You'll receive the result automatically when worker finishes."
    ]
    done = Call("mcp__rookery__complete_task", {"task_id": "task-1", "result": "Drafted."})
    model = person.asks("codex", [READ, done, Say("Done.")])
    (request,) = told(model.results[0])["messages"]
    assert request["text"] == (
        "[Agent Request from leader | Pattern: delegate | Priority: high | Task: task-1]\n\nDraft the notes."
    )
    model = person.asks("claude", [READ, Say("Thank you.")], *PERMITTED["claude"])
    (result,) = told(model.results[0])["messages"]
    assert result["text"] == "[Delegation Result from worker | task-1]\nDrafted."


@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_claude_code_does_what_the_operator_lets_it_do(person: Person, hub: HubProcess, decision: str) -> None:
    person.rook("connect", "claude", "--yes")
    with Client(data=hub.data) as operator, ThreadPoolExecutor(1) as elsewhere:
        asked = elsewhere.submit(decided, operator, decision)
        touch = Call("Bash", {"command": "touch made.txt", "description": "Make a file"})
        model = person.asks(
            "claude", [touch, Say("So be it.")],
            "--permission-prompt-tool", "mcp__rookery__permission_prompt",
        )  # fmt: skip
        approval = asked.result(30)
    assert (approval["tool"], approval["kind"]) == ("Bash", "tool")
    assert json.loads(approval["arguments"]["input"])["command"] == "touch made.txt"
    assert (person.project / "made.txt").exists() == (decision == "approve")
    if decision == "deny":
        assert "not on this machine" in model.results[0]


def decided(operator: Client, decision: str) -> Any:
    with operator.listen(after=0) as stream:
        asked = next(event for event in stream if event["type"] == "approval_requested")
    shown = operator.approval(str(asked["approval_id"])).approval
    operator.answer(shown, decision, note="not on this machine")  # pyright: ignore[reportArgumentType]
    return asked
