"""What the hub itself has to say: a notice in the inbox of the one whom it concerns."""

from rookery.domain.ids import HUB, OPERATOR
from rookery.domain.messages import Message
from rookery.domain.principals import THE_HUB
from rookery.domain.traces import NO_CAUSE, Cause
from rookery.ports import Transaction
from rookery.services.posting import Letter, Posting


class Notices:
    def __init__(self, posting: Posting) -> None:
        self._posting = posting

    def tell_sender(self, tx: Transaction, about: Message, now: int, text: str) -> None:
        """Tell whoever sent a message what became of it. An agent that is gone, and the hub, hear nothing."""
        sender = tx.agents.get(about.sender)
        if about.sender == HUB or (about.sender != OPERATOR and (sender is None or not sender.living)):
            return
        letter = Letter(
            sender=HUB,
            recipient=about.sender,
            recipients=(about.sender,),
            type="notice",
            content=text,
            parent=about,
            cause=Cause(trace=about.traced_to, hops=about.hops, task=about.task),
        )
        self._posting.post(tx, letter, now=now, by=THE_HUB)

    def tell(self, tx: Transaction, party: str, now: int, text: str, cause: Cause = NO_CAUSE) -> None:
        """What concerns no message that there is."""
        agent = tx.agents.get(party)
        if party == HUB or (party != OPERATOR and (agent is None or not agent.living)):
            return
        letter = Letter(sender=HUB, recipient=party, recipients=(party,), type="notice", content=text, cause=cause)
        self._posting.post(tx, letter, now=now, by=THE_HUB)


def known_as(tx: Transaction, party: str) -> str:
    """The name that a person or a model knows a party by."""
    agent = tx.agents.get(party)
    return agent.name if agent is not None else party
