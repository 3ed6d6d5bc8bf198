"""Help that helps: a sentence and examples everywhere, a suggestion for a slip, no waiting."""

import os
import subprocess
import time
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from rookery.cli.app import app
from rookery.wire.errors import ERRORS
from tests.support.rook import ROOK, Rook


def all_commands() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []

    def look(command: object, path: tuple[str, ...]) -> None:
        found.append(path)
        for name, child in getattr(command, "commands", {}).items():
            look(child, (*path, name))

    look(typer.main.get_command(app), ())
    return found


def test_every_command_is_there() -> None:
    wanted = [
        "up",
        "status",
        "agents",
        "register",
        "send",
        "broadcast",
        "inbox",
        "read",
        "claim",
        "complete",
        "watch",
        "search",
        "token",
        "doctor",
        "index",
        "prune",
        "export",
        "import",
        "rename",
        "delete",
        "heartbeat",
        "sleep",
        "wake",
        "ask",
        "delegate",
        "notify",
        "chat",
        "tasks",
        "task",
        "approvals",
        "approve",
        "deny",
        "allow",
        "forbid",
        "rules",
        "clear",
        "stats",
        "thread",
        "config",
        "channel",
        "mcp",
        "connect",
    ]
    assert {path[0] for path in all_commands() if path} == set(wanted)
    assert {("token", "show"), ("token", "new"), ("token", "revoke"), ("index", "rebuild")} <= set(all_commands())
    of_channels = {path[1:] for path in all_commands() if path[:1] == ("channel",)}
    wanted = ("create", "list", "show", "join", "leave", "history", "archive")
    assert of_channels == {(), *((name,) for name in wanted)}
    assert {path[1:] for path in all_commands() if path[:1] == ("task",)} == {
        (), ("show",), ("complete",), ("cancel",),
    }  # fmt: skip


def help_of(path: tuple[str, ...]) -> str:
    shown = CliRunner().invoke(app, [*path, "--help"], prog_name="rook")
    assert shown.exit_code == 0
    return shown.output


@pytest.mark.parametrize("path", all_commands(), ids=" ".join)
def test_every_help_has_a_sentence_and_an_example(path: tuple[str, ...]) -> None:
    said = help_of(path)
    sentence = said.splitlines()[2].strip()
    assert sentence[0].isupper()
    assert len(sentence) <= 80
    assert f"rook {' '.join(path)}" in said.partition("Examples:" if path else "Start here:")[2]


@pytest.mark.parametrize(
    "path",
    [path for path in all_commands() if path not in ((), ("index",), ("channel",), ("task",))],
    ids=" ".join,
)
def test_every_command_speaks_json(path: tuple[str, ...]) -> None:
    assert "--json" in help_of(path)


def test_no_command_takes_a_secret_as_a_word() -> None:
    assert [path for path in all_commands() if "--token " in help_of(path)] == []


def test_no_summary_is_cut_short() -> None:
    assert "..." not in help_of(()).partition("Commands:")[2]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("sned", "x"), "'send'"),
        (("wacth",), "'watch'"),
        (("token", "revok"), "'revoke'"),
        (("send", "x", "y", "--prority", "high"), "--priority"),
        (("agents", "--jsn"), "--json"),
    ],
)
def test_a_slip_is_answered_with_what_was_perhaps_meant(words: tuple[str, ...], meant: str, lonely: Rook) -> None:
    done = lonely.tried(*words)
    assert done.code == 2
    assert f"Did you mean {meant}?" in done.err
    assert "--help" in done.err


def test_no_words_at_all_show_the_help(lonely: Rook) -> None:
    done = lonely.tried()
    assert "Start here:" in done.out


def test_help_is_there_before_one_looks(lonely: Rook) -> None:
    """Half a second, counted in the time that the processor spends on it: a busy machine proves nothing."""

    def spent() -> float:
        used = os.times()
        return used.children_user + used.children_system

    def once() -> float:
        before = spent()
        lonely("--help")
        return spent() - before

    assert min(once() for _ in range(3)) < 0.5


def test_help_imports_nothing_heavy(lonely: Rook) -> None:
    code = (
        "import sys; sys.argv = ['rook', '--help']\n"
        "from rookery.cli.app import run\nrun()\n"
        "heavy = ('httpx', 'rich', 'websockets', 'uvicorn', 'starlette', 'prompt_toolkit')\n"
        "heavy += ('rookery.client', 'rookery.bootstrap')\n"
        "print('heavy:', [name for name in heavy if name in sys.modules])"
    )
    python = str(Path(ROOK).with_name("python"))
    done = subprocess.run([python, "-c", code], env=dict(lonely.env), capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("heavy: []")


def test_the_shell_completes_commands_and_agents(rook: Rook) -> None:
    rook("register", "--name", "completable")

    def completed(words: str, index: int) -> str:
        return rook.tried(_ROOK_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(index)).out

    assert "status" in completed("rook sta", 1)
    assert "completable" in completed("rook send compl", 2)
    assert "completable" in completed("rook inbox --as compl", 3)


def test_completion_without_a_hub_offers_nothing_and_does_not_wait(lonely: Rook) -> None:
    began = time.monotonic()
    done = lonely.tried(
        _ROOK_COMPLETE="complete_bash", COMP_WORDS="rook send x", COMP_CWORD="2", ROOKERY_URL="http://127.0.0.1:9"
    )
    assert done.out.strip() == ""
    assert done.err == ""
    assert time.monotonic() - began < 5


def test_completion_can_be_installed(lonely: Rook) -> None:
    assert (
        "_ROOK_COMPLETE"
        in lonely("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1").out
    )


def test_help_needs_no_hub(lonely: Rook) -> None:
    assert "Examples:" in lonely("send", "-h", ROOKERY_URL="http://127.0.0.1:9").out


def test_the_page_about_the_command_line_names_every_command() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [path for path in all_commands() if path and f"rook {' '.join(path)}" not in page] == []


def test_the_page_about_the_command_line_names_every_exit_code() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [known.exit for known in ERRORS.values() if f"\n| {known.exit} |" not in page] == []
