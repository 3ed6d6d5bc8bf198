"""Back-off between a directed pair, to the millisecond."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.domain.pacing import Pace, PacingRules, after_accepting, after_withdrawing, wait_before

RULES = PacingRules()


@dataclass
class Pair:
    """A sender who tries; what it is told, and what was accepted when."""

    rules: PacingRules = RULES
    pace: Pace = field(default_factory=Pace)
    accepted: list[int] = field(default_factory=list[int])

    def tries(self, now: int) -> int:
        wait = wait_before(self.pace, now, self.rules)
        if wait == 0:
            self.pace = after_accepting(self.pace, now, self.rules)
            self.accepted.append(now)
        return wait

    def sent(self, *moments: int) -> "Pair":
        assert [self.tries(now) for now in moments] == [0] * len(moments)
        return self

    def gap(self) -> int:
        """How long the next message has to wait, counted from the last accepted one."""
        return wait_before(self.pace, self.accepted[-1], self.rules)


def test_the_defaults_are_those_of_the_documentation() -> None:
    assert (RULES.first_gap, RULES.longest_gap) == (2_000, 30_000)
    assert (RULES.eager_within, RULES.reset_after) == (5_000, 30_000)
    assert (RULES.window, RULES.most_in_window) == (60_000, 10)


@pytest.mark.parametrize("now", [0, 1, 1_800_000_000_000])
def test_the_first_message_is_instant(now: int) -> None:
    assert Pair().tries(now) == 0


def test_the_second_message_needs_a_gap_of_two_seconds() -> None:
    assert Pair().sent(0).gap() == 2_000


def test_the_gap_doubles_up_to_thirty_seconds_for_one_who_sends_as_soon_as_allowed() -> None:
    pair = Pair().sent(0)
    gaps: list[int] = []
    for _ in range(5):
        gaps.append(pair.gap())
        pair.sent(pair.accepted[-1] + pair.gap())
    assert gaps == [2_000, 4_000, 8_000, 16_000, 30_000]
    assert pair.accepted == [0, 2_000, 6_000, 14_000, 30_000, 60_000]


@pytest.mark.parametrize(("now", "wait"), [(0, 2_000), (1, 1_999), (1_000, 1_000), (1_999, 1), (2_000, 0)])
def test_sooner_is_refused_with_the_exact_wait(now: int, wait: int) -> None:
    assert Pair().sent(0).tries(now) == wait


def test_a_message_five_seconds_after_it_was_allowed_raises_the_level() -> None:
    assert Pair().sent(0, 2_000 + 5_000).gap() == 4_000


def test_a_message_later_than_that_leaves_the_level_as_it_is() -> None:
    assert Pair().sent(0, 2_000 + 5_001).gap() == 2_000
    assert Pair().sent(0, 2_000, 2_000 + 4_000 + 5_001).gap() == 4_000


def test_thirty_seconds_of_silence_reset_the_level() -> None:
    assert Pair().sent(0, 2_000, 6_000, 6_000 + 30_000).gap() == 2_000


def test_a_millisecond_less_of_silence_does_not() -> None:
    assert Pair().sent(0, 2_000, 6_000, 6_000 + 29_999).gap() == 8_000


def test_silence_is_counted_from_the_last_accepted_message_whatever_was_refused_since() -> None:
    pair = Pair().sent(0, 2_000, 6_000, 14_000)
    for now in range(14_001, 30_000, 100):
        assert pair.tries(now) > 0
    assert pair.sent(14_000 + 30_000).gap() == 2_000


def test_refused_attempts_count_for_nothing() -> None:
    patient, pushy = Pair().sent(0), Pair().sent(0)
    for now in range(0, 2_000, 7):
        assert pushy.tries(now) == 2_000 - now
    assert pushy.pace == patient.pace
    assert pushy.sent(2_000).pace == patient.sent(2_000).pace


UNHURRIED = replace(RULES, first_gap=0)
"""No gap, so that the sliding window alone decides."""


def test_the_eleventh_message_of_a_minute_waits_until_the_first_is_a_minute_old() -> None:
    pair = Pair(UNHURRIED).sent(*range(0, 10_000, 1_000))
    assert pair.tries(9_001) == 60_000 - 9_001
    assert pair.tries(59_999) == 1
    assert pair.tries(60_000) == 0
    assert pair.tries(60_001) == 999  # the second was at 1,000


def test_the_window_slides_and_does_not_start_anew_each_minute() -> None:
    pair = Pair(UNHURRIED).sent(*range(55_000, 60_000, 500))
    assert pair.tries(60_000) == 55_000


def test_silence_resets_the_level_but_not_the_window() -> None:
    pair = Pair(UNHURRIED).sent(*[0] * 10)
    assert pair.tries(30_000) == 30_000


def test_being_allowed_by_the_window_counts_as_being_allowed() -> None:
    rules = PacingRules(
        first_gap=1, longest_gap=100, eager_within=5, reset_after=1_000, window=500, most_in_window=2
    )
    assert Pair(rules).sent(0, 1).gap() == 499
    assert Pair(rules).sent(0, 1, 500 + 5).pace.level == 2
    assert Pair(rules).sent(0, 1, 500 + 6).pace.level == 1


def test_every_value_is_a_setting() -> None:
    rules = PacingRules(
        first_gap=10, longest_gap=35, eager_within=4, reset_after=100, window=1_000, most_in_window=6
    )
    pair = Pair(rules).sent(0)
    assert pair.gap() == 10
    assert pair.sent(14).gap() == 20
    assert pair.sent(14 + 20).gap() == 35  # 40, were it not for the longest
    assert pair.sent(34 + 35 + 5).gap() == 35
    assert pair.sent(74 + 100).gap() == 10
    assert pair.sent(184).tries(204) == 1_000 - 204


def test_what_is_remembered_does_not_grow() -> None:
    pair = Pair()
    for now in range(0, 3_600_000, 250):
        pair.tries(now)
    assert len(pair.pace.accepted) <= RULES.most_in_window


any_rules = st.builds(
    PacingRules,
    first_gap=st.integers(0, 20),
    longest_gap=st.integers(0, 60),
    eager_within=st.integers(0, 30),
    reset_after=st.integers(0, 80),
    window=st.integers(0, 120),
    most_in_window=st.integers(1, 6),
)


@st.composite
def pairs_after_some_attempts(draw: st.DrawFn) -> Pair:
    """A pair with a past: some attempts at random moments, some made as soon as they were allowed."""
    pair, now = Pair(draw(st.one_of(st.just(RULES), any_rules))), 0
    scale = 1 if pair.rules is not RULES else 500
    for step in draw(st.lists(st.one_of(st.none(), st.integers(0, 70)), max_size=40)):
        now += wait_before(pair.pace, now, pair.rules) if step is None else step * scale
        pair.tries(now)
    return pair


moments_later = st.integers(0, 40_000)


@given(pairs_after_some_attempts(), moments_later)
def test_waiting_exactly_as_told_is_enough_and_a_millisecond_less_is_not(pair: Pair, later: int) -> None:
    now = (pair.accepted[-1] if pair.accepted else 0) + later
    wait = wait_before(pair.pace, now, pair.rules)
    assert wait_before(pair.pace, now + wait, pair.rules) == 0
    if wait > 0:
        assert wait_before(pair.pace, now + wait - 1, pair.rules) == 1


@given(pairs_after_some_attempts(), moments_later, moments_later)
def test_time_that_passes_shortens_the_wait_by_just_as_much(pair: Pair, later: int, passed: int) -> None:
    now = (pair.accepted[-1] if pair.accepted else 0) + later
    wait = wait_before(pair.pace, now, pair.rules)
    assert wait_before(pair.pace, now + passed, pair.rules) == max(0, wait - passed)


@given(pairs_after_some_attempts())
def test_no_window_ever_holds_more_than_its_share_of_messages(pair: Pair) -> None:
    most = pair.rules.most_in_window
    for first, one_too_many in zip(pair.accepted, pair.accepted[most:], strict=False):
        assert one_too_many - first >= pair.rules.window


@given(pairs_after_some_attempts())
def test_after_a_message_the_gap_is_never_shorter_than_its_level_asks(pair: Pair) -> None:
    for earlier, later in zip(pair.accepted, pair.accepted[1:], strict=False):
        assert later - earlier >= min(pair.rules.first_gap, pair.rules.longest_gap, pair.rules.reset_after)
    if pair.accepted:
        asked = min(pair.rules.first_gap << pair.pace.level, pair.rules.longest_gap, pair.rules.reset_after)
        assert pair.gap() >= asked


@given(pairs_after_some_attempts(), moments_later)
def test_nobody_waits_longer_than_the_longest_gap_or_the_window(pair: Pair, later: int) -> None:
    now = (pair.accepted[-1] if pair.accepted else 0) + later
    assert wait_before(pair.pace, now, pair.rules) <= max(pair.rules.longest_gap, pair.rules.window)


# -- what came to nothing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("moments", [(0,), (0, 2_000), (0, 2_000, 6_000), (0, 2_000, 6_000, 14_000)])
def test_a_message_that_came_as_soon_as_allowed_is_withdrawn_without_a_trace(moments: tuple[int, ...]) -> None:
    *before, last = moments
    assert after_withdrawing(Pair().sent(*moments).pace, last) == Pair().sent(*before).pace


def test_after_the_only_message_was_withdrawn_the_next_is_instant() -> None:
    assert wait_before(after_withdrawing(Pair().sent(0).pace, 0), 1, RULES) == 0


def test_one_of_several_is_withdrawn_and_the_others_still_count() -> None:
    pair = Pair(UNHURRIED).sent(*range(0, 10_000, 1_000))
    assert wait_before(pair.pace, 10_000, UNHURRIED) == 50_000
    pace = after_withdrawing(pair.pace, 3_000)
    assert pace.accepted == (0, 1_000, 2_000, *range(4_000, 10_000, 1_000))
    assert wait_before(pace, 10_000, UNHURRIED) == 0


def test_of_two_at_the_same_moment_one_is_withdrawn() -> None:
    assert after_withdrawing(Pair(UNHURRIED).sent(5, 5).pace, 5).accepted == (5,)


@given(pairs_after_some_attempts(), st.integers(-1, 3_000_000))
def test_what_is_not_remembered_cannot_be_withdrawn(pair: Pair, at: int) -> None:
    if at not in pair.pace.accepted:
        assert after_withdrawing(pair.pace, at) is pair.pace


@given(pairs_after_some_attempts(), moments_later, moments_later)
def test_who_asked_in_vain_never_waits_longer_than_if_it_had_not(pair: Pair, later: int, passed: int) -> None:
    now = (pair.accepted[-1] if pair.accepted else 0) + later
    now += wait_before(pair.pace, now, pair.rules)
    withdrawn = after_withdrawing(after_accepting(pair.pace, now, pair.rules), now)
    wait = wait_before(withdrawn, now + passed, pair.rules)
    assert wait <= wait_before(pair.pace, now + passed, pair.rules)


@given(pairs_after_some_attempts())
def test_the_level_never_falls_below_nothing(pair: Pair) -> None:
    pace = pair.pace
    for at in pair.pace.accepted:
        pace = after_withdrawing(pace, at)
    assert (pace.level >= 0, pace.accepted) == (True, ())
