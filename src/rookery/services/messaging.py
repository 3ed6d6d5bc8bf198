"""Sending: never blocking, answered once the message is on disk, with what really happened to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rookery.domain.errors import IdempotencyConflict, InvalidRequest, MessageNotFound, RateLimited
from rookery.domain.ids import BROADCAST, OPERATOR
from rookery.domain.mentions import mentions_in
from rookery.domain.messages import Message, Priority, request_digest
from rookery.domain.pacing import PacingRules, after_accepting, wait_before
from rookery.domain.principals import Principal
from rookery.ports import Clock, Sent, Store, Transaction
from rookery.services.access import agent_named, speaker
from rookery.services.channels import callable_in, open_channel, require_member
from rookery.services.inbox import visible_message
from rookery.services.notices import known_as
from rookery.services.posting import Letter, Posting
from rookery.services.relay import Relay


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message as its sender wants it. `to` is an agent's id or name, `operator`, `broadcast` or a `#channel`.

    `metadata` is JSON text of an object. `ttl` is in milliseconds. `between_models` puts the pair under
    back-off and labels the message with its sender's name instead of carrying metadata of its own.
    """

    to: str
    content: str
    sender: str | None = None
    metadata: str = "{}"
    reply_to: str | None = None
    pattern: str | None = None
    priority: Priority = "normal"
    ttl: int | None = None
    idempotency_key: str | None = None
    between_models: bool = False

    def digest(self, sender: str) -> bytes:
        return request_digest(
            sender, self.to, self.content, self.metadata, self.reply_to, self.pattern, self.priority, self.ttl
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A recipient that a broadcast left out, and when it may be tried again."""

    recipient: str
    retry_after_ms: int


class NobodyReached(RateLimited):
    """A broadcast, or mentions, that every recipient is spared for now. Nothing was stored."""

    def __init__(self, refused: Sequence[Refusal]) -> None:
        super().__init__(min(each.retry_after_ms for each in refused), "one sender to all others")
        self.refused = refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """`delivered` is true only when a recipient's own socket has been given the message."""

    message: Message
    recipients: Sequence[str]
    delivered: bool
    refused: Sequence[Refusal] = ()
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class _Stored:
    message: Message
    recipients: Sequence[str]
    refused: Sequence[Refusal] = ()
    handed_off: bool = False
    repeated: bool = False


class Messaging:
    def __init__(self, store: Store, clock: Clock, posting: Posting, relay: Relay, pacing: PacingRules) -> None:
        self._store = store
        self._clock = clock
        self._posting = posting
        self._relay = relay
        self._pacing = pacing

    async def send(self, by: Principal, draft: Draft) -> Receipt:
        """Store the message and say what happened.

        Raises AgentNotFound with the names that exist, RateLimited with the exact wait of a paced pair,
        NobodyReached for a broadcast whose every pair has to wait, SenderForged, MessageNotFound for a reply to
        something the sender cannot see, and IdempotencyConflict. The same draft under the same key is the same
        message.
        """
        stored = await self._store.write(lambda tx: self._store_draft(tx, by, draft))
        delivered = stored.handed_off
        if not stored.repeated:
            delivered = await self._relay.hand_off_of(stored.message.id, stored.recipients)
        return Receipt(
            message=stored.message,
            recipients=stored.recipients,
            delivered=delivered,
            refused=stored.refused,
            repeated=stored.repeated,
        )

    def _store_draft(self, tx: Transaction, by: Principal, draft: Draft) -> _Stored:
        sender = speaker(tx, by, draft.sender)
        key = draft.idempotency_key
        digest = b"" if key is None else draft.digest(sender)
        if key is not None:
            earlier = tx.messages.sent_under(sender, key)
            if earlier is not None:
                return _repetition(tx, earlier, key, digest)
        now = self._clock.now()
        if draft.between_models:
            draft = replace(draft, metadata=_label(known_as(tx, sender)))
        parent = visible_message(tx, Principal(sender, by.token_id), draft.reply_to) if draft.reply_to else None
        if draft.to == BROADCAST:
            stored = self._broadcast(tx, by, sender, draft, parent, now)
        elif draft.to.startswith("#"):
            stored = self._in_channel(tx, by, sender, draft, parent, now)
        else:
            stored = self._direct(tx, by, sender, draft, parent, now)
        if key is not None:
            tx.messages.remember(sender, key, Sent(message_id=stored.message.id, digest=digest))
        return stored

    def _direct(
        self, tx: Transaction, by: Principal, sender: str, draft: Draft, parent: Message | None, now: int
    ) -> _Stored:
        recipient = _addressee(tx, draft.to)
        if recipient == sender:
            raise InvalidRequest("An agent cannot write to itself; name another agent.", agent=draft.to)
        if draft.between_models:
            wait = self._step(tx, sender, recipient, now)
            if wait:
                raise RateLimited(wait, f"{sender!r} to {draft.to!r}")
        letter = _letter(draft, sender, recipient, (recipient,), parent, now)
        return _Stored(self._posting.post(tx, letter, now=now, by=by), letter.recipients)

    def _broadcast(
        self, tx: Transaction, by: Principal, sender: str, draft: Draft, parent: Message | None, now: int
    ) -> _Stored:
        others = (agent.id for agent in tx.agents.living() if agent.id != sender)
        recipients, refused = self._paced(tx, sender, others, draft, now)
        if refused and not recipients:
            raise NobodyReached(refused)
        letter = _letter(draft, sender, BROADCAST, recipients, parent, now, for_everyone=not refused)
        return _Stored(self._posting.post(tx, letter, now=now, by=by), recipients, refused)

    def _in_channel(
        self, tx: Transaction, by: Principal, sender: str, draft: Draft, parent: Message | None, now: int
    ) -> _Stored:
        """All members hear it; those whom it mentions have it in their inbox."""
        channel = open_channel(tx, draft.to)
        require_member(channel, sender)
        if parent is not None and parent.conversation != channel.conversation:
            raise InvalidRequest(f"{draft.reply_to!r} was not said in {channel.address}; answer it where it was.")
        called = [each for each in mentions_in(draft.content, callable_in(tx, channel)).found if each != sender]
        reached, refused = self._paced(tx, sender, called, draft, now)
        if refused and not reached:
            raise NobodyReached(refused)
        letter = _letter(draft, sender, channel.address, reached, parent, now)
        letter = replace(letter, type="channel", channel=channel)
        return _Stored(self._posting.post(tx, letter, now=now, by=by), letter.recipients, refused)

    def _paced(
        self, tx: Transaction, sender: str, recipients: Iterable[str], draft: Draft, now: int
    ) -> tuple[tuple[str, ...], list[Refusal]]:
        """Those that a message to several reaches, and those that are spared for now: each is paced alone."""
        reached: list[str] = []
        refused: list[Refusal] = []
        for recipient in recipients:
            wait = self._step(tx, sender, recipient, now) if draft.between_models else 0
            if wait:
                refused.append(Refusal(recipient=recipient, retry_after_ms=wait))
            else:
                reached.append(recipient)
        return tuple(reached), refused

    def _step(self, tx: Transaction, sender: str, target: str, now: int) -> int:
        """Count the message against its pair, unless it comes too early: then the wait in milliseconds."""
        if sender == OPERATOR:
            return 0
        pace = tx.pacing.get(sender, target)
        wait = wait_before(pace, now, self._pacing)
        if not wait:
            tx.pacing.put(sender, target, after_accepting(pace, now, self._pacing))
        return wait


def _repetition(tx: Transaction, earlier: Sent, key: str, digest: bytes) -> _Stored:
    if earlier.digest != digest:
        raise IdempotencyConflict(key)
    message = tx.messages.get(earlier.message_id)
    if message is None:
        raise MessageNotFound(earlier.message_id)
    deliveries = tx.deliveries.of_message(message.id)
    return _Stored(
        message,
        tuple(delivery.recipient for delivery in deliveries),
        handed_off=any(delivery.handed_off_at is not None for delivery in deliveries),
        repeated=True,
    )


def _label(sender_name: str) -> str:
    # No escaping needed: names hold letters, digits, '.', '_' and '-' alone.
    return f'{{"type":"inter-agent","sender":"{sender_name}"}}'


def _addressee(tx: Transaction, to: str) -> str:
    if to == OPERATOR:
        return OPERATOR
    return agent_named(tx, to).id


def _letter(
    draft: Draft,
    sender: str,
    recipient: str,
    recipients: Sequence[str],
    parent: Message | None,
    now: int,
    *,
    for_everyone: bool = False,
) -> Letter:
    direct = "reply" if parent is not None else "direct"
    return Letter(
        sender=sender,
        recipient=recipient,
        recipients=recipients,
        type="broadcast" if recipient == BROADCAST else direct,
        content=draft.content,
        metadata=draft.metadata,
        parent=parent,
        pattern=draft.pattern,
        priority=draft.priority,
        expires_at=None if draft.ttl is None else now + draft.ttl,
        for_everyone=for_everyone,
    )
