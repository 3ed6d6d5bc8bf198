"""Where messages get their order."""

from hypothesis import given
from hypothesis import strategies as st

from rookery.domain.conversations import broadcast_conversation, direct_conversation
from rookery.domain.ids import OPERATOR, agent_slug

parties = st.one_of(st.just(OPERATOR), st.integers(0, 399).map(lambda pick: agent_slug(pick, ())))


@given(parties, parties)
def test_a_direct_conversation_is_the_same_whoever_speaks_first(one: str, other: str) -> None:
    assert direct_conversation(one, other) == direct_conversation(other, one)


@given(parties, parties, parties)
def test_each_pair_has_a_direct_conversation_of_its_own(one: str, other: str, third: str) -> None:
    same_pair = {one, other} == {one, third}
    assert (direct_conversation(one, other) == direct_conversation(one, third)) == same_pair


@given(parties, parties)
def test_no_direct_conversation_is_the_broadcast_stream(one: str, other: str) -> None:
    assert direct_conversation(one, other) != broadcast_conversation()


def test_a_direct_conversation_names_its_two_parties_in_order() -> None:
    assert direct_conversation("swift-fox", "calm-owl") == "dm:calm-owl:swift-fox"
