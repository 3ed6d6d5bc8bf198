"""Tokens and paces: small records that must outlive a crash."""

from dataclasses import replace
from pathlib import Path

from rookery.domain.pacing import Pace
from rookery.domain.principals import Token
from rookery.ports import Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.samples import BEAR, FOX, NOW, OWL

TOKEN = Token(id="token-1", digest=bytes(range(32)), holder=FOX, created_at=NOW)
OTHER = Token(id="token-2", digest=bytes(range(1, 33)), holder=FOX, created_at=NOW + 1)


class TokenContract(StoreCase):
    async def test_a_token_is_found_by_the_digest_of_its_secret(self, store: Store, directory: Path) -> None:
        def work(tx: Transaction) -> None:
            tx.tokens.add(TOKEN)
            tx.tokens.add(OTHER)

        await store.write(work)
        assert await store.read(lambda tx: tx.tokens.by_digest(TOKEN.digest)) == TOKEN
        assert await store.read(lambda tx: tx.tokens.by_digest(TOKEN.digest[:-1])) is None
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(lambda tx: tx.tokens.by_digest(OTHER.digest)) == OTHER

    async def test_a_revoked_token_is_found_and_says_when(self, store: Store) -> None:
        await store.write(lambda tx: tx.tokens.add(TOKEN))
        await store.write(lambda tx: tx.tokens.add(OTHER))
        await store.write(lambda tx: tx.tokens.revoke(TOKEN.id, NOW + 9))
        assert await store.read(lambda tx: tx.tokens.by_digest(TOKEN.digest)) == replace(TOKEN, revoked_at=NOW + 9)
        assert await store.read(lambda tx: tx.tokens.by_digest(OTHER.digest)) == OTHER

    async def test_the_tokens_of_a_holder_are_its_own_alone(self, store: Store) -> None:
        foreign = replace(OTHER, id="token-3", digest=b"\0" * 32, holder="operator")

        def work(tx: Transaction) -> None:
            for token in (TOKEN, OTHER, foreign):
                tx.tokens.add(token)

        await store.write(work)
        assert set(await store.read(lambda tx: tx.tokens.held_by(FOX))) == {TOKEN, OTHER}
        assert list(await store.read(lambda tx: tx.tokens.held_by("operator"))) == [foreign]
        assert list(await store.read(lambda tx: tx.tokens.held_by(OWL))) == []


class PacingContract(StoreCase):
    async def test_a_pair_without_a_past_has_a_fresh_pace(self, store: Store) -> None:
        assert await store.read(lambda tx: tx.pacing.get(FOX, OWL)) == Pace()

    async def test_a_pace_is_kept_for_its_direction_alone(self, store: Store, directory: Path) -> None:
        pace = Pace(3, (NOW, NOW + 2_000, NOW + 6_000))
        await store.write(lambda tx: tx.pacing.put(FOX, OWL, Pace(0, (NOW,))))
        await store.write(lambda tx: tx.pacing.put(FOX, OWL, pace))

        def look(tx: Transaction) -> list[Pace]:
            return [tx.pacing.get(*pair) for pair in ((FOX, OWL), (OWL, FOX), (FOX, BEAR))]

        assert await store.read(look) == [pace, Pace(), Pace()]
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(look) == [pace, Pace(), Pace()]

    async def test_a_pace_is_read_back_within_the_work_that_put_it(self, store: Store) -> None:
        def work(tx: Transaction) -> Pace:
            tx.pacing.put(FOX, OWL, Pace(1, (NOW,)))
            return tx.pacing.get(FOX, OWL)

        assert await store.write(work) == Pace(1, (NOW,))
