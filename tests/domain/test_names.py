"""Which names agents may have."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.domain.errors import NameRefused
from rookery.domain.names import checked_name, reads_as_reserved, same_name, suggested_name

ALLOWED = [
    "user-service-dev", "humanity-bot", "systems-engineer", "claude-2", "agent-5", "ops", "a", "7", "x" * 64,
    "Swift.Fox_3", "all-hands", "root-cause", "me.too", "the-builder", "testing", "super-tester", "9lives",
    "test", "test-1", "search", "stats", "token", "agent-v2", "thebes", "all-2", "a11",
]  # fmt: skip

MALFORMED = [
    "", "x" * 65, ".", "..", "-", "_._", "a/b", "../etc", "a\\b", "two words", " fox", "fox ", "fox\n",
    "\nfox", "fox\t", "fox\0", "fóx", "キツネ", "fox🦊", "a:b", "#build", "@fox", "fox'", "<b>", "%2e",
]  # fmt: skip

RESERVED = [
    "operator", "Operator", "OPERATOR", "hub", "user", "human", "system", "admin", "administrator", "root",
    "owner", "rookery", "superuser", "sysadmin", "broadcast", "all", "everyone", "everybody", "messages",
    "register", "Send",
]  # fmt: skip

LOOK_ALIKES = [
    "0perator", "Op3rator", "oper4tor", "operat0r", "the-operator", "The.Operator", "my-operator",
    "operator-2", "operator2", "operator_007", "operators", "the-operator-2", "the-the-operator",
    "my-the-real-operator", "operator-1-2", "operator-2-", "-the-operator", "_the_operator_1_", "users",
    "us3r", "u53r", "u-s-e-r", "u.s.e.r", "-user-", "__user__", "user-", "hum4n", "hurnan", "humans",
    "syst3m", "5y5tem", "systern", "systems", "adm1n", "admln", "r00t", "r007", "0wner", "R00kery",
    "theoperator", "operator-v2", "super-user", "b-r-o-a-d-c-a-s-t",
]  # fmt: skip

FOREIGN_LETTERS = ["operаtor", "оperator", "uѕer", "ｕｓｅｒ", "humaп", "systеm", "u\u200bser", "user\u0301"]


@pytest.mark.parametrize("name", ALLOWED)
def test_an_ordinary_name_is_taken_as_it_is(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize("name", MALFORMED)
def test_a_name_of_the_wrong_shape_is_refused(name: str) -> None:
    with pytest.raises(NameRefused, match="use 1 to 64"):
        checked_name(name)


@pytest.mark.parametrize("name", RESERVED)
def test_a_word_of_authority_or_for_everybody_is_refused(name: str) -> None:
    with pytest.raises(NameRefused, match="choose another"):
        checked_name(name)


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_name_that_reads_like_a_reserved_one_is_refused(name: str) -> None:
    with pytest.raises(NameRefused, match="choose another"):
        checked_name(name)


@pytest.mark.parametrize("name", FOREIGN_LETTERS)
def test_letters_of_other_alphabets_cannot_imitate_a_reserved_name(name: str) -> None:
    with pytest.raises(NameRefused):
        checked_name(name)


def test_the_refusal_carries_the_name_but_never_more_than_a_line_of_it() -> None:
    with pytest.raises(NameRefused) as refusal:
        checked_name("x" * 10_000)
    assert refusal.value.data == {"name": "x" * 80}
    assert len(refusal.value.message) < 300


SPELLINGS = {"o": "oO0", "e": "eE3", "a": "aA4", "s": "sS5", "t": "tT7"}
SEPARATORS = st.text("._-", max_size=2)


@st.composite
def disguises(draw: st.DrawFn) -> str:
    """A word of authority with its letters swapped for look-alikes, pulled apart and dressed up."""
    word = draw(st.sampled_from(["operator", "user", "human", "system"]))
    letters = [draw(st.sampled_from(SPELLINGS.get(c, c + c.upper()))) + draw(SEPARATORS) for c in word]
    article = draw(st.sampled_from(["", "the-", "The_", "my.", "your-", "real-"]))
    number = draw(st.sampled_from(["", "2", "-2", "_01", "-2-"]))
    return draw(SEPARATORS) + article + "".join(letters) + number


@given(disguises())
def test_no_disguise_makes_authority_available(name: str) -> None:
    assert reads_as_reserved(name)


@given(st.text())
def test_any_text_is_either_taken_unchanged_or_refused(text: str) -> None:
    with contextlib.suppress(NameRefused):
        assert checked_name(text) == text


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("Claude Opus (4.5)", "Claude-Opus-4.5"),
        ("gpt-5-codex", "gpt-5-codex"),
        ("  llama 3 / 70B  ", "llama-3-70B"),
        ("模型", ""),
        ("...", ""),
    ],
)
def test_a_model_name_becomes_a_name_that_can_be_typed(wanted: str, name: str) -> None:
    assert suggested_name(wanted) == name


@given(st.text(max_size=200))
def test_a_suggested_name_leaves_room_for_a_number(wanted: str) -> None:
    suggestion = suggested_name(wanted)
    assert len(suggestion) <= 56
    assert all(c.isascii() and (c.isalnum() or c in "._-") for c in suggestion)


def test_names_that_differ_in_case_alone_are_one_name() -> None:
    assert same_name("Builder") == same_name("bUILDER")
    assert same_name("builder") != same_name("builder2")
