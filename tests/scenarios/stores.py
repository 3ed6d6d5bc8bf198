"""The stores that a scenario runs on."""

try:
    import rookery.stores.maildir.store  # noqa: F401

    STORES = ("sqlite", "maildir")
except ImportError:
    STORES = ("sqlite",)
