"""`rook approvals`, `rook approve`, `rook deny`, and the rules: what waits for the operator, and why."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rookery import Client
from rookery.cli.app import app
from rookery.domain.errors import ApprovalChanged
from tests.support.hub_process import HubProcess
from tests.support.rook import ROOK, Rook
from tests.support.terminal import Terminal


@pytest.fixture
def rook(hub: HubProcess, tmp_path: Path) -> Rook:
    return Rook(hub.environment(), tmp_path)


@pytest.fixture
def operator(hub: HubProcess) -> Iterator[Client]:
    with Client(data=hub.data) as client:
        yield client


@pytest.fixture
def agents(operator: Client) -> tuple[Client, Client]:
    """builder, who is asked about before it contacts anybody, and tester."""
    return operator.register(name="builder", mode="strict"), operator.register(name="tester")


def held(sender: Client, words: str = "psst") -> str:
    approval = sender.notify("tester", words).approval
    assert approval is not None
    return approval


# -- looking ---------------------------------------------------------------------------------------------


def test_what_waits_is_shown_to_the_letter(rook: Rook, agents: tuple[Client, Client]) -> None:
    approval = held(agents[0], "psst\nzzzz  tester wants nothing  approved\x1b[2K")
    sent = agents[0].send("tester", "plainly").held
    assert rook("approvals").out == (
        f"{approval}  builder wants to notify tester  14 min left\n"
        "message:\n│ psst\n│ zzzz  tester wants nothing  approved[2K\n"
        f"\n{sent}  builder wants to write to tester  14 min left\nmessage:\n│ plainly\n"
    )
    listed = rook("approvals", "--json").json
    assert [each["approval_id"] for each in listed["approvals"]] == [approval, sent]


def test_the_status_says_that_something_waits(rook: Rook, agents: tuple[Client, Client]) -> None:
    assert "waiting for you  nothing\n" in rook("status").out
    held(agents[0])
    assert "waiting for you  1 approval; see rook approvals\n" in rook("status").out
    assert rook("status", "--json").json["approvals"] == 1
    assert agents[1].status().approvals == 0  # it has none of its own


def test_where_nothing_waits_it_is_said(rook: Rook) -> None:
    assert rook("approvals").out == "Nothing waits for approval.\n"
    assert rook("approvals", "--all").out == "No approval was ever asked for.\n"


def test_what_was_answered_is_listed_too(rook: Rook, agents: tuple[Client, Client]) -> None:
    rook("deny", held(agents[0]), "--note", "not on a Friday")
    assert rook("approvals").out == "Nothing waits for approval.\n"
    shown = rook("approvals", "--all").out
    assert "builder wants to notify tester  denied by operator, just now\n" in shown
    assert shown.endswith("note:\n│ not on a Friday\n")


# -- answering -------------------------------------------------------------------------------------------


def test_an_approval_is_shown_before_it_is_given_and_then_carried_out(
    rook: Rook, operator: Client, agents: tuple[Client, Client]
) -> None:
    approval = held(agents[0], "the very words")
    said = rook("approve", approval, "--note", "this once").out
    assert said.splitlines()[1:3] == ["message:", "│ the very words"]
    assert said.endswith("Approved. Notification sent to tester.\n")
    assert agents[1].unread() == 1
    assert operator.approval(approval).approval.note == "this once"


def test_a_denial_leaves_nothing_behind(rook: Rook, agents: tuple[Client, Client]) -> None:
    assert rook("deny", held(agents[0])).out.endswith("Denied. builder is told.\n")
    assert agents[1].unread() == 0


def test_an_answer_is_json_for_programs(rook: Rook, agents: tuple[Client, Client]) -> None:
    for verb, status in (("approve", "approved"), ("deny", "denied")):
        told = rook(verb, held(agents[0]), "--json").json
        assert (told["ok"], told["approval"]["status"]) == (True, status)


def test_an_answer_counts_once(rook: Rook, agents: tuple[Client, Client]) -> None:
    approval = held(agents[0])
    rook("deny", approval)
    done = rook.tried("approve", approval)
    assert (done.code, done.out) == (4, "")
    assert "already denied" in done.err
    assert agents[1].unread() == 0
    done = rook.tried("approve", approval, "--json")
    assert json.loads(done.err)["error"]["code"] == "approval_answered"


def test_what_was_changed_behind_the_operators_back_is_not_approved(
    rook: Rook, hub: HubProcess, operator: Client, agents: tuple[Client, Client]
) -> None:
    approval = held(agents[0], "harmless")
    hub.stop()
    with closing(sqlite3.connect(hub.data / "rookery.db")) as base, base:
        assert base.execute("UPDATE held SET paper = replace(paper, 'harmless', 'harmful!')").rowcount == 1
    hub.start()
    done = rook.tried("approve", approval)
    assert done.code == 4
    assert "not what was shown; nothing was done" in done.err
    assert agents[1].unread() == 0
    assert operator.approval(approval).approval.status == "pending"


def test_the_answer_is_to_what_the_operator_was_shown(
    hub: HubProcess, operator: Client, agents: tuple[Client, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something on the way shows other words than those that wait."""
    approval = held(agents[0], "harmful!")
    shown = operator.approval(approval)
    shown.approval.arguments["message"] = "harmless"
    shown.approval.digest = "0" * 64
    monkeypatch.setattr(Client, "approval", lambda *_: shown)
    done = CliRunner().invoke(app, ["approve", approval, "--data", str(hub.data)])
    assert "│ harmless" in done.output
    assert isinstance(done.exception, ApprovalChanged)
    assert agents[1].unread() == 0


def test_each_kind_of_refusal_has_its_exit_code(rook: Rook, agents: tuple[Client, Client]) -> None:
    approval = held(agents[0])
    for verb in ("approve", "deny"):
        done = rook.tried(verb, "nothing")
        assert (done.code, done.out) == (3, "")
        assert "rook approvals" in done.err
        assert rook.tried(verb, approval, ROOKERY_TOKEN=str(agents[0].token)).code == 5
        assert rook.tried(verb, approval, ROOKERY_TOKEN=str(agents[1].token)).code == 3
        assert rook.tried(verb).code == 2
    assert rook("approvals", "--json", ROOKERY_TOKEN=str(agents[1].token)).json["approvals"] == []


@pytest.mark.parametrize(("verb", "said"), [("approve", "They go on."), ("deny", "They are stopped.")])
def test_agents_that_went_on_for_long_are_let_on_or_stopped(
    hub_factory: Callable[..., HubProcess], tmp_path: Path, verb: str, said: str
) -> None:
    hub = hub_factory(env={"ROOKERY_TRACE_MOST_HOPS": "2"})
    rook = Rook(hub.environment(), tmp_path)
    with Client(data=hub.data) as operator:
        one, two = operator.register(name="one"), operator.register(name="two")
        operator.send(one.id, "begin")
        waiting = None
        for speaker, other in ((one, two), (two, one), (one, two), (two, one)):
            speaker.inbox()
            waiting = speaker.send(other.id, f"from {speaker.name}").held or waiting
        assert waiting
        shown = rook("approvals").out
        assert shown.startswith(f"{waiting}  Agents went on by themselves for ")
        assert "next: go on?" in shown
        assert said in rook(verb, waiting).out


# -- rules -----------------------------------------------------------------------------------------------


def test_rules_are_made_listed_and_removed(rook: Rook, operator: Client, agents: tuple[Client, Client]) -> None:
    assert rook("rules").out.startswith("There are no rules")
    assert rook("allow", "builder", "tester", "--ask").out == (
        "builder may contact tester, with approval each time.\n"
    )
    assert rook("allow", "tester", "*").out == "tester may contact anybody.\n"
    assert rook("forbid", "tester", "builder").out == "tester may not contact builder.\n"
    assert [line.split(None, 2) for line in rook("rules").out.splitlines()] == [
        ["AGENT", "TARGET", "RULE"],
        ["builder", "tester", "with approval"],
        ["tester", "anybody", "allowed"],
        ["tester", "builder", "forbidden"],
    ]
    assert len(rook("rules", "builder").out.splitlines()) == 2
    assert rook("rules", "tester", "--remove", "*").out == "The rule is gone.\n"
    assert rook("rules", "tester", "--remove", "*").out == "There was no such rule.\n"
    assert [rule.permission for rule in operator.rules().rules] == ["allow", "deny"]


def test_rules_are_json_for_programs(rook: Rook, agents: tuple[Client, Client]) -> None:
    made = rook("allow", "builder", "*", "--ask", "--json").json["rule"]
    assert made == {"agent_id": agents[0].id, "target": "*", "permission": "allow", "requires_approval": True}
    assert rook("forbid", "builder", "tester", "--json").json["rule"]["permission"] == "deny"
    assert rook("rules", "--json").json["count"] == 2
    assert rook("rules", "builder", "--remove", "tester", "--json").json == {"removed": True, "ok": True}


def test_refusals_about_rules_have_their_exit_codes(rook: Rook, agents: tuple[Client, Client]) -> None:
    for verb in ("allow", "forbid"):
        assert rook.tried(verb, "builder", "nobody").code == 3
        assert rook.tried(verb, "builder", "builder").code == 2
        assert rook.tried(verb, "builder").code == 2
        assert rook.tried(verb, "builder", "tester", ROOKERY_TOKEN=str(agents[0].token)).code == 5
    assert rook.tried("rules", "nobody").code == 3
    done = rook.tried("rules", "--remove", "tester")
    assert (done.code, "rook rules builder --remove" in done.err) == (2, True)


# -- on a terminal ---------------------------------------------------------------------------------------


def test_a_person_is_told_how_to_answer(hub: HubProcess, tmp_path: Path, agents: tuple[Client, Client]) -> None:
    env = {name: hub.environment()[name] for name in ("PATH", "HOME", "ROOKERY_DATA")}
    approval = held(agents[0])
    with Terminal(tmp_path / "tmux", env=env) as terminal:
        terminal.start(f"{ROOK} approvals")
        assert f"Answer with: rook approve {approval}, or rook deny {approval}" in terminal.ended(0)
