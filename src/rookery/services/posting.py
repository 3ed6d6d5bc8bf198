"""The one place where a message comes into being, whoever writes it."""

from collections.abc import Sequence
from dataclasses import dataclass

from rookery.domain.channels import Channel
from rookery.domain.conversations import broadcast_conversation, direct_conversation
from rookery.domain.events import EVERYONE, MessageReplied, MessageSent, MessageStored, audience
from rookery.domain.ids import BROADCAST, MessageIds
from rookery.domain.messages import Message, MessageType, Pattern, Priority
from rookery.domain.principals import Principal
from rookery.domain.traces import NO_CAUSE, Cause
from rookery.ports import Transaction
from rookery.services.answers import answer_ask
from rookery.services.tracing import count


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """All that a message says before it has an id and a place in its conversation.

    `channel` is where it is said, if it is in one: all its members hear of it, and `recipients` have to deal
    with it. `conversation` is given where it is not that of the two. A message that was held has its `message_id`.
    """

    sender: str
    recipient: str
    recipients: Sequence[str]
    type: MessageType
    content: str
    metadata: str = "{}"
    parent: Message | None = None
    pattern: Pattern | None = None
    priority: Priority = "normal"
    expires_at: int | None = None
    for_everyone: bool = False
    channel: Channel | None = None
    cause: Cause = NO_CAUSE
    conversation: str | None = None
    message_id: str | None = None


class Posting:
    def __init__(self, ids: MessageIds) -> None:
        self._ids = ids

    def new_id(self, now: int) -> str:
        return self._ids.next(now)

    def post(self, tx: Transaction, letter: Letter, *, now: int, by: Principal) -> Message:
        """Store the message with its deliveries and facts; a reply is noted on what it answers."""
        message_id = letter.message_id or self._ids.next(now)
        if letter.conversation is not None:
            conversation = letter.conversation
        elif letter.channel is not None:
            conversation = letter.channel.conversation
        elif letter.recipient == BROADCAST:
            conversation = broadcast_conversation()
        else:
            conversation = direct_conversation(letter.sender, letter.recipient)
        message = Message(
            id=message_id,
            conversation=conversation,
            seq=tx.messages.next_seq(conversation),
            sender=letter.sender,
            recipient=letter.recipient,
            type=letter.type,
            content=letter.content,
            metadata=letter.metadata,
            reply_to=letter.parent.id if letter.parent else None,
            thread=letter.parent.thread if letter.parent else message_id,
            pattern=letter.pattern,
            priority=letter.priority,
            created_at=now,
            expires_at=letter.expires_at,
            trace=letter.cause.trace,
            hops=letter.cause.hops,
            task=letter.cause.task,
        )
        tx.messages.add(message, letter.recipients)
        count(tx, letter.cause)
        self._record(tx, message, letter, now, by)
        return message

    def _record(self, tx: Transaction, message: Message, letter: Letter, now: int, by: Principal) -> None:
        readers = audience(*letter.recipients)
        listeners = letter.channel.members if letter.channel is not None else ()
        tx.journal.record(
            MessageSent(message_id=message.id),
            at=now,
            by=by,
            audience=EVERYONE if letter.for_everyone else audience(message.sender, *readers, *listeners),
            message=message,
        )
        stored = MessageStored(
            message_id=message.id,
            sender=message.sender,
            recipient=message.recipient,
            recipients=tuple(letter.recipients),
            at=now,
        )
        tx.journal.record(stored, at=now, by=by, audience=EVERYONE if letter.for_everyone else readers)
        if letter.parent is not None:
            _note_reply(tx, letter.parent, message, by)


def _note_reply(tx: Transaction, parent: Message, reply: Message, by: Principal) -> None:
    if parent.pattern == "ask":
        answer_ask(tx, parent, reply, by)
    answered = tx.deliveries.get(parent.id, reply.sender)
    if answered is None or answered.replied_at is not None:
        return
    tx.deliveries.save(answered.replied(reply.created_at, reply.id))
    fact = MessageReplied(message_id=parent.id, recipient=reply.sender, reply_id=reply.id, at=reply.created_at)
    tx.journal.record(fact, at=reply.created_at, by=by, audience=audience(parent.sender, reply.sender))
