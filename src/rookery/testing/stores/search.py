"""Search: by the beginnings of words, at once, and whatever is typed."""

import random

import pytest

from rookery.domain.messages import Message
from rookery.ports import Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.samples import BEAR, FOX, OWL, Mishap, contents, posted, shouted

WORDLESS = ["", " ", "\n", '"', "''", "*", "-", "--", "(", ")", "^", ":", "+", "***", '" "', "\\"]
ODD = [
    'fox"', '"fox', "fox*", "*fox", "-fox", "NEAR(", "NEAR(fox owl, 2)", "fox AND", "OR", "NOT fox",
    "fox OR owl", "content:fox", "content : fox", "{content} : fox", "^fox", "fox^2", "fox'; --", "🦊",
    "fox 🦊", "キツネ", "a\0b", "\ud800", "fox\ud800", "x" * 10_000, "fox " * 2_000, "%", "_", "fox\\", "$1",
    "?1", "\u202efox", "ﬁ",
]  # fmt: skip


async def found(store: Store, text: str, party: str | None = None, limit: int = 50) -> set[str]:
    return set(contents(await store.read(lambda tx: tx.messages.search(text, party=party, limit=limit))))


class SearchContract(StoreCase):
    @pytest.fixture
    async def library(self, store: Store) -> Store:
        def work(tx: Transaction) -> None:
            posted(tx, "The quick brown fox jumps")
            posted(tx, "a FOXGLOVE in the garden", sender=OWL, to=BEAR)
            posted(tx, "nearly done; user-service is up", sender=BEAR)
            shouted(tx, "lunch, everybody", (OWL, BEAR))

        await store.write(work)
        return store

    async def test_a_word_is_found_by_its_beginning_in_any_case(self, library: Store) -> None:
        both = {"The quick brown fox jumps", "a FOXGLOVE in the garden"}
        assert await found(library, "fox") == both
        assert await found(library, "Fo") == both
        assert await found(library, "foxg") == {"a FOXGLOVE in the garden"}
        assert await found(library, "ox") == set()

    async def test_of_several_words_all_must_be_there_in_any_order(self, library: Store) -> None:
        assert await found(library, "fox quick") == {"The quick brown fox jumps"}
        assert await found(library, "qu bro ju") == {"The quick brown fox jumps"}
        assert await found(library, "fox lunch") == set()

    async def test_signs_between_words_are_no_part_of_them(self, library: Store) -> None:
        assert await found(library, "user-service") == {"nearly done; user-service is up"}
        assert await found(library, '"fox"') == await found(library, "fox")
        assert await found(library, "NEAR(") == {"nearly done; user-service is up"}

    async def test_with_a_party_only_what_it_sent_or_received_is_found(self, library: Store) -> None:
        assert await found(library, "fox", FOX) == {"The quick brown fox jumps"}
        assert await found(library, "fox", OWL) == {"The quick brown fox jumps", "a FOXGLOVE in the garden"}
        assert await found(library, "fox", BEAR) == {"a FOXGLOVE in the garden"}
        assert await found(library, "fox", "nobody-here") == set()

    async def test_a_broadcast_is_found_by_its_sender_and_by_those_who_received_it(self, library: Store) -> None:
        for party in (FOX, OWL, BEAR):
            assert await found(library, "lunch", party) == {"lunch, everybody"}
        await library.write(lambda tx: shouted(tx, "dinner, everybody", (BEAR,)))
        assert await found(library, "dinner", OWL) == set()

    async def test_no_more_than_the_limit_is_returned(self, library: Store) -> None:
        for _ in range(5):
            await library.write(lambda tx: posted(tx, "lunch again"))
        assert len(await library.read(lambda tx: tx.messages.search("lunch", party=None, limit=3))) == 3
        assert len(await library.read(lambda tx: tx.messages.search("lunch", party=OWL, limit=3))) == 3

    async def test_the_messages_come_whole_and_none_comes_twice(self, library: Store) -> None:
        def work(tx: Transaction) -> Message:
            return shouted(tx, "zebra zebra zebra", (OWL, BEAR, "bold-crow"))

        message = await library.write(work)
        for party in (None, FOX, OWL):
            hits = await library.read(lambda tx, party=party: tx.messages.search("zebra", party=party, limit=9))
            assert list(hits) == [message]

    async def test_what_was_just_committed_is_found(self, store: Store) -> None:
        for number in range(30):
            await store.write(lambda tx, number=number: posted(tx, f"parcel p{number}x"))
            assert await found(store, f"p{number}x") == {f"parcel p{number}x"}
            assert await found(store, f"p{number}x", OWL) == {f"parcel p{number}x"}
        assert len(await found(store, "parcel")) == 30

    async def test_what_was_never_committed_is_not_found(self, store: Store) -> None:
        def failing(tx: Transaction) -> None:
            posted(tx, "unspoken")
            raise Mishap

        with pytest.raises(Mishap):
            await store.write(failing)
        await store.write(lambda tx: posted(tx, "spoken"))
        assert await found(store, "unspoken") == set()

    @pytest.mark.parametrize("text", WORDLESS, ids=repr)
    async def test_text_without_a_word_finds_nothing(self, library: Store, text: str) -> None:
        assert await found(library, text) == set()

    @pytest.mark.parametrize("text", ODD, ids=lambda text: repr(text)[:20])
    async def test_odd_text_never_raises(self, library: Store, text: str) -> None:
        await found(library, text)
        await found(library, text, OWL)

    async def test_no_jumble_of_signs_and_words_raises(self, library: Store) -> None:
        dice = random.Random(11)
        parts = ["fox", "AND", "OR", "NOT", "NEAR", "content", *"\"'*-+:^(){}[],.;\\/|&!~<>=@#$%?_ \t\0🦊é"]
        for _ in range(300):
            await found(library, "".join(dice.choices(parts, k=dice.randint(1, 8))), dice.choice([None, OWL]))
