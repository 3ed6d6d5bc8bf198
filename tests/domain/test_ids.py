"""Slugs for agents, time-sortable ids for messages."""

import random
import re
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from rookery.domain.ids import ADJECTIVES, ANIMALS, MessageIds, agent_slug

NOW = 1_800_000_000_000


def bits(number: int) -> Callable[[int], int]:
    """A source of randomness that gives the same number every time, cut to the bits asked for."""
    return lambda width: number & ((1 << width) - 1)


@given(st.integers(min_value=0))
def test_a_slug_is_an_adjective_and_an_animal(pick: int) -> None:
    adjective, animal = agent_slug(pick, frozenset()).split("-")
    assert adjective in ADJECTIVES
    assert animal in ANIMALS


def test_every_pair_can_be_picked() -> None:
    pairs = {agent_slug(pick, frozenset()) for pick in range(len(ADJECTIVES) * len(ANIMALS))}
    assert len(pairs) == len(ADJECTIVES) * len(ANIMALS) == 400


def test_the_words_are_distinct_and_can_be_typed() -> None:
    assert len({*ADJECTIVES, *ANIMALS}) == len(ADJECTIVES) + len(ANIMALS)
    assert all(re.fullmatch("[a-z]+", word) for word in (*ADJECTIVES, *ANIMALS))


def test_a_taken_pair_is_numbered_from_two() -> None:
    assert agent_slug(0, frozenset()) == "swift-fox"
    assert agent_slug(0, {"swift-fox"}) == "swift-fox-2"
    assert agent_slug(0, {"swift-fox", "swift-fox-2"}) == "swift-fox-3"


def test_the_first_free_number_is_used() -> None:
    assert agent_slug(0, {"swift-fox", "swift-fox-3"}) == "swift-fox-2"


def test_a_number_alone_does_not_take_the_pair() -> None:
    assert agent_slug(0, {"swift-fox-2"}) == "swift-fox"


@given(st.lists(st.integers(0, 5), max_size=40))
def test_no_slug_is_ever_given_twice(picks: list[int]) -> None:
    given_so_far: set[str] = set()
    for pick in picks:
        slug = agent_slug(pick, given_so_far)
        assert slug not in given_so_far
        given_so_far.add(slug)


def test_a_message_id_is_26_characters_of_crockford_base_32() -> None:
    for source in (bits(0), bits(-1), random.Random(7).getrandbits):
        assert re.fullmatch("[0-9a-hjkmnp-tv-z]{26}", MessageIds(source).next(NOW))


def test_a_message_id_begins_with_its_time() -> None:
    ids = MessageIds(bits(-1))
    assert ids.next(NOW)[:9] != MessageIds(bits(-1)).next(NOW + 1_000)[:9]
    assert MessageIds(bits(0)).next(NOW)[:10] == MessageIds(bits(-1)).next(NOW)[:10]


def test_ids_of_one_millisecond_sort_in_order_of_creation() -> None:
    ids = MessageIds(random.Random(7).getrandbits)
    made = [ids.next(NOW) for _ in range(1_000)]
    assert made == sorted(set(made))


def test_counting_up_within_a_millisecond_never_reaches_into_the_time() -> None:
    ids = MessageIds(bits(-1))
    same_moment = [ids.next(NOW) for _ in range(1_000)]
    assert {made[:10] for made in same_moment} == {same_moment[0][:10]}
    assert ids.next(NOW + 1) > same_moment[-1]


def test_a_clock_that_goes_back_does_not_upset_the_order() -> None:
    ids = MessageIds(random.Random(7).getrandbits)
    made = [ids.next(now) for now in (NOW, NOW - 5_000, NOW - 1, NOW, NOW + 1, 0)]
    assert made == sorted(set(made))


@given(st.lists(st.tuples(st.integers(0, 2**48 - 1), st.integers(0, 2**79 - 1)), max_size=50))
def test_message_ids_always_grow_whatever_the_clock_and_the_dice_say(draws: list[tuple[int, int]]) -> None:
    dice = iter([roll for _, roll in draws])
    ids = MessageIds(lambda width: next(dice) & ((1 << width) - 1))
    made = [ids.next(now) for now, _ in draws]
    assert made == sorted(set(made))
    assert all(len(one) == 26 for one in made)


@given(st.integers(0, 2**48 - 2), st.integers(0, 2**79 - 1), st.integers(0, 2**79 - 1))
def test_ids_of_two_hubs_sort_by_time_as_long_as_their_milliseconds_differ(now: int, one: int, other: int) -> None:
    assert MessageIds(bits(one)).next(now) < MessageIds(bits(other)).next(now + 1)
