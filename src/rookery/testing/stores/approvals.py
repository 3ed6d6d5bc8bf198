"""Approvals: found while they wait, by the call that waits for them, and by when they came."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from rookery.domain.approvals import Approval, ApprovalStatus
from rookery.ports import Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.samples import BEAR, FOX, NOW, OWL, an_approval, requested


def ids(approvals: Sequence[Approval]) -> str:
    return "".join(approval.id for approval in approvals)


def recent(tx: Transaction, *, agent: str | None, limit: int) -> Sequence[Approval]:
    return tx.approvals.recent(agent=agent, limit=limit)


class ApprovalContract(StoreCase):
    @pytest.mark.parametrize("status", ["approved", "denied", "expired", "cancelled"])
    async def test_an_approval_is_pending_until_it_is_answered(
        self, store: Store, directory: Path, status: ApprovalStatus
    ) -> None:
        first = an_approval("a")

        def look(tx: Transaction) -> list[str]:
            late = tx.approvals.overdue(NOW + 90_000, 9)
            return [ids(tx.approvals.pending(agent)) for agent in (None, FOX, OWL, BEAR)] + [ids(late)]

        def work(tx: Transaction) -> list[str]:
            tx.approvals.put(first.answered(NOW, "operator", status))
            return look(tx)

        await store.write(lambda tx: requested(tx, first, an_approval("b", agent=OWL), an_approval("c")))
        assert await store.read(look) == ["abc", "ac", "b", "", "abc"]
        assert await store.write(work) == ["bc", "c", "b", "", "bc"]
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(look) == ["bc", "c", "b", "", "bc"]
            assert ids(await again.read(lambda tx: tx.approvals.all())) == "abc"

    async def test_under_a_key_the_newest_of_that_agent_is_found(self, store: Store) -> None:
        def work(tx: Transaction) -> None:
            requested(tx, an_approval("a", key="k"), an_approval("b", key="other"))
            requested(tx, an_approval("c", agent=OWL, key="k"), an_approval("d", key="k"), an_approval("e"))
            tx.approvals.put(an_approval("a", key="k").answered(NOW, "operator", "approved").used(NOW))

        def look(tx: Transaction) -> list[str | None]:
            pairs = ((FOX, "k"), (FOX, "other"), (OWL, "k"), (OWL, "other"), (FOX, ""), (BEAR, "k"))
            found = [tx.approvals.under_key(agent, key) for agent, key in pairs]
            return [None if each is None else each.id for each in found]

        await store.write(work)
        assert await store.read(look) == ["d", "b", "c", None, None, None]

    async def test_an_approval_that_was_answered_is_found_under_its_key(self, store: Store) -> None:
        answered = an_approval("a", key="k").answered(NOW, "operator", "denied", note="no")
        await store.write(lambda tx: requested(tx, an_approval("a", key="k")))
        await store.write(lambda tx: tx.approvals.put(answered))
        assert await store.read(lambda tx: tx.approvals.under_key(FOX, "k")) == answered

    async def test_pending_approvals_expire_at_their_moment(self, store: Store) -> None:
        moments = {"a": NOW + 30, "b": NOW + 10, "c": NOW + 20, "d": NOW + 10}
        await store.write(
            lambda tx: requested(tx, *(an_approval(name, expires_at=at) for name, at in moments.items()))
        )

        async def overdue(now: int, limit: int = 9) -> list[str]:
            return sorted(ids(await store.read(lambda tx: tx.approvals.overdue(now, limit))))

        assert await overdue(NOW + 9) == []
        assert await overdue(NOW + 10) == ["b", "d"]
        assert len(await overdue(NOW + 10, limit=1)) == 1
        assert await overdue(NOW + 99) == ["a", "b", "c", "d"]
        await store.write(lambda tx: tx.approvals.put(replace(an_approval("b"), status="expired")))
        assert await overdue(NOW + 99) == ["a", "c", "d"]

    async def test_the_newest_come_the_oldest_of_them_first(self, store: Store) -> None:
        agents = {"a": FOX, "b": OWL, "c": FOX, "d": FOX, "e": OWL}
        await store.write(
            lambda tx: requested(tx, *(an_approval(name, agent=agent) for name, agent in agents.items()))
        )
        await store.write(lambda tx: tx.approvals.put(replace(an_approval("c"), status="denied")))
        for agent, limit, expected in (
            (None, 9, "abcde"),
            (None, 2, "de"),
            (FOX, 9, "acd"),
            (FOX, 2, "cd"),
            (OWL, 1, "e"),
            (BEAR, 9, ""),
            (None, 0, ""),
        ):
            look = partial(recent, agent=agent, limit=limit)
            assert ids(await store.read(look)) == expected
