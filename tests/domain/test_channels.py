"""Channels: what they are called, and who is in them."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.domain.channels import Channel, channel_name, channel_of, checked_channel_name
from rookery.domain.errors import Conflict, NameRefused

BUILD = Channel(name="build", topic="what breaks", members=("fox", "owl"), created_by="fox", created_at=1)

ALLOWED = ["build", "b", "7", "v1.2", "a_b-c.d", "x" * 64, "general", "all", "2fast"]
MALFORMED = [
    "", "#", "##build", "x" * 65, ".build", "-build", "_build", "two words", " build", "build ", "build\n", "a/b",
    "a#b", "a:b", "@fox", "bäu", "ビルド", "build🦊", "a\0b", "..",
]  # fmt: skip


@pytest.mark.parametrize("name", ALLOWED)
def test_an_ordinary_name_is_taken_with_or_without_its_sign(name: str) -> None:
    assert checked_channel_name(name) == name
    assert checked_channel_name(f"#{name}") == name


@pytest.mark.parametrize("said", ["build", "#build", "Build", "#BUILD"])
def test_a_channel_is_the_same_however_it_is_spelt(said: str) -> None:
    assert channel_name(said) == checked_channel_name(said) == "build"


@pytest.mark.parametrize("said", MALFORMED)
def test_a_name_of_the_wrong_shape_is_refused(said: str) -> None:
    with pytest.raises(NameRefused, match="use 1 to 64"):
        checked_channel_name(said)


def test_the_refusal_carries_the_name_but_never_more_than_a_line_of_it() -> None:
    with pytest.raises(NameRefused) as refusal:
        checked_channel_name("x" * 10_000)
    assert refusal.value.data == {"name": "x" * 80}
    assert len(refusal.value.message) < 300


@given(st.text())
def test_a_name_that_was_taken_is_taken_again_as_it_is(said: str) -> None:
    with contextlib.suppress(NameRefused):
        name = checked_channel_name(said)
        assert checked_channel_name(name) == name
        assert name.isascii()
        assert name == name.lower()


def test_a_channel_has_an_address_and_a_conversation() -> None:
    assert (BUILD.address, BUILD.conversation) == ("#build", "channel:build")


def test_the_channel_of_a_conversation_is_found_again() -> None:
    assert channel_of(BUILD.conversation) == "build"


@pytest.mark.parametrize("conversation", ["broadcast", "dm:fox:owl", "dm:channel:owl", "channel", ""])
def test_a_conversation_of_another_kind_is_of_no_channel(conversation: str) -> None:
    assert channel_of(conversation) is None


def test_members_stand_in_the_order_they_joined() -> None:
    assert BUILD.joined("bear").joined("ant").members == ("fox", "owl", "bear", "ant")


def test_joining_again_changes_nothing() -> None:
    assert BUILD.joined("fox") == BUILD


def test_one_who_leaves_and_joins_again_comes_last() -> None:
    assert BUILD.left("fox").members == ("owl",)
    assert BUILD.left("fox").joined("fox").members == ("owl", "fox")


def test_one_who_is_not_there_leaves_without_a_trace() -> None:
    assert BUILD.left("bear") == BUILD


def test_an_archived_channel_takes_no_members_but_lets_them_go() -> None:
    archived = BUILD.archived(9)
    with pytest.raises(Conflict, match="#build is archived") as refusal:
        archived.joined("bear")
    assert refusal.value.data == {"channel": "build"}
    assert archived.left("fox").members == ("owl",)


def test_a_channel_is_archived_once() -> None:
    assert BUILD.archived(9).archived_at == 9
    assert BUILD.archived(9).archived(10).archived_at == 9
    assert BUILD.archived(9).members == BUILD.members
