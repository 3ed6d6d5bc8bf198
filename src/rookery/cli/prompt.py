"""Where a person types while messages arrive above: a half-typed line stays whole, and no words get lost."""

import asyncio
import os
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from rookery.cli.display import say
from rookery.cli.text import one_line
from rookery.domain.colours import colour_of
from rookery.domain.errors import RookeryError

if TYPE_CHECKING:
    from rookery.cli.talk import Talk

_HISTORY = "chat-history"
_HELP = """\
Enter sends; Alt-Enter or Ctrl-J makes a new line; what is pasted stays one message.
↑ brings back what you said, Ctrl-R searches it. Ctrl-C clears the line, and once more leaves.
/help   this
/quit   leaves, as Ctrl-D does"""


class Prompt:
    """Sends in the order in which it was typed, one after the other."""

    def __init__(self, talk: "Talk", directory: Path) -> None:
        self._talk = talk
        self._typed: asyncio.Queue[str] = asyncio.Queue()
        self._leaving = False
        self._interrupted = False
        name = talk.names.of(talk.peer)
        message: StyleAndTextTuples = [(f"bold {colour_of(name).text}", one_line(name)), ("", " > ")]
        self._session: PromptSession[str] = PromptSession(
            message,
            multiline=True,
            erase_when_done=True,
            prompt_continuation=lambda width, _line, _soft: " " * (width - 2) + "| ",
            history=private_history(directory),
            key_bindings=self._keys(),
        )

    async def run(self, history: int) -> bool:
        """Until the person leaves, and whether that was with Ctrl-C. Raises what ends the stream."""
        with patch_stdout(raw=True):
            async with self._talk.begun(history) as arrivals:
                say("Enter sends, Ctrl-D leaves, /help says more.", "dim")
                await self._until_left(arrivals)
        return self._interrupted

    async def _until_left(self, arrivals: Awaitable[None]) -> None:
        listening = asyncio.ensure_future(arrivals)
        sending = asyncio.ensure_future(self._send_on())
        typing = asyncio.ensure_future(self._session.prompt_async())
        try:
            done, _ = await asyncio.wait([listening, sending, typing], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except EOFError:
            if not self._interrupted:
                await self._finish(sending)
        finally:
            for task in (listening, sending, typing):
                task.cancel()
            await asyncio.gather(listening, sending, typing, return_exceptions=True)

    async def _finish(self, sending: "asyncio.Future[None]") -> None:
        """What was typed is sent before one leaves, and shown."""
        finished = asyncio.ensure_future(self._typed.join())
        await asyncio.wait([finished, sending], return_when=asyncio.FIRST_COMPLETED)
        finished.cancel()
        await self._talk.heard_own()

    async def _send_on(self) -> None:
        while True:
            text = await self._typed.get()
            try:
                await self._talk.say(text)
            except RookeryError as refused:
                self._give_back(text, refused)
            finally:
                self._typed.task_done()

    def _give_back(self, text: str, refused: RookeryError) -> None:
        say(f"Not sent: {one_line(refused.message)}", "red")
        buffer = self._session.default_buffer
        if buffer.text:
            say("Your words are in the history: ↑ brings them back.", "red")
        else:
            buffer.text = text
            buffer.cursor_position = len(text)

    # -- keys ----------------------------------------------------------------------------------------

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        here = has_focus(DEFAULT_BUFFER)
        keys.add("enter", filter=here)(self._enter)
        keys.add("escape", "enter", filter=here)(_new_line)
        keys.add("c-j", filter=here)(_new_line)
        keys.add("c-c")(self._interrupt)
        keys.add("<sigint>")(self._leave)
        return keys

    def _enter(self, event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        text = buffer.text
        self._leaving = False
        if not text.strip():
            buffer.reset()
            return
        match text.rstrip():
            case "/quit":
                event.app.exit(exception=EOFError)
                return
            case "/help":
                say(_HELP, "dim")
            case word if word.startswith("/") and word[1:].isalpha():
                say(
                    f"There is no command {one_line(word)}; /help lists them. Begin with a space to say it.", "red"
                )
                return
            case _:
                self._typed.put_nowait(text.strip("\n"))
                buffer.append_to_history()
        buffer.reset()

    def _interrupt(self, event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if self._leaving and not buffer.text:
            self._leave(event)
            return
        self._leaving = True
        if buffer.text:
            buffer.reset()
        else:
            say("Ctrl-C once more leaves.", "dim")

    def _leave(self, event: KeyPressEvent) -> None:
        self._interrupted = True
        event.app.exit(exception=EOFError)


def _new_line(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")


def private_history(directory: Path) -> History:
    """What one said, for one's own eyes. Where it cannot be kept, it is for this time only."""
    file = directory / _HISTORY
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.fchmod(handle, 0o600)
        finally:
            os.close(handle)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(file))
