"""Makes the picture in the README from a real hub in a real tmux: `.venv/bin/python scripts/picture.py`."""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from rookery import Client

WIDTH, HEIGHT, BELOW = 94, 27, 7
TARGET = Path(__file__).parent.parent / "docs" / "images" / "terminal.svg"
SHELL = "env PS1='$ ' bash --norc"
ROOK = Path(sys.executable).with_name("rook")

THEME = TerminalTheme(
    (20, 23, 31),
    (222, 226, 235),
    [(44, 50, 64), (255, 138, 138), (76, 201, 174), (240, 173, 78), (125, 162, 255), (176, 138, 219),
     (90, 196, 188), (222, 226, 235)],
    [(102, 112, 133), (255, 138, 138), (76, 201, 174), (240, 173, 78), (125, 162, 255), (176, 138, 219),
     (90, 196, 188), (255, 255, 255)],
)  # fmt: skip

# The frame around the text; nothing in it is fetched from anywhere.
FORMAT = """<svg class="{unique_id}" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}"
  height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        screen = Screen(Path(home))
        try:
            play(screen)
            picture(screen.captured())
        finally:
            screen.close()


class Screen:
    """Two panes on a tmux server of its own: what is typed above, what happens below."""

    def __init__(self, home: Path) -> None:
        self._socket = f"picture-{os.getpid()}"
        self._environment = {
            "PATH": f"{ROOK.parent}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8",
            "TERM": "xterm-256color", "ROOKERY_PORT": "0",
        }  # fmt: skip
        self.data = home / ".local" / "share" / "rookery"
        self.hub = subprocess.Popen([str(ROOK), "up"], env=self._environment, stdout=subprocess.PIPE, text=True)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), SHELL)
        self.tmux("set", "-g", "status", "off")
        self.tmux("split-window", "-v", "-l", str(BELOW), SHELL)

    def close(self) -> None:
        self.tmux("kill-server")
        self.hub.terminate()
        self.hub.wait()

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-L", self._socket, *words]
        return subprocess.run(command, env=self._environment, check=True, capture_output=True, text=True).stdout

    def type(self, pane: int, text: str) -> None:
        self.tmux("send-keys", "-t", f":.{pane}", "-l", text)
        self.tmux("send-keys", "-t", f":.{pane}", "Enter")

    def run(self, *words: str) -> None:
        subprocess.run([str(ROOK), *words], env=self._environment, check=True, capture_output=True)

    def text(self, pane: int) -> str:
        return self.tmux("capture-pane", "-p", "-t", f":.{pane}")

    def captured(self) -> list[Text]:
        """The lines of both panes, with their colours."""
        above, below = (self.tmux("capture-pane", "-p", "-e", "-t", f":.{pane}").splitlines() for pane in (0, 1))
        rule = Text("─" * WIDTH, "bright_black")
        return [*map(Text.from_ansi, above), rule, *map(Text.from_ansi, below)]


def play(screen: Screen) -> None:
    assert screen.hub.stdout is not None
    while "Ctrl-C stops it" not in screen.hub.stdout.readline():
        pass
    screen.run("register", "--name", "builder", "--project", "/srv/parser")
    screen.run("register", "--name", "reviewer", "--role", "leader")
    screen.type(1, "rook watch")
    until(lambda: len(screen.text(1).split()) > 3)
    for command, seen in (
        ("rook agents", "last active"),
        ('rook send reviewer "The parser is green. Please look." --as builder', "waits in"),
        ('rook delegate builder "Draft the release notes"', "handed over"),
        ("rook tasks", "PENDING"),
    ):
        screen.type(0, command)
        until(lambda seen=seen: seen in screen.text(0))
        until(lambda: screen.text(0).rstrip().endswith("$"))
    screen.type(0, 'rook ask reviewer "May it be merged?"')
    until(lambda: "May it be merged?" in screen.text(1))
    with Client(data=screen.data) as hub:
        (question,) = [each for each in hub.inbox("reviewer").messages if each.pattern == "ask"]
        hub.reply(question, "Yes. Tests pass, and I read every line.", sender="reviewer")
    until(lambda: "every line" in screen.text(0) and screen.text(0).rstrip().endswith("$"))


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError("the screen never showed what was waited for")
        time.sleep(0.05)


def picture(lines: list[Text]) -> None:
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    for line in lines:
        console.print(line, no_wrap=True, crop=True)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    console.save_svg(str(TARGET), title="Rookery", theme=THEME, code_format=FORMAT, unique_id="rook")
    print(f"wrote {shlex.quote(str(TARGET))}")


if __name__ == "__main__":
    main()
