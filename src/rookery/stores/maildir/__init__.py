"""The store you can `ls`: one JSON file for each delivery, moved between folders."""

from rookery.stores.maildir.store import MaildirStore

__all__ = ["MaildirStore"]
