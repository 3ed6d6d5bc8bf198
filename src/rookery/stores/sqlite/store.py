"""The default store: one SQLite file in write-ahead mode, synced at every commit."""

from typing import ClassVar

from rookery.stores.tables.ground import Ground
from rookery.stores.tables.store import TableStore


class SqliteStore(TableStore):
    """`<directory>/rookery.db`, and beside it the lock, the high-water mark and the reserve."""

    kind: ClassVar[str] = "sqlite"
    file_name: ClassVar[str] = "rookery.db"

    def ground(self, *, accept_loss: bool) -> Ground:
        return Ground(self.directory, self.file, accept_loss=accept_loss)
