"""What a reader of the journal can know: whom an entry concerns, and the state that follows from the facts."""

from dataclasses import replace

import pytest

from rookery.domain import events
from rookery.domain.agents import Agent
from rookery.domain.approvals import Approval
from rookery.domain.asks import Ask
from rookery.domain.channels import Channel
from rookery.domain.deliveries import Delivery
from rookery.domain.events import EVERYONE, Entry, Fact
from rookery.domain.messages import Message
from rookery.domain.permissions import Rule
from rookery.domain.tasks import Task
from rookery.domain.view import View

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


def test_an_agent_sleeps_until_its_status_changes_again() -> None:
    registered = events.AgentRegistered(agent=FOX)
    asleep = events.AgentStatusChanged(
        agent_id=FOX.id, previous_status="idle", status="sleeping", sleeping_until=9
    )
    awake = events.AgentStatusChanged(agent_id=FOX.id, previous_status="sleeping", status="idle")
    gone = events.AgentDeleted(agent_id=FOX.id, name="fox", at=9)

    sleeping = replace(FOX, status="sleeping", sleeping_until=9)
    assert view_after(registered, asleep).agents == {FOX.id: sleeping}
    assert view_after(registered, asleep, awake).agents == {FOX.id: FOX}
    after = view_after(registered, asleep, gone).agents
    assert after == {FOX.id: replace(FOX, status="offline", deleted_at=9)}


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


ASK = Ask(message_id="m1", asker="fox", target="owl", depth=1, asked_at=1, deadline=9)
TASK = Task(id="task-1", requester="fox", assignee="owl", request="do it", origin="broadcast", created_at=1)
APPROVAL = Approval(
    id="a1", kind="contact", agent="fox", tool="ask", arguments=(), nonce="n", digest="d", created_at=1,
    expires_at=9,
)  # fmt: skip


def test_an_ask_is_opened_and_ends_and_others_are_left_alone() -> None:
    other, ended = replace(ASK, message_id="m2"), ASK.answered(2, "m3")
    opened = [events.AskOpened(ask=each) for each in (ASK, other)]
    assert view_after(*opened).asks == {"m1": ASK, "m2": other}
    assert view_after(*opened, events.AskEnded(ask=ended)).asks == {"m1": ended, "m2": other}


def test_facts_of_an_ask_are_about_its_question() -> None:
    assert events.AskOpened(ask=ASK).message_id == "m1"
    assert events.AskEnded(ask=ASK.answered(2, "m3")).message_id == "m1"


def test_a_task_is_opened_posted_started_and_ends() -> None:
    posted = TASK.posted("m1")
    started = posted.started(2)
    ended = started.ended(3, "owl", "completed", result="done")
    facts = [
        events.TaskOpened(task=TASK),
        events.TaskPosted(task=posted),
        events.TaskStarted(task=started),
        events.TaskEnded(task=ended),
    ]
    for number, task in enumerate((TASK, posted, started, ended), 1):
        assert view_after(*facts[:number]).tasks == {"task-1": task}


def test_a_rule_is_set_replaced_and_removed() -> None:
    first, other = (Rule(agent="fox", target=target, permission="allow") for target in ("*", "owl"))
    changed = replace(first, permission="deny")
    facts = [events.RuleSet(rule=rule) for rule in (first, other, changed)]
    assert view_after(*facts[:2]).rules == {("fox", "*"): first, ("fox", "owl"): other}
    assert view_after(*facts).rules == {("fox", "*"): changed, ("fox", "owl"): other}
    removed = events.RuleRemoved(agent="fox", target="*")
    assert view_after(*facts, removed, removed).rules == {("fox", "owl"): other}


def test_an_approval_is_requested_answered_and_used() -> None:
    answered = APPROVAL.answered(2, "operator", "approved")
    requested = events.ApprovalRequested(approval=APPROVAL)
    facts = [events.ApprovalAnswered(approval=answered), events.ApprovalUsed(approval=answered.used(3))]
    assert view_after(requested).approvals == {"a1": APPROVAL}
    assert view_after(requested, *facts[:1]).approvals == {"a1": answered}
    assert view_after(requested, *facts).approvals == {"a1": answered.used(3)}


@pytest.mark.parametrize(
    "fact",
    [
        events.MessageHeld(message_id="m1", approval="a1", sender="fox", recipient="owl"),
        events.MessageDropped(message_id="m1", approval="a1", sender="fox", recipient="owl"),
        events.TokenIssued(token_id="t", holder="owl"),
        events.TokenRevoked(token_id="t", holder="owl"),
        events.AccessRefused(action="prune", reason="no"),
        events.MessagesPruned(count=1, before=1),
    ],
)
def test_facts_that_only_tell_change_nothing(fact: Fact) -> None:
    assert view_after(SENT, STORED, fact) == view_after(SENT, STORED)
