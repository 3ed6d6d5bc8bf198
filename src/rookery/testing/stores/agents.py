"""Agents: found by id or name, numbered, touched, never forgotten."""

from dataclasses import replace
from pathlib import Path

from rookery.domain.events import AgentRegistered
from rookery.ports import Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.samples import BEAR, FOX, NOW, OWL, an_agent, journal, posted, registered


class AgentContract(StoreCase):
    async def test_an_agent_is_kept_with_every_field(self, store: Store, directory: Path) -> None:
        fox = replace(an_agent(FOX), status="sleeping", sleeping_until=NOW + 9)
        bare = replace(an_agent(OWL), manager=None, project=None, model_name=None)
        await store.write(lambda tx: registered(tx, fox, bare))
        assert await store.read(lambda tx: (tx.agents.get(FOX), tx.agents.get(OWL))) == (fox, bare)
        await store.close()
        async with self.opened(directory) as again:
            assert await again.read(lambda tx: (tx.agents.get(FOX), tx.agents.get(OWL))) == (fox, bare)

    async def test_an_agent_that_never_was_is_none(self, store: Store) -> None:
        assert await store.read(lambda tx: (tx.agents.get("ghost"), tx.agents.find("ghost"))) == (None, None)

    async def test_a_name_is_found_without_regard_to_case(self, store: Store) -> None:
        fox = an_agent(FOX, "Builder.One")
        await store.write(lambda tx: registered(tx, fox))
        for name in ("Builder.One", "builder.one", "BUILDER.ONE", FOX):
            assert await store.read(lambda tx, name=name: tx.agents.find(name)) == fox

    async def test_an_id_is_looked_for_before_a_name(self, store: Store) -> None:
        fox, pretender = an_agent(FOX, "builder"), an_agent(OWL, FOX)
        await store.write(lambda tx: registered(tx, pretender, fox))
        assert await store.read(lambda tx: tx.agents.find(FOX)) == fox

    async def test_an_update_replaces_the_agent(self, store: Store) -> None:
        renamed = replace(
            an_agent(FOX, "builder"), role="worker", mode="supervised", manager=None, status="sleeping",
            sleeping_until=NOW + 9,
        )  # fmt: skip

        def work(tx: Transaction) -> None:
            registered(tx, FOX)
            tx.agents.update(renamed)

        await store.write(work)
        found = await store.read(lambda tx: (tx.agents.get(FOX), tx.agents.find("builder")))
        assert found == (renamed, renamed)
        assert await store.read(lambda tx: tx.agents.find("swift.fox")) is None

    async def test_a_deleted_agent_is_found_by_get_alone(self, store: Store) -> None:
        gone = replace(an_agent(FOX, "builder"), deleted_at=NOW + 1, status="offline")
        await store.write(lambda tx: registered(tx, an_agent(FOX, "builder"), OWL))
        await store.write(lambda tx: tx.agents.update(gone))
        assert await store.read(lambda tx: tx.agents.get(FOX)) == gone
        assert await store.read(lambda tx: (tx.agents.find(FOX), tx.agents.find("builder"))) == (None, None)
        assert await store.read(lambda tx: [agent.id for agent in tx.agents.living()]) == [OWL]
        assert {agent.id for agent in await store.read(lambda tx: list(tx.agents.all()))} == {FOX, OWL}

    async def test_the_name_of_a_deleted_agent_is_free(self, store: Store) -> None:
        gone = replace(an_agent(FOX, "builder"), deleted_at=NOW + 1)
        heir = an_agent(OWL, "Builder")
        await store.write(lambda tx: registered(tx, an_agent(FOX, "builder")))
        await store.write(lambda tx: tx.agents.update(gone))
        await store.write(lambda tx: registered(tx, heir))
        assert await store.read(lambda tx: tx.agents.find("builder")) == heir

    async def test_the_living_come_in_order_of_registration(self, store: Store, directory: Path) -> None:
        order = [OWL, FOX, BEAR, "bold-crow"]
        for agent_id in order:
            await store.write(lambda tx, agent_id=agent_id: registered(tx, agent_id))
        await store.write(lambda tx: tx.agents.update(replace(an_agent(OWL), name="zebra", status="idle")))
        await store.write(lambda tx: tx.agents.touch(FOX, NOW + 99))
        assert await store.read(lambda tx: [agent.id for agent in tx.agents.living()]) == order
        await store.close()
        async with self.opened(directory) as again:
            assert await again.read(lambda tx: [agent.id for agent in tx.agents.living()]) == order

    async def test_ids_of_a_pair_are_remembered_with_their_numbers_and_no_others(self, store: Store) -> None:
        alike = {FOX, f"{FOX}-2", f"{FOX}-17"}
        others = {f"{FOX}-cub", f"{FOX}es", f"{FOX}-2b", f"very-{FOX}", "swift-owl", f"{FOX}-"}

        def work(tx: Transaction) -> None:
            registered(tx, *(an_agent(agent_id, f"n{n}") for n, agent_id in enumerate(sorted(alike | others))))
            tx.agents.update(replace(an_agent(f"{FOX}-2", "gone"), deleted_at=NOW))

        await store.write(work)
        assert await store.read(lambda tx: tx.agents.ids_like(FOX)) == alike
        assert await store.read(lambda tx: tx.agents.ids_like("keen-wolf")) == frozenset()

    async def test_a_sign_of_life_changes_last_active_alone_and_is_no_fact(self, store: Store) -> None:
        await store.write(lambda tx: registered(tx, FOX, OWL))
        before = await store.read(journal)
        await store.write(lambda tx: tx.agents.touch(FOX, NOW + 5_000))
        assert await store.read(lambda tx: tx.agents.get(FOX)) == an_agent(FOX, last_active=NOW + 5_000)
        assert await store.read(lambda tx: tx.agents.get(OWL)) == an_agent(OWL)
        assert await store.read(journal) == before

    async def test_an_agent_is_born_where_its_registration_stands_in_the_journal(self, store: Store) -> None:
        await store.write(lambda tx: registered(tx, FOX))
        await store.write(posted)
        await store.write(lambda tx: registered(tx, OWL, BEAR))
        births = {
            entry.fact.agent.id: entry.position
            for entry in await store.read(journal)
            if isinstance(entry.fact, AgentRegistered)
        }
        for agent_id in (FOX, OWL, BEAR):
            assert await store.read(lambda tx, who=agent_id: tx.agents.born_at(who)) == births[agent_id]
