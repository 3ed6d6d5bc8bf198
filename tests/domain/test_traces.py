"""What one message set off: its cause, its length, and where agents have to stop by themselves."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.domain.messages import Message
from rookery.domain.traces import NO_CAUSE, Attention, Cause, Trace, TraceRules, attention_to, caused_by

RULES = TraceRules(most_hops=3, most_messages=5)
FIRST = Message(
    id="m1", conversation="dm:fox:owl", seq=1, sender="fox", recipient="owl", type="direct", content="hello",
    thread="m1", created_at=1,
)  # fmt: skip
LATER = replace(FIRST, id="m9", trace="m1", hops=4, task="task-7")


def test_the_defaults_are_those_of_the_documentation() -> None:
    assert (TraceRules().most_hops, TraceRules().most_messages, TraceRules().remembered) == (16, 50, 600_000)


# -- causes ----------------------------------------------------------------------------------------------


def test_what_the_first_message_causes_is_one_hop_from_it() -> None:
    assert caused_by(FIRST) == Cause(trace="m1", hops=1, task=None)


def test_what_a_later_one_causes_belongs_to_the_same_trace_and_task() -> None:
    assert caused_by(LATER) == Cause(trace="m1", hops=5, task="task-7")


@pytest.mark.parametrize("message", [FIRST, LATER])
def test_being_given_a_message_causes_the_same_as_answering_it(message: Message) -> None:
    given = attention_to(message, "owl", 500)
    assert given == Attention(
        agent="owl", message_id=message.id, conversation="dm:fox:owl", trace="m1", hops=message.hops,
        task=message.task, at=500,
    )  # fmt: skip
    assert given.cause == caused_by(message)


def test_without_a_cause_there_is_nothing_to_inherit() -> None:
    assert Cause(trace=None, hops=0, task=None) == NO_CAUSE


# -- how far -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hops", "exceeded"), [(0, False), (1, False), (3, False), (4, True), (100, True)])
def test_agents_go_as_many_hops_as_the_rules_say(hops: int, exceeded: bool) -> None:
    assert Trace(id="m1").exceeded_by(hops, RULES) is exceeded


@pytest.mark.parametrize(("messages", "exceeded"), [(1, False), (4, False), (5, True), (100, True)])
def test_agents_say_as_much_as_the_rules_say(messages: int, exceeded: bool) -> None:
    assert Trace(id="m1", messages=messages).exceeded_by(1, RULES) is exceeded


def test_every_message_counts_and_the_longest_way_is_kept() -> None:
    trace = Trace(id="m1")
    for hops in (1, 2, 1, 3, 2):
        trace = trace.grown(hops)
    assert trace == Trace(id="m1", messages=6, hops=3)


def test_a_pause_waits_for_one_question() -> None:
    paused = Trace(id="m1").paused("k3m9")
    assert (paused.state, paused.question) == ("paused", "k3m9")


def test_after_the_operator_lets_it_go_on_the_counting_starts_again() -> None:
    trace = Trace(id="m1", messages=5, hops=3).paused("k3m9").continued()
    assert trace == Trace(id="m1", messages=5, hops=3, granted_messages=5, granted_hops=3)
    assert not trace.exceeded_by(6, RULES)
    assert trace.exceeded_by(7, RULES)
    for hops in (4, 4, 4, 4, 4):
        assert not trace.exceeded_by(hops, RULES)
        trace = trace.grown(hops)
    assert trace.exceeded_by(4, RULES)


def test_what_was_stopped_waits_for_nothing() -> None:
    stopped = Trace(id="m1", messages=5, hops=3).paused("k3m9").stopped()
    assert stopped == Trace(id="m1", messages=5, hops=3, state="stopped")


@given(st.lists(st.integers(0, 6), max_size=60))
def test_without_the_operator_no_trace_grows_beyond_the_rules(ways: list[int]) -> None:
    trace, granted = Trace(id="m1"), 0
    for hops in ways:
        if trace.exceeded_by(hops, RULES):
            if hops > RULES.most_hops + trace.hops:
                continue  # too far even after a word of the operator's
            trace, granted = trace.paused("q").continued(), granted + 1
        if not trace.exceeded_by(hops, RULES):
            trace = trace.grown(hops)
    assert trace.messages <= (granted + 1) * RULES.most_messages
    assert trace.hops <= (granted + 1) * RULES.most_hops
