"""What a reader of the journal can know: whom an entry concerns, and the state that follows from the facts."""

from dataclasses import replace

import pytest

from rookery.domain import events
from rookery.domain.agents import Agent
from rookery.domain.channels import Channel
from rookery.domain.deliveries import Delivery
from rookery.domain.events import EVERYONE, Entry, Fact, View
from rookery.domain.messages import Message

FOX = Agent(id="swift-fox", name="fox", status="idle")
MESSAGE = Message(
    id="m1", conversation="broadcast", seq=1, sender="swift-fox", recipient="broadcast", type="broadcast",
    content="hello", thread="m1", created_at=1,
)  # fmt: skip
SENT = events.MessageSent(message_id="m1")
STORED = events.MessageStored(
    message_id="m1", sender="swift-fox", recipient="broadcast", recipients=("owl", "bear"), at=1
)
NEW = Delivery(message_id="m1", recipient="owl", stored_at=1)
CLAIMED = events.MessageClaimed(message_id="m1", recipient="owl", by="owl", via="rest", at=3)

DONE = events.MessageCompleted(
    message_id="m1", recipient="owl", by="x", outcome="done", result="r", note="n", at=4
)


def entry(fact: Fact, audience: tuple[str, ...] | None = EVERYONE, message: Message | None = None) -> Entry:
    return Entry(position=1, at=1, actor="hub", token_id="hub", audience=audience, fact=fact, message=message)


def view_after(*facts: Fact) -> View:
    view = View()
    for fact in facts:
        view.apply(entry(fact, message=MESSAGE if isinstance(fact, events.MessageSent) else None))
    return view


def test_an_audience_names_each_agent_once_and_neither_the_operator_nor_the_hub() -> None:
    assert events.audience("owl", "operator", "bear", "owl", "hub") == ("owl", "bear")
    assert events.audience("operator", "hub") == ()


def test_an_agent_comes_changes_and_goes() -> None:
    registered = events.AgentRegistered(agent=FOX)
    renamed = events.AgentRenamed(agent_id=FOX.id, previous_name="fox", name="vixen")
    updated = events.AgentUpdated(
        agent_id=FOX.id, kind="codex", role="leader", mode="strict", manager="owl", project="/den", model_name="g"
    )
    working = events.AgentStatusChanged(agent_id=FOX.id, previous_status="idle", status="working")
    gone = events.AgentDeleted(agent_id=FOX.id, name="vixen", at=9)

    changed = replace(FOX, name="vixen", kind="codex", role="leader", mode="strict", manager="owl",
                      project="/den", model_name="g", status="working")  # fmt: skip
    assert view_after(registered).agents == {FOX.id: FOX}
    assert view_after(registered, renamed, updated, working).agents == {FOX.id: changed}
    after = view_after(registered, renamed, updated, working, gone).agents
    assert after == {FOX.id: replace(changed, deleted_at=9, status="offline")}


def test_a_message_is_known_once_it_was_sent_and_its_deliveries_once_it_was_stored() -> None:
    assert view_after(SENT).messages == {"m1": MESSAGE}
    assert view_after(SENT).deliveries == {}
    assert view_after(SENT, STORED).deliveries == {
        ("m1", "owl"): NEW,
        ("m1", "bear"): replace(NEW, recipient="bear"),
    }


MOVES: list[tuple[list[Fact], Delivery]] = [
    (
        [events.MessageHandedOff(message_id="m1", recipient="broadcast", recipients=("owl",), via="ws", at=2)],
        NEW.handed_off(2, "ws"),
    ),
    ([events.MessageSeen(message_id="m1", recipient="owl", via="rest", at=2)], NEW.seen(2, "rest")),
    ([events.MessageRead(message_id="m1", recipient="owl", by="owl", at=2)], NEW),
    ([CLAIMED], NEW.claimed(3, "owl", "rest")),
    (
        [CLAIMED, events.ClaimExpired(message_id="m1", recipient="owl", by="owl", at=4)],
        NEW.claimed(3, "owl", "rest").claim_expired(),
    ),
    (
        [CLAIMED, replace(DONE, by="owl", outcome="dead", result=None, error="e", note=None)],
        NEW.claimed(3, "owl", "rest").completed(4, "owl", "dead", error="e"),
    ),
    (
        [DONE],
        NEW.completed(4, "x", "done", result="r", note="n"),
    ),
    ([events.MessageReplied(message_id="m1", recipient="owl", reply_id="m2", at=5)], NEW.replied(5, "m2")),
    ([events.MessagesCleared(recipient="owl", message_ids=("m1",), at=6)], NEW.cleared(6)),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "delivery"), MOVES)
def test_each_fact_moves_its_own_delivery_as_the_domain_does(facts: list[Fact], delivery: Delivery) -> None:
    deliveries = view_after(SENT, STORED, *facts).deliveries
    assert deliveries == {("m1", "owl"): delivery, ("m1", "bear"): replace(NEW, recipient="bear")}


def test_clearing_goes_past_messages_that_were_pruned_since() -> None:
    cleared = events.MessagesCleared(recipient="owl", message_ids=("pruned", "m1"), at=6)
    assert view_after(SENT, STORED, cleared).deliveries["m1", "owl"] == NEW.cleared(6)


def test_a_channel_is_created_fills_empties_and_is_archived() -> None:
    channel = Channel(name="build", topic="it breaks", members=("fox",), created_by="fox", created_at=1)
    created = events.ChannelCreated(channel=channel)
    joined = events.ChannelJoined(channel="build", member="owl")
    left = events.ChannelLeft(channel="build", member="fox")
    archived = events.ChannelArchived(channel="build", at=9)

    assert view_after(created).channels == {"build": channel}
    assert view_after(created, joined).channels == {"build": replace(channel, members=("fox", "owl"))}
    assert view_after(created, joined, left).channels == {"build": replace(channel, members=("owl",))}
    after = view_after(created, joined, left, archived).channels
    assert after == {"build": replace(channel, members=("owl",), archived_at=9)}


def test_a_fact_of_one_channel_leaves_the_others_alone() -> None:
    build, ops = (Channel(name=name, created_by="fox", created_at=1) for name in ("build", "ops"))
    created = [events.ChannelCreated(channel=each) for each in (build, ops)]
    view = view_after(*created, events.ChannelJoined(channel="ops", member="owl"))
    assert view.channels == {"build": build, "ops": replace(ops, members=("owl",))}


@pytest.mark.parametrize(
    "fact",
    [
        events.TokenIssued(token_id="t", holder="owl"),
        events.TokenRevoked(token_id="t", holder="owl"),
        events.AccessRefused(action="prune", reason="no"),
        events.MessagesPruned(count=1, before=1),
    ],
)
def test_facts_of_the_audit_trail_change_nothing(fact: Fact) -> None:
    assert view_after(SENT, STORED, fact) == view_after(SENT, STORED)
