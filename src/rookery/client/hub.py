"""Calls about the hub itself: its state, its journal, its upkeep."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from rookery.client.call import call_of
from rookery.client.exchange import Session, Steps, exchange
from rookery.wire import requests as ask
from rookery.wire import responses as answer
from rookery.wire.requests import Folder

Event = dict[str, Any]
"""One entry of the journal: `type`, `position`, `timestamp` and what belongs to the type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """`position` is the cursor for the next page; `more` says that it would not come back empty."""

    events: list[Event]
    position: int
    more: bool


def status(session: Session) -> Steps[answer.StatusResponse]:
    """What the hub is and holds."""
    return (yield from exchange(session, call_of("status", answer.StatusResponse)))


def health(session: Session) -> Steps[answer.HealthResponse]:
    """Whether the hub takes messages. Needs no token; raises what is in the way."""
    return (yield from exchange(session, call_of("healthz", answer.HealthResponse)))


def events(session: Session, *, after: int = 0, limit: int = 100, wait: float = 0.0) -> Steps[EventPage]:
    """A page of the journal, as far as the caller may see it. `wait` holds the answer up to that many
    seconds for a first new entry."""
    query = {"after": after, "limit": limit, "wait": wait}
    call = call_of("events", answer.EventsResponse, query=query, patient=wait)
    page = yield from exchange(session, call)
    found = [msgspec.json.decode(event, type=Event) for event in page.events]
    return EventPage(events=found, position=page.position, more=page.more)


def prune(
    session: Session, older_than: float, folders: Sequence[Folder] = ("done", "dead")
) -> Steps[answer.PrunedResponse]:
    """Remove finished and cleared messages older than that many seconds, for good. For the operator."""
    wanted = ask.PruneRequest(older_than_seconds=older_than, folders=list(folders))
    return (yield from exchange(session, call_of("prune", answer.PrunedResponse, body=wanted)))
