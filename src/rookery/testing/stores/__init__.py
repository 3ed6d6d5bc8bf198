"""What every store must do, as tests that a store's own test class inherits:

    from rookery.testing.stores import StoreContract

    class TestMyStore(StoreContract):
        def make_store(self, directory: Path) -> Store:
            return MyStore(directory)

Run with pytest and pytest-asyncio in auto mode.
"""

from rookery.testing.stores.contract import StoreContract

__all__ = ["StoreContract"]
