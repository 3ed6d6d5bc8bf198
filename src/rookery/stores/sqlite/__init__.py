"""The default store: one SQLite file."""

from rookery.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
