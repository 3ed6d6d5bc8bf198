"""Every command does what it says, for people and for programs."""

import itertools
import os
import stat
from pathlib import Path

from rookery import Client
from tests.support.hub_process import HubProcess
from tests.support.rook import Rook

_numbers = itertools.count(1)


def an_agent(rook: Rook) -> tuple[str, str, str]:
    """Name, id and token of a new one."""
    with Client(data=rook.env["ROOKERY_DATA"]) as operator:
        made = operator.register(name=f"agent{next(_numbers)}-{os.getpid()}")
        assert made.token
        return made.name, made.id, made.token


def test_status_says_where_the_hub_is_and_what_it_holds(rook: Rook, shared_hub: HubProcess) -> None:
    said = rook("status").out
    assert shared_hub.url in said
    assert str(shared_hub.data) in said
    told = rook("status", "--json").json
    assert told["ok"] is True
    assert told["store"] == "sqlite"


def test_agents_are_listed_in_aligned_columns_without_a_cut(rook: Rook) -> None:
    project = "/srv/" + "very-long-name/" * 20
    name = rook("register", "--model", "Some Model (1.0)", "--project", project, "--json").json["name"]
    lines = rook("agents").out.splitlines()
    assert lines[0].split()[:3] == ["NAME", "ID", "STATUS"]
    line = next(line for line in lines if line.startswith(f"{name} "))
    assert project.rstrip("/") in line
    assert line.index("idle") == lines[0].index("STATUS")
    assert name in [agent["name"] for agent in rook("agents", "--json").json["agents"]]


def test_a_token_can_be_saved_instead_of_shown(rook: Rook, tmp_path: Path) -> None:
    path = tmp_path / "agent.token"
    made = rook("register", "--save-token", str(path))
    secret = path.read_text().strip()
    assert secret.startswith("rook_ag_")
    assert secret not in made.out + made.err
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    inbox = rook("inbox", "--token-file", str(path), "--json").json
    assert inbox["agent_id"] != "operator"
    assert rook.tried("register", "--save-token", str(path)).code == 2
    assert path.read_text().strip() == secret


def test_a_refused_registration_leaves_no_token_file(rook: Rook, tmp_path: Path) -> None:
    name, _, _ = an_agent(rook)
    assert rook.tried("register", "--name", name, "--save-token", str(tmp_path / "t")).code == 4
    assert not (tmp_path / "t").exists()


def test_a_message_goes_from_hand_to_hand(rook: Rook) -> None:
    (one, one_id, one_token), (two, _, _) = an_agent(rook), an_agent(rook)
    sent = rook("send", two, "please run the tests", "--json", ROOKERY_TOKEN=one_token).json
    looked = rook("inbox", two).out
    assert f"{one} → {two}" in looked
    assert "│ please run the tests" in looked
    assert "1 unread" in rook("inbox", two).out  # looking leaves no trace
    read = rook("read", sent["message_id"], "--json").json
    assert read["message"]["from_agent_id"] == one_id
    claimed = rook("claim", "--as", two, "--json").json
    assert claimed["message"]["message_id"] == sent["message_id"]
    assert "Nothing is open" in rook("claim", "--as", two).out
    done = rook("complete", sent["message_id"], "--as", two, "--result", "all pass")
    assert f"{sent['message_id']} is done" in done.out
    shown = rook("read", sent["message_id"], "--as", two).out
    assert "(done)" in shown
    assert "│ all pass" in shown
    assert rook("stats", two, "--json").json["stats"]["done"] == 1
    assert "done    1" in rook("stats", two).out
    assert rook("stats", "--json").json["stats"]["total_sent"] >= 1


def test_acting_as_an_agent_reads_its_messages(rook: Rook) -> None:
    name, _, _ = an_agent(rook)
    rook("send", name, "for you")
    assert rook("inbox", "--as", name, "--json").json["count"] == 1
    assert rook("inbox", "--as", name, "--json").json["count"] == 0
    assert rook("inbox", "--as", name, "--all", "--json").json["count"] == 1
    assert rook("inbox", name, "--all", "--latest", "--limit", "1", "--folder", "new", "--json").json["count"] == 1


def test_the_operator_speaks_as_an_agent(rook: Rook) -> None:
    (one, one_id, _), (two, _, _) = an_agent(rook), an_agent(rook)
    rook("send", two, "from one", "--as", one)
    assert rook("inbox", two, "--json").json["messages"][0]["from_agent_id"] == one_id


def test_text_comes_through_a_pipe_as_it_is(rook: Rook) -> None:
    name, _, _ = an_agent(rook)
    text = "line one\n\n\tline three: ünïcode ⚙\n"
    rook("send", name, text=text)
    rook("send", name, "-", text="dash")
    contents = [message["content"] for message in rook("inbox", name, "--json").json["messages"]]
    assert contents == [text.removesuffix("\n"), "dash"]
    rook("broadcast", "--as", name, text="to all")


def test_a_reply_names_what_it_answers(rook: Rook) -> None:
    (one, _, one_token), (two, _, two_token) = an_agent(rook), an_agent(rook)
    first = rook("send", two, "how many?", "--json", ROOKERY_TOKEN=one_token).json["message_id"]
    rook("send", one, "42", "--reply-to", first, "--priority", "high", ROOKERY_TOKEN=two_token)
    thread = rook("thread", first).out
    assert thread.index("│ how many?") < thread.index("│ 42")
    assert "[high]" in thread
    assert f"answers {first}" in thread
    assert rook("thread", first, "--json").json["count"] == 2


def test_a_message_lives_as_long_as_its_sender_said(rook: Rook) -> None:
    name, _, _ = an_agent(rook)
    rook("send", name, "short-lived", "--ttl", "1h30m")
    message = rook("inbox", name, "--json").json["messages"][0]
    assert message["expires_at"] > message["timestamp"]


def test_words_are_found(rook: Rook) -> None:
    (one, _, _), (two, _, _) = an_agent(rook), an_agent(rook)
    rook("send", two, f"the rhubarb of {one}", "--as", one)
    assert f"│ the rhubarb of {one}" in rook("search", "rhubarb", one).out
    assert rook("search", "rhubarb", "--as", two, "--json").json["count"] == 1
    assert "Nothing found" in rook("search", "xyzzyplugh").out


def test_an_agent_is_renamed_kept_alive_and_deleted(rook: Rook) -> None:
    name, agent_id, token = an_agent(rook)
    assert f"{agent_id} is now called {name}x" in rook("rename", name, f"{name}x").out
    assert "is working" in rook("heartbeat", f"{name}x", "--status", "working").out
    assert rook("heartbeat", "--json", ROOKERY_TOKEN=token).json["agent_id"] == agent_id
    assert rook.tried("delete", f"{name}x").code == 2  # nobody there to ask
    assert "is gone" in rook("delete", f"{name}x", "--yes").out
    assert rook.tried("heartbeat", ROOKERY_TOKEN=token).code == 5


def test_an_inbox_is_cleared_in_part_and_whole(rook: Rook) -> None:
    name, _, _ = an_agent(rook)
    first = rook("send", name, "a", "--json").json["message_id"]
    for text in "bc":
        rook("send", name, text)
    assert "Cleared 1 message." in rook("clear", name, "--message", first).out
    refused = rook.tried("clear", name)
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert rook("clear", name, "--yes", "--json").json["cleared"] == 2


def test_tokens_are_found_shown_renewed_and_ended(rook: Rook, shared_hub: HubProcess) -> None:
    where = rook("token").out
    assert str(shared_hub.data / "operator.token") in where
    assert str(shared_hub.token) not in where
    assert rook("token", "show").out.strip() == shared_hub.token
    name, _, old = an_agent(rook)
    new = rook("token", "new", name).out.strip()
    assert rook.tried("inbox", ROOKERY_TOKEN=old).code == 5
    assert rook("inbox", ROOKERY_TOKEN=new).code == 0
    assert "Ended 1 token" in rook("token", "revoke", name).out
    assert rook.tried("inbox", ROOKERY_TOKEN=new).code == 5


def test_a_broadcast_in_many_inboxes_needs_to_be_told_whose(rook: Rook) -> None:
    (one, _, _), (two, _, _) = an_agent(rook), an_agent(rook)
    an_agent(rook)
    message_id = rook("broadcast", "hear me", "--as", one, "--json").json["message_id"]
    refused = rook.tried("read", message_id)
    assert (refused.code, "--as" in refused.err) == (2, True)
    assert "│ hear me" in rook("read", message_id, "--as", two).out
    assert "→ everyone" in rook("read", message_id, "--as", two).out


def test_the_version_is_told(rook: Rook) -> None:
    assert rook("--version").out.startswith("rook 0.")
