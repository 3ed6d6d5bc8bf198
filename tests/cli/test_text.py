"""Words from others cannot do anything to a terminal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.cli.text import one_line, safe_json, sized, visible
from rookery.cli.times import ago, seconds
from rookery.domain.errors import InvalidRequest


@given(st.text())
def test_nothing_that_a_terminal_acts_upon_is_left(text: str) -> None:
    shown = visible(text)
    assert all(character in "\n\t" or ord(character) >= 32 for character in shown)
    assert not any(0x7F <= ord(character) <= 0x9F for character in shown)
    assert not any(character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" for character in shown)
    assert "\n" not in one_line(text)


@given(st.text())
def test_ordinary_words_stay_as_they_are(text: str) -> None:
    if text.isprintable():
        assert visible(text) == text


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2J\x1b[Hfaked", "[2J[Hfaked"),
        ("\x1b]0;title\x07x", "]0;titlex"),
        ("safe\rfaked", "safe\nfaked"),
        ("a\r\nb", "a\nb"),
        ("\x9b31mred", "31mred"),
        ("user\u202egnp.exe", "user<U+202E>gnp.exe"),
        ("a\u2028b", "a\nb"),
        ("\b\b\bbackspaced", "backspaced"),
    ],
)
def test_known_tricks_come_to_nothing(hostile: str, shown: str) -> None:
    assert visible(hostile) == shown


@given(st.text())
def test_safe_json_is_the_same_json(text: str) -> None:
    safe = safe_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(safe) == text
    assert not any(0x7F <= ord(character) <= 0x9F for character in safe)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("90", 90),
        ("90s", 90),
        ("10m", 600),
        ("2h", 7200),
        ("1h30m", 5400),
        ("30d", 2_592_000),
        ("2W", 1_209_600),
        ("0.5h", 1800),
    ],
)
def test_durations_are_read_as_people_write_them(text: str, length: float) -> None:
    assert seconds(text, "--ttl") == length


@pytest.mark.parametrize("text", ["", "m", "10x", "-5m", "1h 30", "ten", "1e9d", "10mm", "٣d"])
def test_what_is_no_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(InvalidRequest, match=r"--ttl .* 10m"):
        seconds(text, "--ttl")


def test_sizes_and_moments_are_told_in_one_unit() -> None:
    assert (sized(0), sized(2048), sized(5 << 30), sized(1 << 50)) == ("0 B", "2.0 KiB", "5.0 GiB", "1024.0 TiB")
    assert ago("2000-01-01T00:00:00Z").endswith(" d ago")
