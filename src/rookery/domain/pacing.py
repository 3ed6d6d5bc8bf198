"""Back-off between a directed pair of agents, so that two polite models cannot thank each other for hours."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PacingRules:
    """All in milliseconds, except the count."""

    first_gap: int = 2_000
    longest_gap: int = 30_000
    eager_within: int = 5_000
    reset_after: int = 30_000
    window: int = 60_000
    most_in_window: int = 10


@dataclass(frozen=True, slots=True)
class Pace:
    """What is remembered of one sender towards one target: accepted messages only.

    `level` counts the doublings of the gap that the next message needs; `accepted` holds the times of the
    accepted ones that still count in the sliding window, oldest first.
    """

    level: int = 0
    accepted: tuple[int, ...] = ()


def wait_before(pace: Pace, now: int, rules: PacingRules) -> int:
    """Milliseconds until the next message is allowed; 0 when it is allowed now."""
    if not pace.accepted:
        return 0
    return max(0, _allowed_at(pace, rules) - now)


def after_accepting(pace: Pace, now: int, rules: PacingRules) -> Pace:
    """The pace once a message at `now`, which `wait_before` allowed, has been accepted."""
    recent = tuple(at for at in pace.accepted if now - at < rules.window)
    if not pace.accepted or now - pace.accepted[-1] >= rules.reset_after:
        level = 0
    elif now - _allowed_at(pace, rules) <= rules.eager_within:
        level = pace.level + 1
    else:
        level = pace.level
    return Pace(level, (*recent, now)[-max(rules.most_in_window, 1) :])


def after_withdrawing(pace: Pace, at: int) -> Pace:
    """The pace as if the message that was accepted at that moment had not been."""
    if at not in pace.accepted:
        return pace
    left = list(pace.accepted)
    left.remove(at)
    return Pace(max(0, pace.level - 1), tuple(left))


def _allowed_at(pace: Pace, rules: PacingRules) -> int:
    """When the next message is allowed: both the gap and the sliding window must have passed."""
    # Beyond 60 doublings every gap is the longest one; the bound keeps the number small.
    gap = min(rules.first_gap << min(pace.level, 60), rules.longest_gap, rules.reset_after)
    gap_ends = pace.accepted[-1] + gap
    if len(pace.accepted) < rules.most_in_window:
        return gap_ends
    return max(gap_ends, pace.accepted[-rules.most_in_window] + rules.window)
