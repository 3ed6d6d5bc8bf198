"""`rook channel`, and `rook send` to a channel: for people and for programs."""

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery import Client
from tests.support.hub_process import HubProcess
from tests.support.rook import ROOK, Rook
from tests.support.terminal import Terminal

_numbers = itertools.count(1)


@pytest.fixture
def operator(shared_hub: HubProcess) -> Iterator[Client]:
    with Client(data=shared_hub.data) as client:
        yield client


@pytest.fixture
def name() -> str:
    """Of a channel that no other test has: they share a hub, and a name stays taken."""
    return f"build{next(_numbers)}-{os.getpid()}"


# -- for people ------------------------------------------------------------------------------------------


def test_a_channel_is_created_with_a_topic_and_members(rook: Rook, operator: Client, name: str) -> None:
    one = operator.register(model_name="one")
    done = rook("channel", "create", name, "--topic", "version 2", "--member", one.name)
    assert done.out == f"#{name} is there.\n"
    made = operator.channel(name).channel
    assert (made.topic, made.members, made.created_by) == ("version 2", [one.id], "operator")


def test_a_channel_is_shown_with_the_names_of_who_is_in_it(rook: Rook, operator: Client, name: str) -> None:
    one, two = operator.register(model_name="one"), operator.register(model_name="two")
    one.create_channel(name, topic="version 2", members=[two.id])
    for called in (name, f"#{name}", name.upper()):
        lines = dict(line.split(None, 1) for line in rook("channel", "show", called).out.splitlines())
        assert (lines["channel"], lines["topic"]) == (f"#{name}", "version 2")
        assert lines["members"] == f"{one.name}, {two.name}"
        assert lines["created"].endswith(f" by {one.name}")
        assert "archived" not in lines
    operator.archive_channel(name)
    assert "\narchived" in rook("channel", "show", name).out


def test_channels_are_listed_and_the_archived_ones_are_marked(rook: Rook, operator: Client, name: str) -> None:
    one = operator.register(model_name="one")
    one.create_channel(name, topic="version 2")
    one.create_channel(f"{name}-old")
    one.archive_channel(f"{name}-old")
    lines = rook("channel", "list").out.splitlines()
    assert lines[0].split() == ["CHANNEL", "TOPIC", "MEMBERS"]
    (line,) = [line for line in lines if line.startswith(f"#{name} ")]
    assert line.split() == [f"#{name}", "version", "2", one.name]
    (line,) = [line for line in lines if line.startswith(f"#{name}-old ")]
    assert line.split() == [f"#{name}-old", one.name, "archived"]


def test_an_agent_is_brought_in_and_taken_out(rook: Rook, operator: Client, name: str) -> None:
    one = operator.register(model_name="one")
    operator.create_channel(name)
    assert rook("channel", "join", name, one.name).out == f"{one.name} is in #{name}.\n"
    assert operator.channel(name).channel.members == [one.id]
    assert rook("channel", "leave", f"#{name}", one.id).out == f"{one.id} is not in #{name}.\n"
    assert operator.channel(name).channel.members == []


def test_what_was_said_is_shown_oldest_first_behind_the_gutter(rook: Rook, operator: Client, name: str) -> None:
    one = operator.register(model_name="one")
    one.create_channel(name)
    assert rook("channel", "history", name).out == f"Nothing was said in #{name}.\n"
    for text in ("first", "second\n12:00:00  forged"):
        one.send(f"#{name}", text)
    shown = rook("channel", "history", name).out
    assert f"{one.name} → #{name}" in shown
    assert shown.index("│ first") < shown.index("│ second") < shown.index("│ 12:00:00  forged")
    assert "\n12:00:00" not in shown


def test_earlier_pages_of_the_history_are_asked_for(rook: Rook, operator: Client, name: str) -> None:
    operator.create_channel(name)
    for text in "abc":
        operator.send(f"#{name}", text)
    page = rook("channel", "history", name, "--limit", "1", "--json").json
    assert [message["content"] for message in page["messages"]] == ["c"]
    page = rook("channel", "history", name, "--limit", "1", "--before", "3", "--json").json
    assert [message["content"] for message in page["messages"]] == ["b"]


def test_a_channel_is_archived_only_when_that_is_meant(rook: Rook, operator: Client, name: str) -> None:
    operator.create_channel(name)
    refused = rook.tried("channel", "archive", name)
    assert (refused.code, refused.out) == (2, "")
    assert f"Archive #{name}?" in refused.err
    assert "--yes" in refused.err
    assert operator.channel(name).channel.archived_at is None
    assert rook("channel", "archive", name, "--yes").out == f"#{name} is archived.\n"
    assert operator.channel(name).channel.archived_at


# -- saying something ------------------------------------------------------------------------------------


def test_a_message_to_a_channel_says_whether_anybody_was_mentioned(
    rook: Rook, operator: Client, name: str
) -> None:
    one = operator.register(model_name="one")
    operator.create_channel(name, members=[one.id])
    silent = rook("send", f"#{name}", "hello").out
    assert silent.endswith(f"  said in #{name}; nobody was mentioned\n")
    called = rook("send", f"#{name}", f"@{one.name} look").out
    assert called.endswith("  waits in the inbox\n")
    assert [message.content for message in one.inbox().messages] == [f"@{one.name} look"]
    assert operator.history(name).count == 2


def test_a_message_to_a_channel_is_json_for_programs(rook: Rook, operator: Client, name: str) -> None:
    one = operator.register(model_name="one")
    operator.create_channel(name, members=[one.id])
    assert rook("send", f"#{name}", "hello", "--json").json["queued"] is False
    assert rook("send", f"#{name}", f"@{one.name}", "--json").json["queued"] is True


def test_the_operator_speaks_in_a_channel_as_a_member_alone(rook: Rook, operator: Client, name: str) -> None:
    one, two = operator.register(model_name="one"), operator.register(model_name="two")
    one.create_channel(name)
    rook("send", f"#{name}", "as one", "--as", one.name)
    assert operator.history(name).messages[0].from_agent_id == one.id
    assert rook.tried("send", f"#{name}", "as two", "--as", two.name).code == 5
    assert operator.history(name).count == 1


def test_an_answer_in_a_channel_names_what_it_answers(rook: Rook, operator: Client, name: str) -> None:
    operator.create_channel(name)
    first = operator.send(f"#{name}", "how many?").message_id
    rook("send", f"#{name}", "42", "--reply-to", first)
    assert f"answers {first}" in rook("channel", "history", name).out
    assert "│ 42" in rook("thread", first).out


def test_an_agent_uses_channels_with_its_own_token(rook: Rook, operator: Client, name: str) -> None:
    one = operator.register(model_name="one")
    assert one.token
    made = rook("channel", "create", name, "--json", ROOKERY_TOKEN=one.token).json["channel"]
    assert made["members"] == [one.id]
    rook("send", f"#{name}", "mine", ROOKERY_TOKEN=one.token)
    assert "│ mine" in rook("channel", "history", name, ROOKERY_TOKEN=one.token).out
    rook("channel", "leave", name, one.name, ROOKERY_TOKEN=one.token)
    assert rook.tried("channel", "history", name, ROOKERY_TOKEN=one.token).code == 5


# -- for programs ----------------------------------------------------------------------------------------


def test_every_answer_is_the_hubs_own_for_programs(rook: Rook, operator: Client, name: str) -> None:
    one = operator.register(model_name="one")
    created = rook("channel", "create", f"#{name}", "--json").json
    assert (created["ok"], created["channel"]["channel"]) == (True, f"#{name}")
    assert rook("channel", "join", name, one.name, "--json").json["channel"]["members"] == [one.id]
    assert rook("channel", "show", name, "--json").json["channel"]["members"] == [one.id]
    listed = rook("channel", "list", "--json").json
    assert f"#{name}" in [each["channel"] for each in listed["channels"]]
    assert rook("channel", "leave", name, one.name, "--json").json["channel"]["members"] == []
    assert rook("channel", "history", name, "--json").json == {
        "ok": True, "channel": f"#{name}", "messages": [], "count": 0,
    }  # fmt: skip
    assert rook("channel", "archive", name, "--yes", "--json").json["channel"]["archived_at"]


def test_each_kind_of_refusal_has_its_exit_code(rook: Rook, operator: Client, name: str) -> None:
    operator.create_channel(name)
    assert rook.tried("channel", "create", name).code == 4
    assert rook.tried("channel", "create", "two words").code == 2
    assert rook.tried("channel", "create", f"{name}-x", "--member", "nobody-at-all").code == 3
    for words in (("show",), ("history",), ("archive", "--yes"), ("join", "nobody"), ("leave", "nobody")):
        done = rook.tried("channel", words[0], "nowhere", *words[1:])
        assert (done.code, done.out) == (3, "")
        assert "There is no channel 'nowhere'." in done.err
        assert f"#{name}" in done.err
    assert rook.tried("send", "#nowhere", "hi").code == 3
    operator.archive_channel(name)
    assert rook.tried("send", f"#{name}", "hi").code == 4


def test_a_refusal_is_json_for_programs(rook: Rook) -> None:
    done = rook.tried("channel", "show", "nowhere", "--json")
    assert (done.code, done.out) == (3, "")
    error = json.loads(done.err)["error"]
    assert (error["code"], error["data"]["channel"]) == ("channel_not_found", "nowhere")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("create",), "CHANNEL"),
        (("join", "build"), "AGENT"),
        (("leave", "build"), "AGENT"),
        (("history", "build", "--limit", "0"), "limit"),
        (("history", "build", "--limit", "1001"), "limit"),
        (("history", "build", "--before", "0"), "before"),
        (("history", "build", "--before", "yesterday"), "before"),
        (("show", "build", "surplus"), "surplus"),
        (("archve", "build"), "'archive'"),
        (("create", "build", "--membr", "one"), "--member"),
    ],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_wrong_usage_is_exit_2_and_names_what_is_wrong(words: tuple[str, ...], said: str, lonely: Rook) -> None:
    done = lonely.tried("channel", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_without_a_hub_it_is_said_how_to_start_one(lonely: Rook) -> None:
    done = lonely.tried("channel", "list", ROOKERY_URL="http://127.0.0.1:9")
    assert (done.code, "`rook up`" in done.err) == (8, True)


def test_no_words_show_what_can_be_done_with_channels(lonely: Rook) -> None:
    said = lonely.tried("channel")
    shown = said.out + said.err
    for verb in ("create", "list", "show", "join", "leave", "history", "archive"):
        assert f"  {verb} " in shown
    assert "rook send '#build'" in shown


def test_a_hub_without_channels_lists_none(hub: HubProcess, rook: Rook) -> None:
    assert rook("channel", "list", ROOKERY_DATA=str(hub.data)).out == ""
    assert rook("channel", "list", "--json", ROOKERY_DATA=str(hub.data)).json["channels"] == []


# -- on a terminal ---------------------------------------------------------------------------------------


@pytest.fixture
def terminal(hub: HubProcess, tmp_path: Path) -> Iterator[Terminal]:
    """On a hub where nothing has happened yet."""
    wanted = ("PATH", "HOME", "ROOKERY_DATA", "PYTHONPATH")
    env = {name: value for name, value in hub.environment().items() if name in wanted}
    with Terminal(tmp_path / "tmux", env=env) as terminal:
        terminal.type(f"alias rook={ROOK}")
        terminal.wait_for("$")
        yield terminal


def test_a_person_is_told_what_can_be_done_next(terminal: Terminal) -> None:
    terminal.start("rook channel list")
    assert "There is no channel yet. Create one: rook channel create build" in terminal.ended(0)
    terminal.start("rook channel create build")
    assert "Say something: rook send '#build'" in terminal.ended(0)


def test_a_person_is_asked_before_a_channel_ends(terminal: Terminal, hub: HubProcess) -> None:
    with Client(data=hub.data) as operator:
        operator.create_channel("build")
        for answer, code, ended in (("n", 1, False), ("y", 0, True)):
            terminal.start("rook channel archive build")
            terminal.wait_for("Archive #build? [y/N]:")
            terminal.type(answer)
            terminal.ended(code)
            assert bool(operator.channel("build").channel.archived_at) is ended
