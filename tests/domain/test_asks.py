"""Questions that somebody waits for: how they end, and that they do so once."""

from dataclasses import replace

import pytest

from rookery.domain.asks import DEEPEST, Ask

ASK = Ask(message_id="m1", asker="fox", target="owl", depth=1, asked_at=1_000, deadline=121_000)

ENDINGS: dict[str, Ask] = {
    "answered": ASK.answered(5_000, "m2"),
    "failed": ASK.failed(5_000, "it broke"),
    "timed_out": ASK.timed_out(5_000),
    "abandoned": ASK.abandoned(5_000),
}


def test_a_question_is_open_until_it_has_ended() -> None:
    assert (ASK.open, ASK.state, ASK.ended_at) == (True, "open", None)


@pytest.mark.parametrize("state", ENDINGS)
def test_every_ending_says_when_and_how_and_keeps_the_rest(state: str) -> None:
    ended = ENDINGS[state]
    assert (ended.state, ended.open, ended.ended_at) == (state, False, 5_000)
    assert ended.answer_id == ("m2" if state == "answered" else None)
    assert ended.error == ("it broke" if state == "failed" else None)
    assert replace(ended, state="open", ended_at=None, answer_id=None, error=None) == ASK


@pytest.mark.parametrize(
    ("milliseconds", "seconds"),
    [(120_000, 120), (1_000, 1), (1_499, 1), (1_500, 2), (30_400, 30), (999, 1), (300, 1), (1, 1), (0, 1)],
)
def test_patience_is_told_in_whole_seconds_and_is_at_least_one(milliseconds: int, seconds: int) -> None:
    assert replace(ASK, deadline=ASK.asked_at + milliseconds).patience == seconds


def test_questions_within_questions_go_three_deep() -> None:
    assert DEEPEST == 3
