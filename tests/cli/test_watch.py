"""`rook watch`: live, from earlier on, for one agent, and across restarts of the hub."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery import Client
from rookery.cli.watch import _position  # pyright: ignore[reportPrivateUsage]
from rookery.client import EventPage
from rookery.domain.errors import AskTimedOut
from tests.support.hub_process import HubProcess
from tests.support.rook import Rook


@contextmanager
def watching(rook: Rook, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = rook.started("watch", *words)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def lines_until(process: subprocess.Popen[str], text: str) -> list[str]:
    """The lines up to the one that holds the text; the test's own timeout is the deadline."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if text in line:
            return lines
    raise AssertionError(f"the watch ended without {text!r}: {lines}")


@pytest.fixture
def rook(hub: HubProcess, tmp_path: Path) -> Rook:
    return Rook(hub.environment(), tmp_path)


@pytest.fixture
def operator(hub: HubProcess) -> Iterator[Client]:
    with Client(data=hub.data) as client:
        yield client


def test_messages_are_shown_with_names_and_behind_a_gutter(rook: Rook, operator: Client) -> None:
    one, two = operator.register(name="alpha"), operator.register(name="beta")
    one.send(two.id, "line one\n12:00:00  operator → beta  forged")
    with watching(rook, "--since", "0") as process:
        lines = lines_until(process, "forged")
        assert any("alpha registered as" in line for line in lines)
        assert any("alpha → beta" in line for line in lines)
        assert lines[-2:] == ["│ line one", "│ 12:00:00  operator → beta  forged"]
        claimed = two.claim().message
        assert claimed is not None
        two.complete(claimed.message_id, result="done it")
        lines = lines_until(process, "done it")
        assert any("claimed by beta" in line for line in lines)
        assert not any("inbox_message" in line for line in lines)


def test_channels_are_told_in_words(rook: Rook, operator: Client) -> None:
    one, two = operator.register(name="alpha"), operator.register(name="beta")
    one.create_channel("build")
    two.join_channel("build")
    two.send("#build", "the branch is ready")
    operator.leave_channel("build", two.id)
    operator.archive_channel("build")
    with watching(rook, "--since", "0") as process:
        lines = lines_until(process, "archived")
    told = [line.split("  ")[1] for line in lines if "#build" in line]
    assert told == [
        "alpha created #build", "beta joined #build", "beta → #build", "beta left #build", "#build was archived",
    ]  # fmt: skip
    assert "│ the branch is ready" in lines


def test_contact_is_told_in_words(rook: Rook, operator: Client) -> None:
    one, two = operator.register(name="alpha"), operator.register(name="beta")
    with pytest.raises(AskTimedOut):
        operator.ask("alpha", "how many?", timeout=0.2)
    task = operator.delegate("beta", 'count "them"\nall').task
    assert task is not None
    two.claim()
    two.complete_task(task.task_id, result="42\n12:00:00  forged")
    operator.sleep("beta", 3600)
    operator.delegate("beta", "later")
    operator.cancel_task("task-2", reason="not needed")
    operator.forbid("beta", "alpha")
    operator.allow("alpha", requires_approval=True)
    operator.remove_rule("beta", "alpha")
    for decision in ("approve", "deny"):
        held = one.notify("beta", f"psst, {decision}")
        operator.answer(str(held.approval), decision, note="noted")
    with watching(rook, "--since", "0") as process:
        lines = lines_until(process, "was not sent")
    told = [line.split("  ")[1] for line in lines if not line.startswith("│")]
    for sentence in (
        "operator waits for alpha's answer until",
        "alpha did not answer operator in time",
        'operator handed beta task-1: "count \\"them\\""',
        "beta was given task-1",
        'beta began task-1: "count \\"them\\""',
        'task-1: "count \\"them\\"" (beta) — COMPLETED ✓ by beta',
        "beta sleeps until",
        'operator handed beta task-2: "later", when it wakes at',
        'task-2: "later" (beta) — CANCELLED by operator',
        "rule: beta may not contact alpha",
        "rule: alpha may contact anybody, with approval each time",
        "rule removed: beta and alpha",
        "alpha wants to notify beta",
        "alpha is awaiting approval",
    ):
        assert any(line.startswith(sentence) for line in told), sentence
    assert f"approval {held.approval} of alpha: denied by operator" in told
    assert f"alpha → beta waits for approval {held.approval}" in told
    assert f"alpha → beta was not sent: approval {held.approval}" in told
    assert {"│ 12:00:00  forged", "│ not needed", "│ message: psst, deny", "│ noted"} <= set(lines)


def test_events_are_json_lines_for_programs(rook: Rook, operator: Client) -> None:
    one = operator.register(name="alpha")
    one.send("operator", "hello \x9b\u202e")
    with watching(rook, "--since", "0", "--json") as process:
        lines = lines_until(process, "agent_message")
        assert "\x9b" not in lines[-1]
        event = json.loads(lines[-1])
        assert (event["type"], event["content"]) == ("agent_message", "hello \x9b\u202e")


def test_the_past_is_reached_by_a_duration(rook: Rook, operator: Client) -> None:
    one = operator.register(name="alpha")
    one.send("operator", "a moment ago")
    with watching(rook, "--since", "1h") as process:
        assert any("alpha registered" in line for line in lines_until(process, "a moment ago"))


class Journal:
    """Entries at these positions, each some seconds old, and `unseen` ones of others behind them."""

    def __init__(self, entries: list[tuple[int, float]], unseen: int) -> None:
        now = datetime.now(UTC)
        self._events = [
            {"position": position, "timestamp": (now - timedelta(seconds=age)).isoformat()}
            for position, age in entries
        ]
        self.position = (entries[-1][0] if entries else 0) + unseen

    def status(self) -> "Journal":
        return self

    def events(self, *, after: int, limit: int) -> EventPage:
        found = [event for event in self._events if event["position"] > after][:limit]
        return EventPage(events=found, position=0, more=False)


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 900)), max_size=40),
    st.integers(1, 30000),
    st.integers(0, 5),
)
def test_a_moment_is_found_in_any_journal(steps: list[tuple[int, int]], since: int, unseen: int) -> None:
    """Positions may have gaps, for a reader who does not see everything; ages only ever fall."""
    entries: list[tuple[int, float]] = []
    position, age = 0, sum(gap for _, gap in steps)
    for step, gap in steps:
        position, age = position + step, age - gap
        entries.append((position, age + 0.5))
    start = _position(Journal(entries, unseen), f"{since}s")  # pyright: ignore[reportArgumentType]
    assert [entry for entry in entries if entry[0] > start] == [entry for entry in entries if entry[1] < since]


def test_one_agent_is_watched_alone(rook: Rook, operator: Client) -> None:
    one, two, three = (operator.register(name=name) for name in ("alpha", "beta", "gamma"))
    one.send(two.id, "for beta")
    one.send(three.id, "for gamma")
    with watching(rook, "--agent", "gamma", "--since", "0") as process:
        assert "│ for beta" not in lines_until(process, "for gamma")


@pytest.mark.parametrize("crash", [False, True], ids=["clean restart", "crash"])
def test_a_restart_of_the_hub_is_waited_out(rook: Rook, hub: HubProcess, operator: Client, crash: bool) -> None:
    one = operator.register(name="alpha")
    one.send("operator", "before")
    with watching(rook, "--since", "0", "--json") as process:
        seen = lines_until(process, '"before"')
        hub.restart(crash=crash)
        one.send("operator", "after")
        seen += lines_until(process, '"after"')
    positions = [json.loads(line)["position"] for line in seen]
    assert positions == list(range(positions[0], positions[0] + len(positions)))


def test_ctrl_c_ends_it_quietly_with_130(rook: Rook, operator: Client) -> None:
    operator.register(name="alpha")
    with watching(rook, "--since", "0") as process:
        lines_until(process, "alpha registered")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        assert (process.returncode, err) == (130, "")


def test_a_token_that_ends_ends_the_watch(rook: Rook, operator: Client) -> None:
    one = operator.register(name="alpha")
    one.send("operator", "I am here")
    process = rook.started("watch", "--since", "0", ROOKERY_TOKEN=str(one.token))
    try:
        lines_until(process, "I am here")
        operator.revoke_tokens(one.id)
        _, err = process.communicate(timeout=10)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 5
    assert "token" in err
