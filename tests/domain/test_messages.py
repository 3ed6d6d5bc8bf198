"""The fingerprint that damage to a message shows against."""

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.domain.messages import RANKS, Message, request_digest

MESSAGE = Message(
    id="01", conversation="dm:a:b", seq=1, sender="a", recipient="b", type="direct", content="hello",
    thread="01", created_at=1,
)  # fmt: skip

OTHER_VALUES: dict[str, list[Any]] = {
    "id": ["02", "", "01 "],
    "conversation": ["dm:a:c", "broadcast"],
    "seq": [0, 2, -1],
    "sender": ["A", "b"],
    "recipient": ["a", "broadcast"],
    "type": ["broadcast", "reply", "notice"],
    "content": ["", "Hello", "hello ", "hello\0", "hell\u006f\u0301", "\ud800"],
    "metadata": ["", "{ }", '{"a":1}'],
    "reply_to": ["", "01", "None"],
    "thread": ["", "02"],
    "pattern": ["", "ask", "None"],
    "priority": ["low", "high", "urgent"],
    "created_at": [0, 2],
    "expires_at": [0, 1],
    "trace": ["", "01", "None"],
    "hops": [1, -1],
    "task": ["", "task-1", "None"],
}

CHANGES = [(name, value) for name, values in OTHER_VALUES.items() for value in values]


def test_the_changes_below_cover_every_field() -> None:
    assert {field.name for field in fields(Message)} == set(OTHER_VALUES)


@pytest.mark.parametrize(("name", "value"), CHANGES)
def test_a_change_in_any_field_changes_the_digest(name: str, value: Any) -> None:
    assert replace(MESSAGE, **{name: value}).digest() != MESSAGE.digest()


def test_equal_messages_have_equal_digests_of_sixteen_bytes() -> None:
    assert replace(MESSAGE).digest() == MESSAGE.digest()
    assert len(MESSAGE.digest()) == 16


def test_the_digest_stays_the_same_from_release_to_release() -> None:
    # It lies beside every stored message: another way of counting would make all of them look damaged.
    assert MESSAGE.digest().hex() == "5a542ee797788cd8785690835aaf4be4"


def test_the_digest_of_one_with_a_cause_stays_the_same_too() -> None:
    assert replace(MESSAGE, trace="00", hops=2, task="task-1").digest().hex() == "2b752cc2b93720dcd7776a793f5c2bbf"


def test_a_message_that_nothing_set_off_begins_a_trace_of_its_own() -> None:
    assert MESSAGE.traced_to == "01"
    assert replace(MESSAGE, trace="00").traced_to == "00"


any_text = st.text(st.characters(codec=None), max_size=20)


@given(any_text, any_text)
def test_text_cannot_be_shifted_between_fields_unnoticed(one: str, other: str) -> None:
    forward = replace(MESSAGE, content=one, metadata=other)
    swapped = replace(MESSAGE, content=other, metadata=one)
    joined = replace(MESSAGE, content=one + other, metadata="")
    assert (forward.digest() == swapped.digest()) == (forward == swapped)
    assert (forward.digest() == joined.digest()) == (forward == joined)


def test_a_repeated_request_has_the_same_digest_and_another_one_has_not() -> None:
    assert request_digest("fox", "hello", None) == request_digest("fox", "hello", None)
    assert request_digest("fox", "hello", None) != request_digest("fox", "hello", "None")
    assert request_digest("fox", "hello") != request_digest("foxhello")
    assert request_digest("fox", "1") != request_digest("fox", 1)


def test_urgent_outranks_high_outranks_normal_outranks_low() -> None:
    assert sorted(RANKS, key=RANKS.__getitem__) == ["low", "normal", "high", "urgent"]
