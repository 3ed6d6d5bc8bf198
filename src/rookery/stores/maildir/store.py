"""The maildir store: files are the truth, a SQLite file is their index.

`inbox/<agent>/{tmp,new,cur,done,dead,cleared}/<message id>.json` hold the messages, `journal/*.jsonl` what
happened to them and everything else; `index.db` is made from both, and made again when it is missing or stale.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar, cast

from rookery.clock import SystemClock
from rookery.domain.errors import RookeryError
from rookery.ports import Clock, RebuildReport, Transaction
from rookery.stores.maildir.ground import MaildirGround
from rookery.stores.maildir.hands import Hands, strays
from rookery.stores.maildir.watcher import Watcher
from rookery.stores.tables.ground import Ground
from rookery.stores.tables.store import TableStore
from rookery.stores.tables.transaction import TableTransaction

_log = logging.getLogger(__name__)


class MaildirStore(TableStore):
    """Moves made by hand are noticed while the store is open and, by their traces, when it is opened."""

    kind: ClassVar[str] = "maildir"
    file_name: ClassVar[str] = "index.db"

    def __init__(
        self, directory: Path, *, clock: Clock | None = None, queue_limit: int = 10_000, readers: int = 3
    ) -> None:
        super().__init__(directory, queue_limit=queue_limit, readers=readers)
        self._clock = clock or SystemClock()
        self._anew = False
        self._progress: Callable[[str], None] | None = None
        self._files: MaildirGround | None = None
        self._watcher: Watcher | None = None
        self._moved: set[tuple[str, str]] = set()
        self._taking_over: asyncio.Task[None] | None = None

    def ground(self, *, accept_loss: bool) -> Ground:
        self._files = MaildirGround(
            self.directory, self.file, accept_loss=accept_loss, anew=self._anew, progress=self._progress
        )
        return self._files

    async def _open(self, *, accept_loss: bool) -> None:
        await super()._open(accept_loss=accept_loss)
        try:
            self._watcher = Watcher(self._hands.letters, self._tell)
            self._watcher.start()
            await self._take_over(await self.read(self._strays))
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
        if self._taking_over is not None:
            await self._taking_over
        await super().close()

    async def rebuild(self, progress: Callable[[str], None]) -> RebuildReport:
        """Makes the index anew from the files and the journal. Writes wait for nobody meanwhile: they are
        refused until it is done."""
        was_open = self._writer is not None
        await self.close()
        self._anew, self._progress = True, progress
        try:
            await self._open(accept_loss=True)
        finally:
            self._anew, self._progress = False, None
        try:
            report = await self._rebuild(progress)
        finally:
            if not was_open:
                await self.close()
        return report

    async def _rebuild(self, progress: Callable[[str], None]) -> RebuildReport:
        report = await super()._rebuild(progress)
        files = self._files
        if files is None:
            return report
        damaged = [f"The file of message {message_id} is damaged." for message_id in files.damaged]
        lost = [f"No intact file of message {message_id} is left." for message_id in files.lost]
        return RebuildReport(
            messages=report.messages,
            damaged=list(dict.fromkeys([*report.damaged, *files.damaged])),
            notes=[*report.notes, *damaged, *lost],
        )

    @property
    def _hands(self) -> Hands:
        if self._files is None:
            raise self._closed()
        return Hands(self._files.letters, self._clock)

    def _strays(self, tx: Transaction) -> list[tuple[str, str]]:
        return strays(cast(TableTransaction, tx).connection, self._hands.letters)

    def _tell(self, moved: set[tuple[str, str]]) -> None:
        """On the watcher's thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._notice, moved)

    def _notice(self, moved: set[tuple[str, str]]) -> None:
        self._moved |= moved
        if self._taking_over is None and self._watcher is not None:
            self._taking_over = asyncio.ensure_future(self._take_over_all())

    async def _take_over_all(self) -> None:
        try:
            while self._moved:
                candidates, self._moved = self._moved, set()
                await self._take_over(await self.read(partial(self._hands.suspects, candidates=candidates)))
        finally:
            self._taking_over = None

    async def _take_over(self, candidates: list[tuple[str, str]]) -> None:
        if not candidates or self._writer is None:
            return
        hands = self._hands

        def work(tx: Transaction) -> int:
            return hands.take_over(tx, candidates)

        try:
            await self._writer.submit(work, frees=True, alone=True)
        except RookeryError as error:
            _log.warning("What was moved by hand in %s is left for the next start: %s", self.directory, error)

    def _bytes(self) -> int:
        journal = self.directory / "journal"
        return super()._bytes() + sum(file.stat().st_size for file in journal.glob("*.jsonl"))
