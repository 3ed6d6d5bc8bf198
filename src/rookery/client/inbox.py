"""Calls about one inbox. `agent` is whose; None means the caller's own."""

from collections.abc import Sequence

from rookery.client.agents import of
from rookery.client.call import call_of
from rookery.client.exchange import Session, Steps, exchange
from rookery.wire import requests as ask
from rookery.wire import responses as answer
from rookery.wire.requests import Folder, Outcome


def inbox(
    session: Session,
    agent: str | None = None,
    *,
    unread_only: bool = True,
    mark_read: bool = True,
    limit: int = 100,
    folder: Folder | None = None,
    after: str | None = None,
    latest: bool = False,
) -> Steps[answer.InboxResponse]:
    """Messages, oldest first, with the state that they had before this call marked them read.

    They are marked only once they have arrived here: an answer that gets lost loses no message.
    """
    places = {"agent": (yield from of(session, agent))}
    query = {
        "unread_only": unread_only, "mark_read": False, "limit": limit, "folder": folder, "after": after,
        "latest": latest,
    }  # fmt: skip
    call = call_of("list_inbox", answer.InboxResponse, places=places, query=query)
    listing = yield from exchange(session, call)
    unread = [message.message_id for message in listing.messages if not message.read]
    if mark_read and unread:
        yield from _mark(session, places["agent"], unread)
    return listing


def read(session: Session, message_id: str, *, agent: str | None = None) -> Steps[answer.ItemResponse]:
    """One message of the inbox; its owner's reading it marks it read."""
    places = {"agent": (yield from of(session, agent)), "message_id": message_id}
    return (yield from exchange(session, call_of("read_message", answer.ItemResponse, places=places)))


def claim(
    session: Session, message_id: str | None = None, *, agent: str | None = None
) -> Steps[answer.ClaimResponse]:
    """Take a message to work on: the one named, else the most urgent and oldest open one. Exactly one caller
    wins. `message` is None when nothing is open.

    Without an id it is not repeated if the hub may have heard it: each time could take another message.
    """
    places = {"agent": (yield from of(session, agent))}
    call = call_of(
        "claim_next", answer.ClaimResponse, places=places, body=ask.ClaimRequest(message_id=message_id),
        repeatable=message_id is not None,
    )  # fmt: skip
    return (yield from exchange(session, call))


def complete(
    session: Session,
    message_id: str,
    status: Outcome = "done",
    *,
    result: str | None = None,
    error: str | None = None,
    note: str | None = None,
    agent: str | None = None,
) -> Steps[answer.ItemResponse]:
    """Finish a message as done or dead. Saying the same twice is fine."""
    places = {"agent": (yield from of(session, agent)), "message_id": message_id}
    how = ask.CompleteRequest(status=status, result=result, error=error, note=note)
    call = call_of("complete_message", answer.ItemResponse, places=places, body=how, repeatable=True)
    return (yield from exchange(session, call))


def mark_read(
    session: Session, message_ids: Sequence[str], *, agent: str | None = None
) -> Steps[answer.MarkedResponse]:
    """Says how many were unread until now."""
    return (yield from _mark(session, (yield from of(session, agent)), message_ids))


def clear(
    session: Session, message_ids: Sequence[str] | None = None, *, agent: str | None = None
) -> Steps[answer.ClearedResponse]:
    """Take messages out of the inbox, all of them unless some are named. The hub keeps them for the others.

    Clearing all is not repeated if the hub may have heard it: more may have come in between.
    """
    places = {"agent": (yield from of(session, agent))}
    named = None if message_ids is None else list(message_ids)
    if named == []:
        return answer.ClearedResponse(agent_id=places["agent"], cleared=0, message="Nothing was named.")
    call = call_of(
        "clear_inbox", answer.ClearedResponse, places=places, query={"message_ids": named},
        repeatable=named is not None,
    )  # fmt: skip
    return (yield from exchange(session, call))


def unread(session: Session, agent: str | None = None) -> Steps[int]:
    """How many messages are unread."""
    places = {"agent": (yield from of(session, agent))}
    counted = yield from exchange(session, call_of("unread_count", answer.UnreadResponse, places=places))
    return counted.unread_count


def stats(session: Session, agent: str | None = None) -> Steps[answer.InboxStatsResponse]:
    """How many messages lie in each folder."""
    places = {"agent": (yield from of(session, agent))}
    return (yield from exchange(session, call_of("inbox_stats", answer.InboxStatsResponse, places=places)))


def queue_stats(session: Session) -> Steps[answer.QueueStatsResponse]:
    """Counts over all inboxes."""
    return (yield from exchange(session, call_of("queue_stats", answer.QueueStatsResponse)))


def _mark(session: Session, owner: str, message_ids: Sequence[str]) -> Steps[answer.MarkedResponse]:
    call = call_of(
        "mark_read", answer.MarkedResponse, places={"agent": owner},
        body=ask.MarkReadRequest(message_ids=list(message_ids)), repeatable=True,
    )  # fmt: skip
    return (yield from exchange(session, call))
