"""The stores that a scenario runs on."""

STORES = ("sqlite", "maildir")
