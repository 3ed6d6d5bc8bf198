"""From the journal to whoever listens. A commit announces a position; each listener reads from its cursor.

A subscription first reads what it missed, page by page and no faster than its consumer takes it, then goes
live: from then on the relay puts each new entry, read once for all, into the buffers of those it concerns.
A buffer that fills up ends the subscription: its owner can resume from its cursor and has missed nothing.
"""

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence

from rookery.domain.deliveries import Delivery
from rookery.domain.errors import InvalidRequest, RookeryError
from rookery.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    ApprovalUsed,
    AskEnded,
    AskOpened,
    Entry,
    MessageCompleted,
    MessageHandedOff,
    MessagesCleared,
    MessageSent,
    TaskEnded,
    TaskOpened,
    TaskPosted,
    TaskStarted,
    audience,
)
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message
from rookery.domain.principals import THE_HUB
from rookery.ports import Clock, Store, Transaction
from rookery.services.tracing import attend

_PAGE = 256
_PAGE_TEXT = 64 << 10
"""Characters of text in a page that one subscription catches up with, for each may be held as long as a peer
does not read."""
_MOST_TEXT = 4 << 20
"""Characters of text that one subscription may hold back, besides the number of its entries."""

_HandOffs = dict[tuple[str, str], set[str]]
_log = logging.getLogger(__name__)


class FellBehind(Exception):
    """The consumer was too slow for its buffer. `position` is where it can resume."""

    def __init__(self, position: int) -> None:
        super().__init__(f"too slow; resume after position {position}")
        self.position = position


def beyond_the_end(after: int, end: int) -> InvalidRequest:
    """A cursor that is not of this journal. To wait until the journal has grown past it would lose entries."""
    return InvalidRequest(
        f"Position {after} is beyond the end of the journal, {end}; resume from a position that this hub gave "
        f"you, or from {end} for what is new from now on.",
        position=end,
    )


class Subscription:
    """The entries that concern one agent, or all of them for the operator, from a cursor on.

    `listener` is whose it is, `view` whose entries it gets: the operator may look over an agent's shoulder.
    """

    def __init__(
        self, relay: "Relay", listener: str, view: str, after: int, capacity: int, *, takes_messages: bool
    ) -> None:
        self._relay = relay
        self.listener = listener
        self.view = view
        self.takes_messages = takes_messages
        self.position = after
        self._capacity = capacity
        self._buffer: deque[Entry] = deque()
        self._buffered_text = 0
        self.on_overflow: Callable[[], None] | None = None
        self._ready = asyncio.Event()
        self._live = False
        self._fell_behind = False
        self.closed = False

    async def batch(self) -> Sequence[Entry]:
        """The next entries, at least one. Raises FellBehind once the buffer has overflowed and is empty."""
        while not self._live:
            page = await self._relay.catch_up(self)
            if page:
                return page
        while not self._buffer:
            if self._fell_behind:
                raise FellBehind(self.position)
            self._ready.clear()
            await self._ready.wait()
        entries = list(self._buffer)
        self._empty()
        self.position = entries[-1].position
        return entries

    def go_live(self) -> None:
        self._live = True

    def push(self, entry: Entry) -> bool:
        """Whether there was room."""
        self._ready.set()
        if len(self._buffer) >= self._capacity or self._buffered_text > _MOST_TEXT:
            # The buffer is dropped at once: a consumer that stopped reading must not hold memory.
            self._empty()
            self._fell_behind = True
            if self.on_overflow is not None:
                self.on_overflow()
            return False
        self._buffer.append(entry)
        self._buffered_text += _text_in(entry)
        return True

    def _empty(self) -> None:
        self._buffer.clear()
        self._buffered_text = 0

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._relay.leave(self)


def _text_in(entry: Entry) -> int:
    """Characters of what others may have written at any length: messages, and what became of them."""
    match entry.fact:
        case MessageSent() if entry.message is not None:
            return len(entry.message.content) + len(entry.message.metadata)
        case MessageCompleted(result=result, error=error, note=note):
            return len(result or "") + len(error or "") + len(note or "")
        case MessagesCleared(message_ids=ids):
            return sum(map(len, ids))
        case TaskOpened(task=task) | TaskPosted(task=task) | TaskStarted(task=task) | TaskEnded(task=task):
            return len(task.request) + len(task.context or "") + len(task.result or "") + len(task.error or "")
        case AskOpened(ask=ask) | AskEnded(ask=ask):
            return len(ask.error or "")
        case ApprovalRequested(approval=held) | ApprovalAnswered(approval=held) | ApprovalUsed(approval=held):
            return sum(len(value) for _, value in held.arguments)
        case _:
            return 0


class Relay:
    def __init__(self, store: Store, clock: Clock, *, capacity: int = 1024, hand_off_wait: float = 0.1) -> None:
        self._store = store
        self._clock = clock
        self._capacity = capacity
        self._hand_off_wait = hand_off_wait
        self.position = 0
        self._end = 0
        self._live: defaultdict[str, set[Subscription]] = defaultdict(set)
        self._present: defaultdict[str, set[Subscription]] = defaultdict(set)
        self._reading: asyncio.Task[None] | None = None
        self._handed_off: _HandOffs = {}
        self._being_recorded: _HandOffs = {}
        self._recording: asyncio.Task[None] | None = None
        self._waiting: dict[str, tuple[asyncio.Event, Sequence[str]]] = {}
        self._watchers: list[Callable[[Entry], None]] = []
        self.fell_behind = 0

    async def start(self) -> None:
        self.position = await self._store.read(lambda tx: tx.journal.end())
        self._store.announce_to(self._announced)

    async def stop(self) -> None:
        """Write down the hand-offs that are still in memory."""
        for task in (self._reading, self._recording):
            if task is not None:
                await task

    # -- listening -----------------------------------------------------------------------------------

    def subscribe(
        self, listener: str, after: int | None, *, view: str | None = None, takes_messages: bool = True
    ) -> Subscription:
        """From now on, or from everything after a position. `listener` is an agent's id or `operator`, and `view`
        another's whose entries it wants to see.

        A subscription that `takes_messages` reports what it handed off, so that senders may wait for it.
        """
        if after is not None and after > self.position:
            raise beyond_the_end(after, self.position)
        start = self.position if after is None else after
        whose = view or listener
        takes = takes_messages and whose == listener
        subscription = Subscription(self, listener, whose, start, self._capacity, takes_messages=takes)
        self._present[listener].add(subscription)
        return subscription

    def watch(self, watcher: Callable[[Entry], None]) -> None:
        """Call a function, inside the hub, with every new entry. It must be quick and must not raise."""
        self._watchers.append(watcher)

    def leave(self, subscription: Subscription) -> None:
        self._live[subscription.view].discard(subscription)
        if not self._live[subscription.view]:
            del self._live[subscription.view]
        self._present[subscription.listener].discard(subscription)
        if not self._present[subscription.listener]:
            del self._present[subscription.listener]

    def listeners(self) -> Sequence[str]:
        """The agents that have a socket open."""
        return [listener for listener in self._present if listener != OPERATOR]

    def subscriptions(self) -> int:
        return sum(map(len, self._present.values()))

    async def catch_up(self, subscription: Subscription) -> Sequence[Entry]:
        """A page of what the subscription missed; nothing once it has missed nothing and is live."""
        through = self.position
        page = await self._store.read(
            lambda tx: tx.journal.after(
                subscription.position,
                limit=_PAGE,
                audience=None if subscription.view == OPERATOR else subscription.view,
                through=through,
                most_text=_PAGE_TEXT,
            )
        )
        if page:
            subscription.position = page[-1].position
            return page
        subscription.position = through
        # No await between this check and going live: no entry can slip in between.
        if self.position == through and not subscription.closed:
            self._live[subscription.view].add(subscription)
            subscription.go_live()
        return page

    # -- announcing ----------------------------------------------------------------------------------

    def _announced(self, position: int) -> None:
        self._end = position
        if position <= self.position or self._reading is not None:
            return
        entries = self._store.recent(self.position)
        if entries is None:
            self._reading = asyncio.get_running_loop().create_task(self._read_on())
        else:
            self._dispatch(entries)

    async def _read_on(self) -> None:
        """Several hubs on one database, or a burst larger than the tail in memory: read from disk."""
        try:
            while True:
                position, end = self.position, self._end
                entries = await self._store.read(lambda tx: tx.journal.after(position, limit=_PAGE))  # noqa: B023 - awaited within the turn
                self._dispatch(entries)
                if not entries:
                    self.position = end  # what was announced has been pruned since
                # An announcement during the read only moved the end; it is looked for here.
                if self.position >= self._end:
                    return
        finally:
            self._reading = None

    def _dispatch(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if entry.position <= self.position:
                continue
            self.position = entry.position
            for watcher in self._watchers:
                watcher(entry)
            for subscription in self._concerned(entry):
                if not subscription.push(entry):
                    self.fell_behind += 1
                    self._live[subscription.view].discard(subscription)

    def _concerned(self, entry: Entry) -> list[Subscription]:
        if entry.audience is None:
            return [subscription for live in self._live.values() for subscription in live]
        named = [OPERATOR, *entry.audience]
        return [subscription for name in named if name in self._live for subscription in self._live[name]]

    # -- hand-offs -----------------------------------------------------------------------------------

    def handed_off(self, listener: str, entries: Iterable[Entry], via: str) -> None:
        """A surface has given these entries to the listener's own socket. The messages among them that were
        meant for it climb to `handed_off`; the rung is written with the next commit."""
        for entry in entries:
            message = entry.message
            if message is None or not isinstance(entry.fact, MessageSent) or message.sender == listener:
                continue
            # The operator has no broadcasts in its inbox, but may be mentioned in a channel.
            to_many = message.type == "channel" or (message.type == "broadcast" and listener != OPERATOR)
            if message.recipient == listener or to_many:
                self._handed_off.setdefault((message.id, via), set()).add(listener)
                given, recipients = self._waiting.get(message.id, (None, ()))
                if given is not None and listener in recipients:
                    given.set()
        if self._handed_off and self._recording is None:
            self._recording = asyncio.get_running_loop().create_task(self._record_hand_offs())

    async def hand_off_of(self, message_id: str, recipients: Sequence[str]) -> bool:
        """Whether a recipient's socket was given the message. Waits a moment, and only if one is there."""
        present = (each for recipient in recipients for each in self._present.get(recipient, ()))
        if not any(subscription.takes_messages for subscription in present):
            return False
        given = asyncio.Event()
        self._waiting[message_id] = (given, recipients)
        try:
            if self._in_memory(message_id, recipients):
                return True
            async with asyncio.timeout(self._hand_off_wait):
                await given.wait()
        except TimeoutError:
            return False
        finally:
            del self._waiting[message_id]
        return True

    def _in_memory(self, message_id: str, recipients: Sequence[str]) -> bool:
        return any(
            key[0] == message_id and not listeners.isdisjoint(recipients)
            for given in (self._handed_off, self._being_recorded)
            for key, listeners in given.items()
        )

    async def _record_hand_offs(self) -> None:
        """While one commit is under way the next hand-offs gather, so a crowd costs few commits."""
        try:
            while self._handed_off:
                gathered, self._handed_off = self._handed_off, {}
                self._being_recorded = gathered
                await self._store.write(lambda tx: self._climb(tx, gathered))  # noqa: B023 - awaited within the turn
        except RookeryError as refusal:
            # The recipients have their messages; only the receipts stay a rung too low, which is no lie.
            _log.warning("hand-offs could not be written down: %s", refusal.message)
        finally:
            self._being_recorded = {}
            self._recording = None

    def _climb(self, tx: Transaction, gathered: _HandOffs) -> None:
        now = self._clock.now()
        for (message_id, via), listeners in gathered.items():
            message = tx.messages.get(message_id)
            first_time = [
                delivery
                for delivery in _deliveries_of(tx, message_id, listeners)
                if delivery.handed_off_at is None
            ]
            if message is None:
                continue
            if message.type == "channel":  # members hear it who have it in no inbox
                attend(tx, message, list(listeners), now)
            if not first_time:
                continue
            if message.type != "channel" and not _is_answer(tx, message):
                attend(tx, message, [delivery.recipient for delivery in first_time], now)
            tx.deliveries.save_many([delivery.handed_off(now, via) for delivery in first_time])
            fact = MessageHandedOff(
                message_id=message_id,
                recipient=message.recipient,
                recipients=tuple(delivery.recipient for delivery in first_time),
                via=via,
                at=now,
            )
            tx.journal.record(fact, at=now, by=THE_HUB, audience=audience(message.sender))


def _is_answer(tx: Transaction, message: Message) -> bool:
    """What somebody waits for in a call: it is told there what it is."""
    return message.reply_to is not None and tx.asks.get(message.reply_to) is not None


def _deliveries_of(tx: Transaction, message_id: str, listeners: set[str]) -> Sequence[Delivery]:
    if len(listeners) == 1:
        (listener,) = listeners
        delivery = tx.deliveries.get(message_id, listener)
        return [] if delivery is None else [delivery]
    return [each for each in tx.deliveries.of_message(message_id) if each.recipient in listeners]
