"""Deliveries: one per recipient of a message, and the only mutable part of it.

Two things move, each on its own: the folder (`new → cur → done | dead`), which is the work, and the receipt
ladder (`stored → handed_off → seen → done | dead`, and `replied`), which is what has been proved.
"""

from dataclasses import dataclass, replace
from typing import Literal

from rookery.domain.errors import AlreadyClaimed, AlreadyCompleted

Folder = Literal["new", "cur", "done", "dead"]
Outcome = Literal["done", "dead"]
Rung = Literal["stored", "handed_off", "seen", "done", "dead", "replied"]

FOLDERS: tuple[Folder, ...] = ("new", "cur", "done", "dead")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """`seen_at` set is what "read" means. A claim has no stored end: it holds while its owner gives signs of
    life (`rookery.services.inbox` ends it), and `expiries` counts how often one was lost."""

    message_id: str
    recipient: str
    folder: Folder = "new"
    stored_at: int
    handed_off_at: int | None = None
    handed_off_via: str | None = None
    seen_at: int | None = None
    seen_via: str | None = None
    claimed_at: int | None = None
    claimed_by: str | None = None
    expiries: int = 0
    completed_at: int | None = None
    completed_by: str | None = None
    result: str | None = None
    error: str | None = None
    note: str | None = None
    replied_at: int | None = None
    reply_id: str | None = None
    cleared_at: int | None = None

    @property
    def read(self) -> bool:
        return self.seen_at is not None

    @property
    def unread(self) -> bool:
        """Whether it still waits for its reader. What was finished without being read waits no more."""
        return self.folder == "new" and self.seen_at is None

    @property
    def rung(self) -> Rung:
        """The highest rung that has been proved."""
        if self.replied_at is not None:
            return "replied"
        match self.folder:
            case "done" | "dead" as finished:
                return finished
            case _:
                pass
        if self.seen_at is not None:
            return "seen"
        return "stored" if self.handed_off_at is None else "handed_off"

    def handed_off(self, at: int, via: str) -> "Delivery":
        """Only the first hand-off counts: a resent copy proves nothing new."""
        return self if self.handed_off_at is not None else replace(self, handed_off_at=at, handed_off_via=via)

    def seen(self, at: int, via: str) -> "Delivery":
        return self if self.seen_at is not None else replace(self, seen_at=at, seen_via=via)

    def claimed(self, at: int, by: str, via: str) -> "Delivery":
        """Claiming again what one already holds changes nothing."""
        if self.folder == "cur":
            if self.claimed_by != by:
                raise AlreadyClaimed(self.message_id, self.claimed_by or "somebody")
            return self
        if self.folder != "new":
            raise AlreadyCompleted(self.message_id, self.folder)
        return replace(self.seen(at, via), folder="cur", claimed_at=at, claimed_by=by)

    def claim_expired(self) -> "Delivery":
        return replace(self, folder="new", claimed_at=None, claimed_by=None, expiries=self.expiries + 1)

    def completed(
        self,
        at: int,
        by: str,
        outcome: Outcome,
        *,
        result: str | None = None,
        error: str | None = None,
        note: str | None = None,
    ) -> "Delivery":
        """From `new` as well as from `cur`; somebody else's claim is in the way, a finished one too."""
        if self.folder in ("done", "dead"):
            raise AlreadyCompleted(self.message_id, self.folder)
        if self.folder == "cur" and self.claimed_by != by:
            raise AlreadyClaimed(self.message_id, self.claimed_by or "somebody")
        return replace(
            self, folder=outcome, completed_at=at, completed_by=by, result=result, error=error, note=note
        )

    def replied(self, at: int, reply_id: str) -> "Delivery":
        return self if self.replied_at is not None else replace(self, replied_at=at, reply_id=reply_id)

    def cleared(self, at: int) -> "Delivery":
        return self if self.cleared_at is not None else replace(self, cleared_at=at)
