"""Every store keeps the contract of `rookery.ports`."""

from pathlib import Path

from rookery.ports import Store
from rookery.stores.maildir import MaildirStore
from rookery.stores.sqlite import SqliteStore
from rookery.testing.stores import StoreContract


class TestSqlite(StoreContract):
    def make_store(self, directory: Path) -> Store:
        return SqliteStore(directory)


class TestMaildir(StoreContract):
    def make_store(self, directory: Path) -> Store:
        return MaildirStore(directory)
