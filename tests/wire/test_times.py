"""Times on the wire are ISO 8601 in UTC; inside they are milliseconds since the epoch."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.wire.times import iso, iso_or_none, millis

UNTIL_9999 = 253_402_300_799_999


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1, "1970-01-01T00:00:00.001Z"),
        (1_800_000_000_999, "2027-01-15T08:00:00.999Z"),
        (UNTIL_9999, "9999-12-31T23:59:59.999Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
    ],
)
def test_a_moment_is_written_to_the_millisecond(at: int, text: str) -> None:
    assert iso(at) == text
    assert millis(text) == at


@given(st.integers(-(10**12), UNTIL_9999))
def test_there_and_back_is_the_same_moment(at: int) -> None:
    text = iso(at)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text)
    assert millis(text) == at
    assert datetime.fromisoformat(text).tzinfo == UTC


@given(st.integers(0, UNTIL_9999), st.integers(0, UNTIL_9999))
def test_texts_sort_as_moments_do(one: int, other: int) -> None:
    assert (iso(one) < iso(other)) == (one < other)


def test_no_moment_is_no_text() -> None:
    assert iso_or_none(None) is None
    assert iso_or_none(0) == "1970-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("text", "at"), [("2027-01-15T09:00:00+01:00", 1_800_000_000_000), ("2027-01-15T08:00:00", 1_800_000_000_000)]
)
def test_another_zone_is_understood_and_none_is_utc(text: str, at: int) -> None:
    assert millis(text) == at


@pytest.mark.parametrize("text", ["", "yesterday", "2027-13-01", "2027-01-15T25:00:00Z"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        millis(text)
