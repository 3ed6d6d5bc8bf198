"""What an agent does with the messages it has: read, claim, complete, clear, search."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from rookery.domain.channels import channel_of
from rookery.domain.conversations import direct_conversation
from rookery.domain.deliveries import Delivery, Folder
from rookery.domain.errors import MessageNotFound, StorageFull
from rookery.domain.events import MessageClaimed, MessagesCleared, MessagesPruned, audience
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message
from rookery.domain.principals import UNGUARDED_OPERATOR, Principal
from rookery.ports import Clock, InboxItem, InboxQuery, InboxStats, QueueStats, Store, Transaction
from rookery.services.access import agent_named, inbox_owner, require_operator, speaker
from rookery.services.closing import Closing, Completion
from rookery.services.seeing import record_seen
from rookery.services.tracing import attend


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    owner: str
    items: Sequence[InboxItem]
    unread: int


class Inbox:
    def __init__(self, store: Store, clock: Clock, closing: Closing) -> None:
        self._store = store
        self._clock = clock
        self._closing = closing

    # -- looking -------------------------------------------------------------------------------------

    async def list(
        self,
        by: Principal,
        agent: str,
        *,
        unread_only: bool = True,
        mark_read: bool = False,
        folder: Folder | None = None,
        limit: int = 100,
        after: str | None = None,
        latest: bool = False,
        via: str = "rest",
    ) -> Listing:
        """Messages in order of arrival, with the state they had before this call marked any of them read."""

        def look(tx: Transaction) -> Listing:
            owner = inbox_owner(tx, by, agent)
            now = self._clock.now()
            query = InboxQuery(
                recipient=owner, unread_only=unread_only, folder=folder, limit=limit, after=after, now=now,
                order="latest" if latest else "arrival",
            )  # fmt: skip
            return Listing(
                owner=owner, items=tx.deliveries.inbox(query), unread=tx.deliveries.unread_count(owner, now)
            )

        listing = await self._store.read(look)
        unread = [item for item in listing.items if not item.delivery.read]
        if mark_read and unread:
            with suppress(StorageFull):  # they stay unread and come again, which is better than not at all
                await self._store.write(lambda tx: self._mark_listed(tx, unread, by, via))
        return listing

    def _mark_listed(self, tx: Transaction, items: Sequence[InboxItem], by: Principal, via: str) -> None:
        """What was cleared or read since it was listed is passed over: that is no fault of the listing."""
        now = self._clock.now()
        for item in items:
            delivery = tx.deliveries.get(item.message.id, item.delivery.recipient)
            if delivery is not None and delivery.cleared_at is None and not delivery.read:
                _mark_read(tx, InboxItem(item.message, delivery), now, by, via)
        attend(tx, items[-1].message, [items[-1].delivery.recipient], now)

    async def read(
        self, by: Principal, agent: str, message_id: str, *, mark_read: bool = True, via: str = "rest"
    ) -> InboxItem:
        """One message, and the proof that it was seen when its owner is the one who reads it."""

        def look(tx: Transaction) -> InboxItem:
            return _item(tx, inbox_owner(tx, by, agent), message_id)

        item = await self._store.read(look)
        if not mark_read or item.delivery.read or by.id != item.delivery.recipient:
            return item
        with suppress(StorageFull):  # it stays unread then
            await self.mark_read(by, agent, [message_id], via=via)
        return await self._store.read(look)

    async def thread(self, by: Principal, message_id: str, limit: int = 200) -> Sequence[Message]:
        """The message and all that hangs on it, as far as the caller was a party to it."""

        def look(tx: Transaction) -> Sequence[Message]:
            message = visible_message(tx, by, message_id)
            return [m for m in tx.messages.thread(message.thread, limit=limit) if _may_see(tx, by, m)]

        return await self._store.read(look)

    async def conversation(
        self, by: Principal, other: str, *, party: str | None = None, before: int | None = None, limit: int = 20
    ) -> tuple[str, Sequence[Message]]:
        """What two parties said to one another: the newest messages below a number, oldest first. The operator
        may look at that of any `party`."""

        def look(tx: Transaction) -> tuple[str, Sequence[Message]]:
            one = speaker(tx, by, party)
            another = OPERATOR if other == OPERATOR else agent_named(tx, other).id
            name = direct_conversation(one, another)
            return name, tx.messages.history(name, before=before, limit=limit)

        return await self._store.read(look)

    async def deliveries(self, by: Principal, message_id: str) -> tuple[Message, Sequence[Delivery]]:
        """The receipts of a message: all of them for its sender and the operator, one's own otherwise."""

        def look(tx: Transaction) -> tuple[Message, Sequence[Delivery]]:
            message = visible_message(tx, by, message_id)
            deliveries = tx.deliveries.of_message(message_id)
            if not by.is_operator and by.id != message.sender:
                deliveries = [d for d in deliveries if d.recipient == by.id]
            return message, deliveries

        return await self._store.read(look)

    async def unread_count(self, by: Principal, agent: str) -> tuple[str, int]:
        def look(tx: Transaction) -> tuple[str, int]:
            owner = inbox_owner(tx, by, agent)
            return owner, tx.deliveries.unread_count(owner, self._clock.now())

        return await self._store.read(look)

    async def stats(self, by: Principal, agent: str) -> tuple[str, InboxStats]:
        def look(tx: Transaction) -> tuple[str, InboxStats]:
            owner = inbox_owner(tx, by, agent)
            return owner, tx.deliveries.stats(owner)

        return await self._store.read(look)

    async def queue_stats(self) -> QueueStats:
        return await self._store.read(lambda tx: tx.deliveries.queue_stats())

    async def search(
        self, by: Principal, text: str, *, agent: str | None = None, limit: int = 50
    ) -> Sequence[Message]:
        """The caller's own messages; the operator searches everything, or what one agent can see."""

        def look(tx: Transaction) -> Sequence[Message]:
            party = by.id if not by.is_operator else None
            if agent is not None:
                party = inbox_owner(tx, by, agent)
            return tx.messages.search(text, party=party, limit=limit)

        return await self._store.read(look)

    # -- working -------------------------------------------------------------------------------------

    async def mark_read(
        self, by: Principal, agent: str, message_ids: Sequence[str], *, via: str = "rest"
    ) -> tuple[str, int]:
        """Returns whose inbox it was and how many were unread until now."""

        def work(tx: Transaction) -> tuple[str, int]:
            owner = inbox_owner(tx, by, agent)
            now = self._clock.now()
            marked = 0
            for message_id in dict.fromkeys(message_ids):
                item = _item(tx, owner, message_id)
                if not item.delivery.read:
                    _mark_read(tx, item, now, by, via)
                    attend(tx, item.message, [owner], now)
                    marked += 1
            return owner, marked

        return await self._store.write(work)

    async def claim(
        self, by: Principal, agent: str, message_id: str | None = None, *, via: str = "rest"
    ) -> tuple[str, InboxItem | None]:
        """Take one message to work on; without an id the most urgent, oldest open one, or None if none is
        open. Exactly one caller wins; the others hear who did."""

        def work(tx: Transaction) -> tuple[str, InboxItem | None]:
            owner = inbox_owner(tx, by, agent)
            now = self._clock.now()
            if message_id is None:
                open_delivery = tx.deliveries.next_open(owner, now)
                if open_delivery is None:
                    return owner, None
                item = _item(tx, owner, open_delivery.message_id)
            else:
                item = _item(tx, owner, message_id)
            return owner, _claim(tx, item, by, _claimer(by, owner), now, via)

        return await self._store.write(work)

    async def complete(
        self, by: Principal, agent: str, message_id: str, how: Completion, *, via: str = "rest"
    ) -> InboxItem:
        """Finish a message as done or dead. Saying the same twice is fine; the operator may finish any."""

        def work(tx: Transaction) -> InboxItem:
            owner = inbox_owner(tx, by, agent)
            item = _item(tx, owner, message_id)
            delivery = item.delivery
            said = (how.outcome, how.result, how.error, how.note)
            if (delivery.folder, delivery.result, delivery.error, delivery.note) == said:
                return item
            now = self._clock.now()
            finisher = delivery.claimed_by if by.is_operator else by.id
            if not delivery.read:
                attend(tx, item.message, [owner], now)
            return self._closing.close(tx, item, how, by=by, owner=finisher, now=now, via=via)

        return await self._store.write(work, frees=True)

    async def clear(self, by: Principal, agent: str, message_ids: Sequence[str] | None = None) -> tuple[str, int]:
        """Take messages out of the inbox, all of them unless some are named. Ids it does not hold count as
        nothing: clearing twice is fine."""

        def work(tx: Transaction) -> tuple[str, int]:
            owner = inbox_owner(tx, by, agent)
            now = self._clock.now()
            deliveries = tx.deliveries.uncleared(owner, message_ids)
            if deliveries:
                tx.deliveries.save_many([delivery.cleared(now) for delivery in deliveries])
                ids = tuple(delivery.message_id for delivery in deliveries)
                fact = MessagesCleared(recipient=owner, message_ids=ids, at=now)
                tx.journal.record(fact, at=now, by=by, audience=audience(owner))
            return owner, len(deliveries)

        return await self._store.write(work, frees=True)

    async def prune(self, by: Principal, *, before: int, folders: Sequence[Folder]) -> int:
        """Remove finished and cleared messages for good. Only the operator may."""
        require_operator(by, "prune")

        def work(tx: Transaction) -> int:
            count = tx.prune(before=before, folders=folders)
            if count:
                fact = MessagesPruned(count=count, before=before)
                tx.journal.record(fact, at=self._clock.now(), by=by, audience=())
            return count

        return await self._store.write(work, frees=True)


def visible_message(tx: Transaction, by: Principal, message_id: str) -> Message:
    message = tx.messages.get(message_id)
    if message is None or not _may_see(tx, by, message):
        raise MessageNotFound(message_id)
    return message


def _claimer(by: Principal, owner: str) -> str:
    """Where nobody has a token, whoever works on an inbox is taken for its owner."""
    return owner if by == UNGUARDED_OPERATOR else by.id


def _claim(tx: Transaction, item: InboxItem, by: Principal, claimer: str, now: int, via: str) -> InboxItem:
    before = item.delivery
    after = before.claimed(now, claimer, via)
    if after is before:
        return item
    tx.deliveries.save(after)
    fact = MessageClaimed(message_id=item.message.id, recipient=after.recipient, by=claimer, via=via, at=now)
    tx.journal.record(fact, at=now, by=by, audience=audience(after.recipient, item.message.sender))
    attend(tx, item.message, [after.recipient], now)
    if not before.read:
        record_seen(tx, item, now, by, via)
    return InboxItem(item.message, after)


def _mark_read(tx: Transaction, item: InboxItem, now: int, by: Principal, via: str) -> None:
    tx.deliveries.save(item.delivery.seen(now, via))
    record_seen(tx, item, now, by, via)


def _item(tx: Transaction, owner: str, message_id: str) -> InboxItem:
    delivery = tx.deliveries.get(message_id, owner)
    if delivery is None or delivery.cleared_at is not None:
        raise MessageNotFound(message_id)
    return InboxItem(stored_message(tx, message_id), delivery)


def stored_message(tx: Transaction, message_id: str) -> Message:
    message = tx.messages.get(message_id)
    if message is None:
        raise MessageNotFound(message_id)
    return message


def _may_see(tx: Transaction, by: Principal, message: Message) -> bool:
    return (
        by.is_operator
        or by.id in (message.sender, message.recipient)
        or tx.deliveries.get(message.id, by.id) is not None
        or _hears(tx, by, message)
    )


def _hears(tx: Transaction, by: Principal, message: Message) -> bool:
    """Members see all of a channel, also what was said before they came."""
    name = channel_of(message.conversation)
    channel = None if name is None else tx.channels.get(name)
    return channel is not None and by.id in channel.members
