"""Approvals: bound to the exact bytes that were shown, and answered once."""

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rookery.domain.approvals import (
    Approval,
    ApprovalRules,
    ApprovalStatus,
    Held,
    approval_digest,
    checked_against,
)
from rookery.domain.errors import ApprovalAnsweredAlready, ApprovalChanged

HELD = Held(
    message_id="m1", approval="k3m9", sender="fox", to="owl", content="rm -rf build", pattern="delegate",
    context="in /src", priority="high", metadata='{"a":1}', reply_to="m0", ttl=1_000, trace="m0", hops=2,
    task="task-7", depth=1, timeout=120_000, origin="dm:fox:owl",
)  # fmt: skip
TOOL, AGENT, NONCE = "contact_agent", "fox", "0123456789abcdef"
ARGUMENTS = (("action", "delegate"), ("agent", "owl"), ("message", "rm -rf build"))
DIGEST = approval_digest(TOOL, ARGUMENTS, AGENT, NONCE, HELD)
PENDING = Approval(
    id="k3m9", kind="contact", agent=AGENT, tool=TOOL, arguments=ARGUMENTS, nonce=NONCE, digest=DIGEST,
    created_at=1, expires_at=900_001,
)  # fmt: skip
ANSWERS: list[ApprovalStatus] = ["approved", "denied", "expired", "cancelled"]


def test_an_approval_waits_for_a_quarter_of_an_hour() -> None:
    assert ApprovalRules().patience == 15 * 60 * 1000


# -- the exact bytes -------------------------------------------------------------------------------------


def test_equal_questions_have_equal_digests_of_64_hexadecimal_digits() -> None:
    assert approval_digest(TOOL, list(ARGUMENTS), AGENT, NONCE, replace(HELD)) == DIGEST
    assert len(DIGEST) == 64
    assert set(DIGEST) <= set("0123456789abcdef")


def changed(text: str, at: int, to: str) -> str:
    return text[:at] + to + text[at + 1 :]


@given(data=st.data())
def test_one_character_changed_in_tool_arguments_agent_or_nonce_changes_the_digest(data: st.DataObject) -> None:
    parts = [TOOL, AGENT, NONCE, *(text for pair in ARGUMENTS for text in pair)]
    which = data.draw(st.integers(0, len(parts) - 1))
    at = data.draw(st.integers(0, len(parts[which]) - 1))
    to = data.draw(st.characters(codec=None) | st.just(""))
    assume(parts[which][at] != to)
    parts[which] = changed(parts[which], at, to)
    tool, agent, nonce, *pairs = parts
    arguments = list(zip(pairs[::2], pairs[1::2], strict=True))
    assert approval_digest(tool, arguments, agent, nonce, HELD) != DIGEST


OTHER: dict[str, list[Any]] = {
    "message_id": ["m2", "m1 "],
    "sender": ["Fox", "owl"],
    "to": ["Owl", "broadcast", "#owl"],
    "content": ["rm -rf buile", "rm -rf build ", "", "rm -rf\u00a0build"],
    "pattern": [None, "ask", "notify"],
    "context": [None, "", "in /srd"],
    "priority": ["normal", "urgent"],
    "metadata": ["{}", '{"a":2}', '{"a": 1}'],
    "reply_to": [None, "m1"],
    "ttl": [None, 1_001, 0],
    "trace": [None, "m1"],
    "hops": [0, 3],
    "task": [None, "task-8"],
    "depth": [0, 2],
    "timeout": [0, 120_001],
    "origin": [None, "dm:fox:hub"],
}


def test_the_changes_here_cover_every_field_but_the_name_of_the_approval() -> None:
    assert {field.name for field in fields(Held)} == {*OTHER, "approval"}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in OTHER.items() for value in values])
def test_a_change_in_the_message_that_waits_changes_the_digest(name: str, value: Any) -> None:
    assert approval_digest(TOOL, ARGUMENTS, AGENT, NONCE, replace(HELD, **{name: value})) != DIGEST


@given(data=st.data())
def test_one_character_changed_in_the_words_that_wait_changes_the_digest(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(HELD.content) - 1))
    to = data.draw(st.characters(codec=None) | st.just(""))
    assume(HELD.content[at] != to)
    held = replace(HELD, content=changed(HELD.content, at, to))
    assert approval_digest(TOOL, ARGUMENTS, AGENT, NONCE, held) != DIGEST


def test_no_message_is_another_question_than_one() -> None:
    assert approval_digest(TOOL, ARGUMENTS, AGENT, NONCE) != DIGEST


any_text = st.text(st.characters(codec=None), max_size=8)


@given(st.lists(any_text, min_size=5, max_size=5), st.lists(any_text, min_size=5, max_size=5))
def test_nothing_can_be_shifted_from_one_place_to_another(one: list[str], other: list[str]) -> None:
    def digest(tool: str, key: str, value: str, agent: str, nonce: str) -> str:
        return approval_digest(tool, [(key, value)], agent, nonce)

    assert (digest(*one) == digest(*other)) == (one == other)
    joined = [one[0], one[1] + one[2], "", one[3], one[4]]
    assert (digest(*one) == digest(*joined)) == (one == joined)


def test_arguments_in_another_order_or_twice_are_another_question() -> None:
    for arguments in (ARGUMENTS[::-1], (*ARGUMENTS, ARGUMENTS[0]), ARGUMENTS[:2], ()):
        assert approval_digest(TOOL, arguments, AGENT, NONCE, HELD) != DIGEST


def test_two_calls_alike_are_told_apart_by_their_nonce() -> None:
    assert approval_digest(TOOL, ARGUMENTS, AGENT, "another", HELD) != DIGEST


# -- what is stored is what was asked for ------------------------------------------------------------------


def test_what_is_as_it_was_asked_for_passes() -> None:
    checked_against(PENDING, HELD)
    tool = replace(PENDING, kind="tool", digest=approval_digest(TOOL, ARGUMENTS, AGENT, NONCE))
    checked_against(tool, None)


@pytest.mark.parametrize(
    ("approval", "held"),
    [
        (PENDING, replace(HELD, content="rm -rf /")),
        (PENDING, None),
        (replace(PENDING, tool="broadcast"), HELD),
        (replace(PENDING, agent="owl"), HELD),
        (replace(PENDING, nonce="another"), HELD),
        (replace(PENDING, arguments=ARGUMENTS[:2]), HELD),
        (replace(PENDING, digest="0" * 64), HELD),
    ],
)
def test_what_was_changed_meanwhile_is_refused(approval: Approval, held: Held | None) -> None:
    with pytest.raises(ApprovalChanged):
        checked_against(approval, held)


# -- one answer ------------------------------------------------------------------------------------------


def test_a_question_is_pending_until_it_is_answered() -> None:
    assert (PENDING.pending, PENDING.status, PENDING.used_at) == (True, "pending", None)


@pytest.mark.parametrize("status", ANSWERS)
def test_an_answer_says_who_gave_it_when_and_why(status: ApprovalStatus) -> None:
    answered = PENDING.answered(5, "operator", status, digest=DIGEST, note="as agreed")
    assert answered == replace(PENDING, status=status, answered_at=5, answered_by="operator", note="as agreed")
    assert not answered.pending


@pytest.mark.parametrize("first", ANSWERS)
@pytest.mark.parametrize("second", ANSWERS)
@pytest.mark.parametrize("digest", [None, DIGEST, "0" * 64])
def test_it_is_answered_once(first: ApprovalStatus, second: ApprovalStatus, digest: str | None) -> None:
    answered = PENDING.answered(5, "operator", first)
    with pytest.raises(ApprovalAnsweredAlready) as refused:
        answered.answered(9, "operator", second, digest=digest)
    assert refused.value.data == {"approval": "k3m9", "status": first}


@pytest.mark.parametrize("status", ANSWERS)
@pytest.mark.parametrize(
    "digest",
    ["", "0" * 64, DIGEST[:-1], DIGEST + "0", DIGEST.upper(), " " + DIGEST,
     *(changed(DIGEST, at, "0" if DIGEST[at] != "0" else "1") for at in (0, 31, 63))],
)  # fmt: skip
def test_an_answer_to_something_else_is_refused(status: ApprovalStatus, digest: str) -> None:
    with pytest.raises(ApprovalChanged) as refused:
        PENDING.answered(5, "operator", status, digest=digest)
    assert refused.value.data == {"approval": "k3m9"}


def test_an_answer_that_was_taken_says_when() -> None:
    assert PENDING.answered(5, "operator", "approved").used(9).used_at == 9
