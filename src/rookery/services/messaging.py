"""Sending: never blocking, answered once the message is on disk, with what really happened to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rookery.domain.approvals import Held
from rookery.domain.channels import Channel
from rookery.domain.contact import PAUSED, WAITING_FOR_APPROVAL
from rookery.domain.errors import Conflict, IdempotencyConflict, InvalidRequest, NotPermitted, RateLimited
from rookery.domain.ids import BROADCAST, OPERATOR
from rookery.domain.mentions import mentions_in
from rookery.domain.messages import Message, MessageType, Priority, request_digest
from rookery.domain.permissions import Verdict
from rookery.domain.principals import Principal
from rookery.domain.traces import NO_CAUSE, Cause, Trace
from rookery.ports import Clock, Sent, Store, Transaction
from rookery.services.access import agent_named, speaker
from rookery.services.answers import awaited_answer
from rookery.services.channels import callable_in, open_channel, require_member
from rookery.services.holding import Holding, new_approval_id
from rookery.services.inbox import visible_message
from rookery.services.notices import known_as
from rookery.services.pacing import Pacer
from rookery.services.permissions import standings
from rookery.services.posting import Letter, Posting
from rookery.services.relay import Relay
from rookery.services.tracing import Tracing


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
    priority: Priority = "normal"
    ttl: int | None = None
    idempotency_key: str | None = None
    between_models: bool = False

    def digest(self, sender: str) -> bytes:
        return request_digest(
            sender, self.to, self.content, self.metadata, self.reply_to, None, self.priority, self.ttl
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A recipient that a message to several left out; by pacing, until it may be tried again."""

    recipient: str
    retry_after_ms: int | None = None
    reason: str = "Rate limited"


class NobodyReached(RateLimited):
    """A broadcast, or mentions, that every recipient is spared for now. Nothing was stored."""

    def __init__(self, refused: Sequence[Refusal]) -> None:
        super().__init__(min(each.retry_after_ms or 0 for each in refused), "one sender to all others")
        self.refused = refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """`delivered` is true only when a recipient's own socket has been given the message. `held` is the approval
    that it waits for, and `told` what its sender is told: nobody has it, and `message` says only which one it will
    be."""

    message: Message
    recipients: Sequence[str]
    delivered: bool
    refused: Sequence[Refusal] = ()
    repeated: bool = False
    held: str | None = None
    told: str | None = None


@dataclass(frozen=True, slots=True)
class _Stored:
    message: Message
    recipients: Sequence[str]
    refused: Sequence[Refusal] = ()
    handed_off: bool = False
    repeated: bool = False
    held: str | None = None
    told: str | None = None


@dataclass(frozen=True, slots=True)
class _Outgoing:
    """Whom a message is addressed to, who has it in the inbox, and whom a rule keeps it from."""

    recipient: str
    recipients: tuple[str, ...]
    channel: Channel | None
    left_out: tuple[str, ...] = ()

    @property
    def to_one(self) -> bool:
        return self.channel is None and self.recipient != BROADCAST

    @property
    def tool(self) -> str:
        """What an agent calls that."""
        if self.to_one:
            return "send_to_agent"
        return "broadcast" if self.channel is None else "send_channel_message"

    @property
    def public(self) -> bool:
        """Said where others hear it, whoever is called upon."""
        return self.channel is not None


class Messaging:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        posting: Posting,
        relay: Relay,
        holding: Holding,
        tracing: Tracing,
        pacer: Pacer,
    ) -> None:
        self._store = store
        self._clock = clock
        self._posting = posting
        self._relay = relay
        self._holding = holding
        self._tracing = tracing
        self._pacer = pacer

    async def send(self, by: Principal, draft: Draft) -> Receipt:
        """Store the message and say what happened.

        Raises AgentNotFound with the names that exist, RateLimited with the exact wait of a paced pair,
        NobodyReached for a broadcast whose every pair has to wait, SenderForged, NotPermitted, TraceStopped,
        MessageNotFound for a reply to something the sender cannot see, and IdempotencyConflict. The same draft
        under the same key is the same message.

        A message that needs the operator's word is kept, and goes out when it is given: see `Receipt.held`.
        """
        stored = await self._store.write(lambda tx: self._store_draft(tx, by, draft))
        delivered = stored.handed_off
        if not stored.repeated and stored.held is None:
            delivered = await self._relay.hand_off_of(stored.message.id, stored.recipients)
        return Receipt(
            message=stored.message,
            recipients=stored.recipients,
            delivered=delivered,
            refused=stored.refused,
            repeated=stored.repeated,
            held=stored.held,
            told=stored.told,
        )

    def release(self, tx: Transaction, held: Held, now: int) -> None:
        """Send what was held, as it was meant, now that the operator let it through. To one, that is the last
        word; of several, those whom a rule forbids meanwhile are left out."""
        by = Principal(held.sender, f"approval-{held.approval}")
        draft = Draft(
            to=held.to, content=held.content, metadata=held.metadata, reply_to=held.reply_to,
            priority=held.priority, ttl=held.ttl,
        )  # fmt: skip
        parent = visible_message(tx, by, held.reply_to) if held.reply_to else None
        cause = Cause(trace=held.trace, hops=held.hops, task=held.task)
        to_several = held.to == BROADCAST or held.to.startswith("#")
        standing = standings(tx, held.sender) if to_several else _unruled
        outgoing = self._addressed(tx, held.sender, draft, parent, standing)
        letter = _letter(draft, held.sender, outgoing, parent, cause, now, message_id=held.message_id)
        self._posting.post(tx, letter, now=now, by=by)

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
            draft = replace(draft, metadata=label(known_as(tx, sender)))
        parent = visible_message(tx, Principal(sender, by.token_id), draft.reply_to) if draft.reply_to else None
        stored = self._sent(tx, by, sender, draft, parent, now)
        if key is not None:
            tx.messages.remember(sender, key, Sent(message_id=stored.message.id, digest=digest))
        return stored

    def _sent(
        self, tx: Transaction, by: Principal, sender: str, draft: Draft, parent: Message | None, now: int
    ) -> _Stored:
        """What an answer that somebody waits for is spared: rules, pace and traces must not keep it back."""
        awaited = awaited_answer(tx, parent, sender)
        free = awaited is not None and _is_to(tx, draft.to, awaited.asker)
        governed = sender != OPERATOR and not free and (by.is_agent or draft.between_models)
        standing = standings(tx, sender) if governed and by.is_agent else _unruled
        outgoing = self._addressed(tx, sender, draft, parent, standing)
        if outgoing.left_out and not outgoing.recipients and not outgoing.public:
            raise NotPermitted(known_as(tx, outgoing.left_out[0]))
        asks = any(standing(each) == "needs_approval" for each in outgoing.recipients)
        refused = [Refusal(recipient=each, reason="Not permitted") for each in outgoing.left_out]
        if draft.between_models and not free:
            outgoing, too_early = self._paced(tx, sender, outgoing, draft, now)
            refused = [*too_early, *refused]
        cause = self._tracing.cause(tx, sender, parent, now) if by.is_agent or draft.between_models else NO_CAUSE
        # What goes to the operator is never kept from the operator.
        trace = self._tracing.exceeded(tx, cause) if governed and outgoing.recipient != OPERATOR else None
        if asks or trace is not None:
            return self._held(tx, by, sender, draft, outgoing, cause, None if asks else trace, now)
        letter = _letter(draft, sender, outgoing, parent, cause, now, for_everyone=not refused)
        return _Stored(self._posting.post(tx, letter, now=now, by=by), outgoing.recipients, refused)

    def _addressed(
        self,
        tx: Transaction,
        sender: str,
        draft: Draft,
        parent: Message | None,
        standing: Callable[[str], Verdict],
    ) -> _Outgoing:
        if draft.to == BROADCAST:
            channel, recipient = None, BROADCAST
            meant = [agent.id for agent in tx.agents.living() if agent.id != sender]
        elif draft.to.startswith("#"):
            channel = open_channel(tx, draft.to)
            recipient = channel.address
            require_member(channel, sender)
            if parent is not None and parent.conversation != channel.conversation:
                raise InvalidRequest(
                    f"{draft.reply_to!r} was not said in {channel.address}; answer it where it was."
                )
            called = mentions_in(draft.content, callable_in(tx, channel)).found
            meant = [each for each in called if each != sender]
        else:
            channel, recipient = None, addressee(tx, draft.to)
            if recipient == sender:
                raise InvalidRequest("An agent cannot write to itself; name another agent.", agent=draft.to)
            meant = [recipient]
        reached = tuple(each for each in meant if standing(each) != "blocked")
        left_out = tuple(each for each in meant if each not in reached)
        return _Outgoing(recipient, reached, channel, left_out)

    def _paced(
        self, tx: Transaction, sender: str, outgoing: _Outgoing, draft: Draft, now: int
    ) -> tuple[_Outgoing, list[Refusal]]:
        """Those that the message reaches, and those that are spared for now: each pair is paced alone."""
        reached: list[str] = []
        refused: list[Refusal] = []
        for recipient in outgoing.recipients:
            wait = self._pacer.step(tx, sender, recipient, now)
            if wait:
                refused.append(Refusal(recipient=recipient, retry_after_ms=wait))
            else:
                reached.append(recipient)
        if refused and not reached:
            if outgoing.to_one:
                raise RateLimited(refused[0].retry_after_ms or 0, f"{sender!r} to {draft.to!r}")
            raise NobodyReached(refused)
        return replace(outgoing, recipients=tuple(reached)), refused

    def _held(
        self,
        tx: Transaction,
        by: Principal,
        sender: str,
        draft: Draft,
        outgoing: _Outgoing,
        cause: Cause,
        trace: Trace | None,
        now: int,
    ) -> _Stored:
        """Nothing is sent yet. Who gets it is decided anew when it goes out; for the sender it is the message that
        it will be."""
        held = Held(
            message_id=self._posting.new_id(now),
            approval=trace.question if trace is not None and trace.question else new_approval_id(tx),
            sender=sender,
            to=outgoing.recipient,
            content=draft.content,
            priority=draft.priority,
            metadata=draft.metadata,
            reply_to=draft.reply_to,
            ttl=draft.ttl,
            trace=cause.trace,
            hops=cause.hops,
            task=cause.task,
        )
        if trace is not None:
            self._holding.hold_with_trace(tx, by, held, trace, now)
        else:
            shown = [("to", known_as(tx, outgoing.recipient)), ("message", draft.content)]
            if draft.reply_to:
                shown.append(("reply_to", draft.reply_to))
            self._holding.hold(tx, by, held, outgoing.tool, shown, now)
        told = WAITING_FOR_APPROVAL if trace is None else PAUSED
        return _Stored(_as_it_will_be(held, now), (), held=held.approval, told=told)


def _repetition(tx: Transaction, earlier: Sent, key: str, digest: bytes) -> _Stored:
    if earlier.digest != digest:
        raise IdempotencyConflict(key)
    message = tx.messages.get(earlier.message_id)
    if message is None:
        return _repetition_of_held(tx, earlier)
    deliveries = tx.deliveries.of_message(message.id)
    return _Stored(
        message,
        tuple(delivery.recipient for delivery in deliveries),
        handed_off=any(delivery.handed_off_at is not None for delivery in deliveries),
        repeated=True,
    )


def _repetition_of_held(tx: Transaction, earlier: Sent) -> _Stored:
    held = tx.held.get(earlier.message_id)
    if held is None:
        raise Conflict("This message was held for the operator, who did not let it through.")
    approval = tx.approvals.get(held.approval)
    since = 0 if approval is None else approval.created_at
    told = PAUSED if approval is not None and approval.kind == "trace" else WAITING_FOR_APPROVAL
    return _Stored(_as_it_will_be(held, since), (), repeated=True, held=held.approval, told=told)


def _as_it_will_be(held: Held, since: int) -> Message:
    """Which message it is, for its sender; it has no place in a conversation yet."""
    return Message(
        id=held.message_id, conversation="", seq=0, sender=held.sender, recipient=held.to, type="direct",
        content=held.content, thread=held.message_id, created_at=since,
    )  # fmt: skip


def label(sender_name: str) -> str:
    """What is noted on a message between models. No escaping needed: names hold letters, digits, '.', '_' and
    '-' alone."""
    return f'{{"type":"inter-agent","sender":"{sender_name}"}}'


def addressee(tx: Transaction, to: str) -> str:
    return OPERATOR if to == OPERATOR else agent_named(tx, to).id


def _is_to(tx: Transaction, to: str, party: str) -> bool:
    agent = None if to == party else tx.agents.find(to)
    return to == party or (agent is not None and agent.id == party)


def _unruled(_: str) -> Verdict:
    return "allowed"


def _letter(
    draft: Draft,
    sender: str,
    outgoing: _Outgoing,
    parent: Message | None,
    cause: Cause,
    now: int,
    *,
    for_everyone: bool = True,
    message_id: str | None = None,
) -> Letter:
    to_all = outgoing.recipient == BROADCAST
    kind: MessageType = "broadcast" if to_all else "channel" if outgoing.channel is not None else "direct"
    return Letter(
        sender=sender,
        recipient=outgoing.recipient,
        recipients=outgoing.recipients,
        type="reply" if kind == "direct" and parent is not None else kind,
        content=draft.content,
        metadata=draft.metadata,
        parent=parent,
        priority=draft.priority,
        expires_at=None if draft.ttl is None else now + draft.ttl,
        for_everyone=to_all and for_everyone,
        channel=outgoing.channel,
        cause=cause,
        message_id=message_id,
    )
