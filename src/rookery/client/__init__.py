"""What programs import to talk to a hub: `Client`, `AsyncClient`, and the errors they raise."""

from typing import TYPE_CHECKING, Any

from rookery.client.address import Address, Directions
from rookery.client.blocking import Client
from rookery.client.hub import Event, EventPage
from rookery.client.messages import metadata_of
from rookery.wire.errors import RookeryError

if TYPE_CHECKING:
    from rookery.client.awaiting import AsyncClient

__all__ = [
    "Address",
    "AsyncClient",
    "Client",
    "Directions",
    "Event",
    "EventPage",
    "RookeryError",
    "metadata_of",
]


def __getattr__(name: str) -> Any:
    """The async client brings an event loop and its WebSocket along; the command line needs neither."""
    if name != "AsyncClient":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rookery.client.awaiting import AsyncClient

    return AsyncClient
