"""`rook chat`: in a real terminal, and through a pipe."""

import asyncio
import json
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rookery import AsyncClient, Client
from rookery.cli.talk import Talk
from rookery.wire.contact import ConversationResponse
from tests.cli.test_contact import wait_until
from tests.support.hub_process import HubProcess
from tests.support.rook import ROOK, Rook
from tests.support.terminal import Terminal

READY = "/help says more."


class Person:
    """Someone at a terminal, who types without pressing Enter at the end."""

    def __init__(self, socket: Path, terminal: Terminal) -> None:
        self.terminal = terminal
        self._socket = socket

    def opens(self, whom: str) -> None:
        self.terminal.start(f"rook chat '{whom}'")
        self.terminal.wait_for(READY)

    def types(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def pastes(self, text: str) -> None:
        self._tmux("set-buffer", text)
        self._tmux("paste-buffer", "-p")

    def _tmux(self, *words: str) -> None:
        self.terminal._tmux(*words)  # pyright: ignore[reportPrivateUsage] - what only this test needs


@pytest.fixture
def person(hub: HubProcess, tmp_path: Path) -> Iterator[Person]:
    env = {name: hub.environment()[name] for name in ("PATH", "HOME", "ROOKERY_DATA")}
    with Terminal(tmp_path / "tmux", env=env) as terminal:
        terminal.type(f"alias rook={ROOK}")
        terminal.wait_for("$")
        yield Person(tmp_path / "tmux", terminal)


@pytest.fixture
def rook(hub: HubProcess, tmp_path: Path) -> Rook:
    return Rook(hub.environment(), tmp_path)


@pytest.fixture
def operator(hub: HubProcess) -> Iterator[Client]:
    with Client(data=hub.data) as client:
        yield client


@pytest.fixture
def builder(operator: Client) -> Client:
    return operator.register(name="builder")


def lines_of(terminal: Terminal) -> list[str]:
    return [line.rstrip() for line in terminal.screen().splitlines()]


# -- in a terminal ---------------------------------------------------------------------------------------


def test_the_past_is_shown_and_what_arrives_leaves_a_half_typed_line_whole(
    person: Person, operator: Client, builder: Client
) -> None:
    builder.send("operator", "from before")
    person.opens("builder")
    assert "│ from before" in lines_of(person.terminal)
    person.types("half a li")
    person.terminal.wait_for("builder > half a li")
    builder.send("operator", "meanwhile\nbuilder > forged \x1b[2J")
    person.terminal.wait_for("│ builder > forged [2J")
    assert lines_of(person.terminal)[-1:] != ["half a li"]
    assert "builder > half a li" in lines_of(person.terminal)
    person.types("ne")
    person.terminal.press("Enter")
    person.terminal.wait_for("│ half a line")
    assert [message.content for message in builder.inbox().messages] == ["half a line"]
    person.terminal.press("C-d")
    assert "Traceback" not in person.terminal.ended(0)


def test_names_have_their_colours(person: Person, builder: Client) -> None:
    builder.send("operator", "hello")
    person.opens("builder")
    coral = person.terminal.screen(colours=True)  # #ff8a8a, or what is nearest to it among 256
    assert "38;2;255;138;138mbuilder" in coral or "38;5;210mbuilder" in coral


def test_what_is_pasted_is_one_message_and_lines_are_broken_by_hand_too(person: Person, builder: Client) -> None:
    person.opens("builder")
    person.pastes("one\ntwo\n\nfour")
    person.terminal.wait_for("four")
    assert builder.unread() == 0
    person.terminal.press("Enter")
    person.terminal.wait_for("│ four")
    for text, key in (("a", "M-Enter"), ("b", "C-j"), ("c", "Enter")):
        person.types(text)
        person.terminal.press(key)
    person.terminal.wait_for("│ c")
    assert [message.content for message in builder.inbox().messages] == ["one\ntwo\n\nfour", "a\nb\nc"]


def test_what_was_said_is_brought_back_and_kept_for_ones_own_eyes(
    person: Person, hub: HubProcess, builder: Client
) -> None:
    person.opens("builder")
    person.types("again")
    person.terminal.press("Enter")
    person.terminal.wait_for("│ again")
    person.types("/quit")
    person.terminal.press("Enter")
    person.terminal.ended(0)
    history = hub.data / "chat-history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    person.opens("builder")
    person.terminal.press("Up")
    person.terminal.wait_for("builder > again")
    person.terminal.press("Enter")
    wait_until(lambda: builder.unread() == 2)


def test_ctrl_c_clears_the_line_and_once_more_leaves(person: Person, builder: Client) -> None:
    person.opens("builder")
    person.types("never mind")
    person.terminal.wait_for("builder > never mind")
    person.terminal.press("C-c")
    wait_until(lambda: "never mind" not in person.terminal.screen())
    person.terminal.press("C-c")
    assert "Traceback" not in person.terminal.ended(130)
    person.opens("builder")
    person.terminal.press("C-c")
    person.terminal.wait_for("Ctrl-C once more leaves.")
    person.terminal.press("C-c")
    person.terminal.ended(130)
    assert builder.unread() == 0


def test_words_with_a_slash_are_commands_only_when_they_are(person: Person, builder: Client) -> None:
    person.opens("builder")
    person.types("/help")
    person.terminal.press("Enter")
    person.terminal.wait_for("Alt-Enter")
    person.types("/hlep")
    person.terminal.press("Enter")
    person.terminal.wait_for("There is no command /hlep")
    person.terminal.press("C-c")
    for text in ("/etc/hosts is wrong", " /help"):
        person.types(text)
        person.terminal.press("Enter")
        person.terminal.wait_for(f"│ {text}")
    assert [message.content for message in builder.inbox().messages] == ["/etc/hosts is wrong", " /help"]


def test_the_next_words_answer_a_question(person: Person, builder: Client) -> None:
    person.opens("builder")
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(builder.ask, "operator", "may I?")
        person.terminal.wait_for("the next that you send is the answer")
        person.types("yes")
        person.terminal.press("Enter")
        answer = asked.result(20).answer
    assert answer is not None
    assert answer.content == "yes"
    person.types("and thanks")
    person.terminal.press("Enter")
    person.terminal.wait_for("│ and thanks")
    assert builder.inbox().messages[-1].reply_to is None


def test_a_question_asked_before_is_answered_too(person: Person, builder: Client) -> None:
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(builder.ask, "operator", "may I?")
        wait_until(lambda: builder.conversation("operator").messages)
        person.opens("builder")
        person.types("yes")
        person.terminal.press("Enter")
        answer = asked.result(20).answer
    assert answer is not None
    assert answer.content == "yes"


def test_an_approval_that_waits_is_mentioned_with_the_commands(
    person: Person, operator: Client, builder: Client
) -> None:
    operator.register(name="tester")
    operator.allow("builder", "tester", requires_approval=True)
    before = builder.notify("tester", "first").approval
    person.opens("builder")
    person.terminal.wait_for(f"rook approve {before}, or rook deny {before}")
    since = builder.notify("tester", "second").approval
    person.terminal.wait_for(f"rook approve {since}, or rook deny {since}")
    assert "│ second" in lines_of(person.terminal)
    assert since is not None
    operator.answer(since, "deny")
    person.terminal.wait_for(f"Approval {since} is denied.")


def test_what_a_hub_that_is_away_did_not_get_is_not_lost(
    person: Person, hub: HubProcess, operator: Client, builder: Client
) -> None:
    person.opens("builder")
    hub.stop()
    person.terminal.wait_for("The hub is away")
    person.types("are you there?")
    person.terminal.press("Enter")
    person.terminal.wait_for("Not sent:")
    person.terminal.wait_for("builder > are you there?")
    hub.start()
    person.terminal.wait_for("The hub is back.")
    person.terminal.press("Enter")
    person.terminal.wait_for("│ are you there?")
    assert builder.inbox().count == 1
    builder.send("operator", "I am")
    person.terminal.wait_for("│ I am")


def test_a_channel_says_when_a_mention_reached_nobody(person: Person, operator: Client, builder: Client) -> None:
    operator.register(name="outsider")
    operator.create_channel("build", members=["builder"])
    builder.send("#build", "said before")
    person.opens("#build")
    assert "│ said before" in lines_of(person.terminal)
    for text in ("mail me@example.org", "look @builder"):
        person.types(text)
        person.terminal.press("Enter")
        person.terminal.wait_for(f"│ {text}")
    assert "reached nobody" not in person.terminal.screen()
    person.types("look @outsider")
    person.terminal.press("Enter")
    person.terminal.wait_for("The mention reached nobody")
    operator.join_channel("build", "outsider")
    person.terminal.wait_for("outsider joined.")


def test_what_was_shown_to_a_person_is_read(person: Person, operator: Client, builder: Client) -> None:
    builder.send("operator", "before")
    operator.register(name="other").send("operator", "elsewhere")
    person.opens("builder")
    builder.send("operator", "live")
    person.terminal.wait_for("│ live")
    wait_until(lambda: operator.unread() == 1)
    assert [message.content for message in operator.inbox(mark_read=False).messages] == ["elsewhere"]


def test_a_token_that_ends_ends_the_chat(person: Person, operator: Client, builder: Client) -> None:
    other = operator.register(name="other")
    person.terminal.start(f"ROOKERY_TOKEN={other.token} rook chat builder")
    person.terminal.wait_for(READY)
    operator.revoke_tokens(other.id)
    assert "Traceback" not in person.terminal.ended(5)


def test_nobody_to_talk_with_is_said_at_once(person: Person, builder: Client) -> None:
    person.terminal.start("rook chat nobody")
    assert "builder" in person.terminal.ended(3)
    person.terminal.start("rook chat '#nowhere'")
    person.terminal.ended(3)


async def test_what_comes_between_listening_and_looking_is_shown_once(
    hub: HubProcess, builder: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    class Late(AsyncClient):
        """Somebody speaks just before the past is looked at."""

        async def conversation(self, other: str, **page: Any) -> ConversationResponse:  # pyright: ignore[reportIncompatibleVariableOverride]
            await asyncio.to_thread(builder.send, "operator", "in between")
            return await super().conversation(other, **page)

    async with Late(data=hub.data) as client:
        talk = await Talk.with_(client, "builder", as_json=False)
        async with talk.begun(20) as arrivals:
            listening = asyncio.ensure_future(arrivals)
            await talk.say("afterwards")
            await talk.heard_own()
            listening.cancel()
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert said == ["│ in between", "│ afterwards"]


# -- through a pipe --------------------------------------------------------------------------------------


def test_each_line_of_a_pipe_is_a_message(rook: Rook, builder: Client) -> None:
    builder.send("operator", "from before")
    said = rook("chat", "builder", text="one\n\ntwo\n").out.splitlines()
    assert [line for line in said if line.startswith("│")] == ["│ from before", "│ one", "│ two"]
    assert [message.content for message in builder.inbox().messages] == ["one", "two"]


def test_after_the_end_of_a_pipe_it_goes_on_for_as_long_as_told(rook: Rook, builder: Client) -> None:
    with ThreadPoolExecutor() as threads:
        ran = threads.submit(rook, "chat", "builder", "--history", "0", "--wait", "3s", text="how many?\n")
        wait_until(builder.unread)
        builder.reply(builder.inbox().messages[0], "42")
        lines = ran.result(30).out.splitlines()
    assert [line for line in lines if line.startswith("│")] == ["│ how many?", "│ 42"]


def test_what_arrives_is_json_lines_for_programs(rook: Rook, builder: Client) -> None:
    builder.send("operator", "from before")
    events = [json.loads(line) for line in rook("chat", "builder", "--json", text="one\n").out.splitlines()]
    assert [(event["type"], event["content"]) for event in events] == [("agent_message", "one")]


@pytest.mark.parametrize("text", [b"one\n\xff\n", b"\x00\n"], ids=["not UTF-8", "NUL"])
def test_what_is_no_text_ends_it_with_2(rook: Rook, builder: Client, text: bytes) -> None:
    assert rook.tried("chat", "builder", text=text).code == 2


def test_each_kind_of_refusal_has_its_exit_code(rook: Rook, operator: Client, builder: Client) -> None:
    operator.create_channel("old")
    operator.archive_channel("old")
    assert rook.tried("chat", "nobody", text="x\n").code == 3
    assert rook.tried("chat", "#nowhere", text="x\n").code == 3
    assert rook.tried("chat", "#old", text="x\n").code == 4
    assert rook.tried("chat", "#old").code == 0
    assert rook.tried("chat", "builder", "--wait", "soon").code == 2
    assert rook.tried("chat", "builder", ROOKERY_TOKEN="rook_ag_wrong").code == 5


def test_without_a_hub_it_is_said_how_to_start_one(lonely: Rook) -> None:
    done = lonely.tried("chat", "builder", ROOKERY_URL="http://127.0.0.1:9")
    assert (done.code, "`rook up`" in done.err) == (8, True)


def test_a_history_that_cannot_be_kept_is_done_without(tmp_path: Path) -> None:
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    from rookery.cli.prompt import private_history

    kept = tmp_path / "new" / "data"
    assert isinstance(private_history(kept), FileHistory)
    (kept / "chat-history").chmod(0o644)
    private_history(kept)
    assert stat.S_IMODE((kept / "chat-history").stat().st_mode) == 0o600
    (tmp_path / "file").write_text("")
    assert isinstance(private_history(tmp_path / "file"), InMemoryHistory)
    (tmp_path / "chat-history").symlink_to(tmp_path / "file")
    assert isinstance(private_history(tmp_path), InMemoryHistory)
