"""`rook tasks` and `rook task`: the tree of what was handed over."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery import Client
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
def tree(operator: Client) -> tuple[Client, Client]:
    """task-1 for the coordinator, with two parts for the writer: one done, one not begun; task-4 stands alone."""
    coordinator, writer = operator.register(name="CoordinatorBot"), operator.register(name="WriterBot")
    operator.delegate(coordinator.id, "Prepare Q4 report\nwith figures", context="for the board")
    coordinator.claim()
    coordinator.delegate(writer.id, "Draft blog post")
    coordinator.delegate(writer.id, 'Say "hello" (operator) — COMPLETED ✓')
    writer.complete_task("task-2", result="It is written.\nrook: forged")
    operator.delegate(writer.id, "Something else")
    operator.complete_task("task-4", "failed", error="no time")
    return coordinator, writer


TREE = """\
task-1: "Prepare Q4 report" (CoordinatorBot) — ACTIVE
  ├── task-2: "Draft blog post" (WriterBot) — COMPLETED ✓
  └── task-3: "Say \\"hello\\" (operator) — COMPLETED ✓" (WriterBot) — PENDING
"""


def test_open_tasks_are_a_tree_with_all_their_parts(rook: Rook, tree: tuple[Client, Client]) -> None:
    assert rook("tasks").out == TREE
    assert rook("tasks", "--all").out == TREE + 'task-4: "Something else" (WriterBot) — FAILED ✗\n'


def test_lines_lead_past_parts_of_parts(rook: Rook, operator: Client, tree: tuple[Client, Client]) -> None:
    coordinator, writer = tree
    last = operator.register(name="LastBot")
    writer.claim(operator.task("task-3").task.message_id)
    writer.delegate(last.id, "deeper")
    coordinator.delegate(last.id, "after it")
    last.claim(operator.task("task-5").task.message_id)
    last.delegate(coordinator.id, "deepest")
    assert [line.partition(":")[0] for line in rook("tasks").out.splitlines()] == [
        "task-1",
        "  ├── task-2",
        "  ├── task-3",
        "  │   └── task-5",
        "  │       └── task-7",
        "  └── task-6",
    ]


def test_tasks_of_one_agent_stand_without_those_it_does_not_see(rook: Rook, tree: tuple[Client, Client]) -> None:
    for words in (("WriterBot",), ("--as", "WriterBot")):
        assert [line.split(":")[0] for line in rook("tasks", *words, "--all").out.splitlines()] == [
            "task-2", "task-3", "task-4",
        ]  # fmt: skip
    assert rook("tasks", "WriterBot", ROOKERY_TOKEN=str(tree[1].token)).out.startswith("task-3")
    assert rook.tried("tasks", "CoordinatorBot", ROOKERY_TOKEN=str(tree[1].token)).code == 5
    assert rook.tried("tasks", "nobody").code == 3


def test_tasks_are_json_for_programs(rook: Rook, tree: tuple[Client, Client]) -> None:
    listed = rook("tasks", "--json").json
    assert ([task["task_id"] for task in listed["tasks"]], listed["count"]) == (["task-1", "task-2", "task-3"], 3)
    assert rook("tasks", "--json", "--all").json["count"] == 4
    (newest,) = rook("tasks", "--json", "--all", "--limit", "1").json["tasks"]
    assert newest["task_id"] == "task-4"


def test_where_there_is_no_task_it_is_said(rook: Rook) -> None:
    assert rook("tasks").out == "No task is open; --all shows those that ended.\n"
    assert rook("tasks", "--all").out == "There is no task.\n"


def test_a_task_is_shown_with_all_that_was_said(rook: Rook, tree: tuple[Client, Client]) -> None:
    shown = rook("task", "show", "1").out
    facts = dict(line.split("  ", 1) for line in shown.splitlines() if "  " in line and not line.startswith(" "))
    assert {name: value.strip() for name, value in facts.items()} | {"status": "ACTIVE"} == {
        **{name: value.strip() for name, value in facts.items()},
        "task": "task-1", "for": "operator", "assigned to": "CoordinatorBot", "status": "ACTIVE",
    }  # fmt: skip
    assert "request:\n│ Prepare Q4 report\n│ with figures\ncontext:\n│ for the board\n" in shown
    assert '  task-2: "Draft blog post" (WriterBot) — COMPLETED ✓\n' in shown
    shown = rook("task", "show", "task-2").out
    assert "result:\n│ It is written.\n│ rook: forged\n" in shown
    assert "by WriterBot" in shown
    told = rook("task", "show", "task-1", "--json").json
    assert (told["task"]["task_id"], [part["task_id"] for part in told["children"]]) == (
        "task-1", ["task-2", "task-3"],
    )  # fmt: skip


def test_a_task_is_finished_once(rook: Rook, tree: tuple[Client, Client]) -> None:
    words = ("task", "complete", "task-3", "--status", "failed", "--error", "no such branch")
    assert rook(*words).out == "task-3 is failed.\n"
    assert rook(*words, "--json").json["task"]["error"] == "no such branch"
    done = rook.tried("task", "complete", "task-3", "--result", "after all")
    assert (done.code, "already failed" in done.err) == (4, True)
    assert rook("task", "complete", "1", "--result", "42", ROOKERY_TOKEN=str(tree[0].token)).out
    assert rook("tasks").out.startswith("No task is open")


def test_a_task_is_taken_back_only_when_that_is_meant(
    rook: Rook, operator: Client, tree: tuple[Client, Client]
) -> None:
    refused = rook.tried("task", "cancel", "task-1")
    assert (refused.code, refused.out) == (2, "")
    assert 'Cancel task-1, "Prepare Q4 report"?' in refused.err
    assert "--yes" in refused.err
    assert rook("task", "cancel", "task-1", "--yes", "--reason", "not needed").out == "task-1 is cancelled.\n"
    assert operator.task("task-3").task.status == "cancelled"
    assert rook("task", "cancel", "task-1", "--yes", "--json").json["task"]["error"] == "not needed"


def test_each_kind_of_refusal_has_its_exit_code(rook: Rook, tree: tuple[Client, Client]) -> None:
    for words in (("show", "99"), ("complete", "99"), ("cancel", "99", "--yes")):
        done = rook.tried("task", *words)
        assert (done.code, done.out) == (3, "")
        assert "rook tasks" in done.err
    assert rook.tried("task", "complete", "task-1", ROOKERY_TOKEN=str(tree[1].token)).code == 3
    assert rook.tried("task", "complete", "task-1", "--status", "cancelled").code == 2
    assert rook.tried("task", "complete").code == 2


def test_a_person_sees_colours(hub: HubProcess, tmp_path: Path, tree: tuple[Client, Client]) -> None:
    env = hub.environment()
    with Terminal(
        tmp_path / "tmux", env={name: env[name] for name in ("PATH", "HOME", "ROOKERY_DATA")}
    ) as terminal:
        terminal.start(f"{ROOK} tasks --all")
        terminal.ended(0)
        screen = terminal.screen(colours=True)
        for colour, status in ((36, "ACTIVE"), (32, "COMPLETED ✓"), (33, "PENDING"), (31, "FAILED ✗")):
            assert f"\x1b[{colour}m{status}" in screen
