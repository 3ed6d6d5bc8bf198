"""What time does to an inbox: claims are lost, messages outlive their time."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from rookery.domain.deliveries import Delivery
from rookery.domain.errors import StorageDamaged
from rookery.domain.events import ClaimExpired, audience
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message
from rookery.domain.principals import THE_HUB
from rookery.ports import Clock, InboxItem, Store, Transaction
from rookery.services.closing import Closing, Completion
from rookery.services.inbox import stored_message
from rookery.services.notices import Notices, known_as

_SWEPT_AT_ONCE = 500
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRules:
    """A claim whose owner is silent for `silence` milliseconds is lost; after `most` losses it is dead."""

    silence: int = 15 * 60 * 1000
    most: int = 5


class Expiry:
    def __init__(self, store: Store, clock: Clock, notices: Notices, closing: Closing, rules: ClaimRules) -> None:
        self._store = store
        self._clock = clock
        self._notices = notices
        self._closing = closing
        self._rules = rules
        self._damaged: set[str] = set()

    async def expire_claims(self) -> int:
        """Give back what silent agents hold; what was lost too often is dead, and its sender is told."""
        moment = self._clock.now() - self._rules.silence

        def lost(tx: Transaction) -> Sequence[Delivery]:
            return tx.deliveries.claims_without_life_since(moment, _SWEPT_AT_ONCE)

        def work(tx: Transaction) -> int:
            now = self._clock.now()
            items = self._intact(tx, lost(tx))
            for item in items:
                self._lose_claim(tx, item, now)
            return len(items)

        return await self._store.write(work) if await self._store.read(lost) else 0

    def _lose_claim(self, tx: Transaction, item: InboxItem, now: int) -> None:
        message, delivery = item.message, item.delivery.claim_expired()
        holder = item.delivery.claimed_by or OPERATOR
        tx.deliveries.save(delivery)
        fact = ClaimExpired(message_id=message.id, recipient=delivery.recipient, by=holder, at=now)
        tx.journal.record(fact, at=now, by=THE_HUB, audience=audience(delivery.recipient, message.sender))
        if delivery.expiries >= self._rules.most:
            reason = f"claimed and lost {delivery.expiries} times, last by {known_as(tx, holder)}"
            self._bury(tx, InboxItem(message, delivery), now, reason)

    async def expire_messages(self) -> int:
        """What its sender gave a ttl and nobody took in time is dead, and the sender is told."""

        def late(tx: Transaction) -> Sequence[Delivery]:
            return tx.deliveries.expired(self._clock.now(), _SWEPT_AT_ONCE)

        def work(tx: Transaction) -> int:
            now = self._clock.now()
            items = self._intact(tx, late(tx))
            for item in items:
                self._bury(tx, item, now, "its time to live passed before anybody took it")
            return len(items)

        return await self._store.write(work) if await self._store.read(late) else 0

    def _bury(self, tx: Transaction, item: InboxItem, now: int, reason: str) -> None:
        dead = Completion(outcome="dead", error=reason)
        self._closing.close(tx, item, dead, by=THE_HUB, owner=None, now=now)
        if item.message.type == "broadcast":
            return  # a thousand recipients would make a thousand notices; the journal tells of each
        recipient = known_as(tx, item.delivery.recipient)
        self._notices.tell_sender(tx, item.message, now, f"Your message to {recipient} is dead: {reason}.")

    def _intact(self, tx: Transaction, deliveries: Sequence[Delivery]) -> list[InboxItem]:
        """One damaged message must not keep all others from expiring; it is told of once."""
        items: list[InboxItem] = []
        for delivery in deliveries:
            message = self._message(tx, delivery.message_id)
            if message is not None:
                items.append(InboxItem(message, delivery))
        return items

    def _message(self, tx: Transaction, message_id: str) -> Message | None:
        try:
            return stored_message(tx, message_id)
        except StorageDamaged as damage:
            if message_id not in self._damaged:
                self._damaged.add(message_id)
                _log.warning("%s", damage.message)
            return None
