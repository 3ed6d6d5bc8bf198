"""Moves made by hand. Whoever moves a file between the folders works on the message: the operator, who alone
can write in the directory. Each move becomes the fact that comes nearest to it.
"""

import logging
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from rookery.domain.deliveries import Delivery
from rookery.domain.events import (
    ClaimExpired,
    MessageClaimed,
    MessageCompleted,
    MessageRead,
    MessagesCleared,
    MessageSeen,
    audience,
)
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message
from rookery.domain.principals import BY_HAND
from rookery.ports import Clock, Transaction
from rookery.stores.maildir.letters import Letters

_log = logging.getLogger(__name__)

VIA = "maildir"
_DELIVERIES = (
    "SELECT d.recipient, m.id, d.folder, d.cleared_at FROM deliveries AS d"
    " CROSS JOIN messages AS m ON m.rid = d.message"
)

Suspects = Iterable[tuple[str, str]]
"""Recipient and message id of files that may have been moved."""


@dataclass(frozen=True, slots=True)
class Hands:
    letters: Letters
    clock: Clock

    def suspects(self, tx: Transaction, candidates: Suspects) -> list[tuple[str, str]]:
        """Those whose file is not where the index has it. Cheap; a commit under way makes false ones, so each
        has to be looked at again by `take_over`."""
        return [each for each in candidates if self._moved(tx, *each)]

    def take_over(self, tx: Transaction, candidates: Suspects) -> int:
        """Record what was done by hand. Has to run alone: beside it, files wait to be moved by the commit."""
        taken = 0
        for recipient, message_id in candidates:
            if not self._moved(tx, recipient, message_id):
                continue
            delivery = tx.deliveries.get(message_id, recipient)
            message = tx.messages.get(message_id)
            if delivery is None or message is None:
                _log.warning("Ignoring the file %s in the inbox of %s: no message here", message_id, recipient)
                continue
            self._take_over(tx, message, delivery, self.letters.locate(recipient, message_id))
            taken += 1
        return taken

    def _moved(self, tx: Transaction, recipient: str, message_id: str) -> bool:
        delivery = tx.deliveries.get(message_id, recipient)
        found = self.letters.locate(recipient, message_id)
        if delivery is None:
            return found is not None
        # A file that was taken out of `cleared` by hand is of no interest: the inbox is done with it.
        return delivery.cleared_at is None and found != delivery.folder

    def _take_over(self, tx: Transaction, message: Message, before: Delivery, found: str | None) -> None:
        now = self.clock.now()
        fact: ClaimExpired | MessageClaimed | MessageCompleted | MessagesCleared
        match (before.folder, found):
            case (_, None) | (_, "cleared"):
                after = before.cleared(now)
                fact = MessagesCleared(recipient=before.recipient, message_ids=(message.id,), at=now)
            case ("new", "cur"):
                after = before.claimed(now, OPERATOR, VIA)
                fact = MessageClaimed(
                    message_id=message.id, recipient=before.recipient, by=OPERATOR, via=VIA, at=now
                )
            case ("cur", "new"):
                after = before.claim_expired()
                fact = ClaimExpired(
                    message_id=message.id, recipient=before.recipient, by=before.claimed_by or OPERATOR, at=now
                )
            case ("new" | "cur", "done" | "dead" as outcome):
                by = before.claimed_by or OPERATOR
                after = before.seen(now, VIA).completed(now, by, outcome)
                fact = MessageCompleted(
                    message_id=message.id, recipient=before.recipient, by=by, outcome=outcome, at=now
                )
            case _:
                _log.warning(
                    "Message %s of %s is finished and cannot be taken up again; its file goes back to %s",
                    message.id, before.recipient, before.folder,
                )  # fmt: skip
                self.letters.put_back(before)
                return
        tx.deliveries.save(after)
        owner, both = audience(before.recipient), audience(before.recipient, message.sender)
        tx.journal.record(fact, at=now, by=BY_HAND, audience=owner if isinstance(fact, MessagesCleared) else both)
        if after.seen_at is not None and before.seen_at is None:
            seen = MessageSeen(message_id=message.id, recipient=before.recipient, via=VIA, at=now)
            tx.journal.record(seen, at=now, by=BY_HAND, audience=both)
            read = MessageRead(message_id=message.id, recipient=before.recipient, by=OPERATOR, at=now)
            tx.journal.record(read, at=now, by=BY_HAND, audience=owner)


def strays(connection: sqlite3.Connection, letters: Letters) -> list[tuple[str, str]]:
    """All deliveries whose file is not where the index has it, found by comparing names alone."""
    found = {(recipient, message_id): place for recipient, place, message_id in letters.listing()}
    strays: list[tuple[str, str]] = []
    for recipient, message_id, folder, cleared in connection.execute(_DELIVERIES):
        place = found.pop((recipient, message_id), None)
        if cleared is None and place != folder:
            strays.append((recipient, message_id))
    return [*strays, *found]
