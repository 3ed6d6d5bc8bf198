"""On a real terminal: colours, the banner, Ctrl-C, and messages that try to misbehave."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery import Client
from tests.support.hub_process import HubProcess
from tests.support.rook import ROOK
from tests.support.terminal import Terminal


@pytest.fixture
def terminal(shared_hub: HubProcess, tmp_path: Path) -> Iterator[Terminal]:
    env = shared_hub.environment()
    wanted = {name: env[name] for name in ("PATH", "HOME", "ROOKERY_DATA")}
    with Terminal(tmp_path / "tmux", env=wanted) as terminal:
        terminal.type(f"alias rook={ROOK}")
        terminal.wait_for("$")
        yield terminal


@pytest.fixture
def operator(shared_hub: HubProcess) -> Iterator[Client]:
    with Client(data=shared_hub.data) as client:
        yield client


def test_a_hub_started_by_hand_shows_its_banner_and_stops_on_ctrl_c(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start(f"rook up --port 0 --data {tmp_path / 'own'}")
    screen = terminal.wait_for("Ctrl-C stops it.", colours=True)
    assert re.search(r"\x1b\[[\d;]*32m[^\x1b]*Rookery .* is up", screen)
    assert "http://127.0.0.1:" in screen
    assert f"--data {tmp_path / 'own'}" in terminal.screen().replace("\n", "")
    terminal.press("C-c")
    screen = terminal.ended(0)
    assert "everything it acknowledged is on disk" in screen
    assert "Traceback" not in screen


def test_tables_have_colours_on_a_terminal_and_none_with_no_color(terminal: Terminal, operator: Client) -> None:
    operator.register(name="colourful")
    terminal.start("rook agents")
    terminal.ended(0)
    assert re.search(r"\x1b\[[\d;]*m *colourful", terminal.screen(colours=True))
    terminal.start("NO_COLOR=1 rook agents")
    terminal.ended(0)
    line = next(line for line in terminal.screen(colours=True).splitlines() if "colourful" in line)
    assert "\x1b" not in line


def test_a_hostile_message_cannot_move_the_cursor_or_forge_a_line(terminal: Terminal, operator: Client) -> None:
    target = operator.register(name="victim")
    attack = "\x1b[2J\x1b[1;1H\x1b[31mOWNED\x1b]0;title\x07\rFORGED\n"
    operator.send(target.id, attack + " " * 98 + "rook: all is well [bold]x[/bold]")
    terminal.start("echo top line; rook inbox victim")
    lines = terminal.ended(0).splitlines()
    assert lines[0] == "top line"
    assert any(line.startswith("│") and "OWNED" in line for line in lines)
    assert "│ FORGED" in lines
    assert not any(line.startswith(("FORGED", "rook:", "OWNED", " ")) for line in lines)
    assert any(line.startswith("│") and "rook: all is well [bold]x[/bold]" in line for line in lines)


def test_watching_ends_quietly_on_ctrl_c(terminal: Terminal, operator: Client) -> None:
    terminal.start("rook watch")
    terminal.wait_for("Watching. Ctrl-C stops it.")
    sender = operator.register(name="talker")
    sender.send("operator", "seen live")
    terminal.wait_for("│ seen live")
    terminal.press("C-c")
    screen = terminal.ended(130)
    assert "Traceback" not in screen
    assert "rook:" not in screen


def test_watching_says_when_the_hub_goes_and_when_it_is_back(hub: HubProcess, terminal: Terminal) -> None:
    terminal.start(f"rook watch --data {hub.data}")
    terminal.wait_for("Watching. Ctrl-C stops it.")
    hub.restart()
    terminal.wait_for("The hub is away")
    terminal.wait_for("The hub is back.")
    terminal.press("C-c")
    terminal.ended(130)


def test_a_person_is_asked_before_something_is_gone(terminal: Terminal, operator: Client) -> None:
    agent = operator.register(name="doomed")
    terminal.start("rook delete doomed")
    terminal.wait_for("Delete doomed")
    terminal.type("n")
    assert "Nothing was done." in terminal.ended(1)
    assert operator.agent(agent.id).agent.name == "doomed"
    terminal.start("rook delete doomed")
    terminal.wait_for("Delete doomed")
    terminal.press("C-c")
    terminal.ended(130)
    terminal.start("rook delete doomed")
    terminal.wait_for("Delete doomed")
    terminal.type("y")
    assert "doomed is gone." in terminal.ended(0)


def test_an_error_is_one_line_with_a_red_mark(terminal: Terminal) -> None:
    terminal.start("rook send nobody-here hello")
    terminal.ended(3)
    assert re.search(r"\x1b\[[\d;]*31m[^\x1b]*rook:", terminal.screen(colours=True))


def test_a_text_is_asked_for_rather_than_waited_for(terminal: Terminal) -> None:
    terminal.start("rook send somebody")
    assert "There is no text" in terminal.ended(2)


def test_long_work_shows_how_it_goes_and_leaves_a_clean_line(terminal: Terminal, tmp_path: Path) -> None:
    program = tmp_path / "work.py"
    program.write_text(
        "import time\nfrom rookery.cli.progress import Progress\n"
        "with Progress() as progress:\n    progress.tell('Checking ...')\n    time.sleep(3)\n"
    )
    terminal.start(f"{Path(ROOK).with_name('python')} {program}")
    terminal.wait_for("Checking ... 1 s")
    assert "Checking" not in terminal.ended(0)
