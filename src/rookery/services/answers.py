"""How a question comes to its end."""

from rookery.domain.asks import Ask
from rookery.domain.events import AskEnded, audience
from rookery.domain.messages import Message
from rookery.domain.principals import Principal
from rookery.ports import InboxItem, Transaction
from rookery.services.seeing import record_seen


def awaited_answer(tx: Transaction, parent: Message | None, speaker: str) -> Ask | None:
    """The ask that a reply by this party would answer. Somebody waits for it, so nothing may hold it up."""
    if parent is None or parent.pattern != "ask":
        return None
    ask = tx.asks.get(parent.id)
    return ask if ask is not None and ask.open and ask.target == speaker else None


def answer_ask(tx: Transaction, question: Message, reply: Message, by: Principal) -> None:
    """The first reply counts; others are messages like any."""
    ask = awaited_answer(tx, question, reply.sender)
    if ask is None:
        return
    at = reply.created_at
    end_ask(tx, ask.answered(at, reply.id), by, at)
    delivery = tx.deliveries.get(question.id, reply.sender)
    if delivery is not None and not delivery.read:  # else it would lie there to be answered once more
        tx.deliveries.save(delivery.seen(at, "reply"))
        record_seen(tx, InboxItem(question, delivery), at, by, "reply")


def end_ask(tx: Transaction, ended: Ask, by: Principal, now: int) -> Ask:
    tx.asks.put(ended)
    tx.journal.record(AskEnded(ask=ended), at=now, by=by, audience=audience(ended.asker, ended.target))
    return ended
