"""Tasks: numbered from 1 without a gap, and found by whom they concern."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from rookery.domain.tasks import Task, task_id
from rookery.ports import Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.export import exported, loaded
from rookery.testing.stores.inbox import change, done
from rookery.testing.stores.laws import replayed, stored
from rookery.testing.stores.pruning import prune
from rookery.testing.stores.samples import (
    BEAR,
    FOX,
    NOW,
    OWL,
    Mishap,
    a_task,
    handed_over,
    posted,
    task_ended,
)


def numbered(tx: Transaction) -> str:
    """The next task, put under its number."""
    task = a_task(tx.tasks.next_number())
    tx.tasks.put(task)
    return task.id


def numbers(tasks: Sequence[Task]) -> list[int]:
    return [int(task.id.removeprefix("task-")) for task in tasks]


def recent(tx: Transaction, *, party: str | None, open_only: bool, limit: int) -> Sequence[Task]:
    return tx.tasks.recent(party=party, open_only=open_only, limit=limit)


class TaskContract(StoreCase):
    async def test_tasks_are_numbered_from_one_without_a_gap(self, store: Store, directory: Path) -> None:
        assert await store.read(lambda tx: tx.tasks.next_number()) == 1
        given = await asyncio.gather(*(store.write(numbered) for _ in range(20)))
        assert given == [task_id(number) for number in range(1, 21)]
        await store.write(lambda tx: tx.tasks.put(replace(a_task(20), status="completed")))
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.write(numbered) == "task-21"
            await again.rebuild(lambda _: None)
            assert await again.write(numbered) == "task-22"

    async def test_a_number_is_taken_once_a_task_is_put_under_it(self, store: Store) -> None:
        def failing(tx: Transaction) -> str:
            numbered(tx)
            raise Mishap

        def looking(tx: Transaction) -> str:
            return task_id(tx.tasks.next_number())

        works = [numbered, failing, looking, numbered, failing, looking]
        outcomes = await asyncio.gather(*(store.write(work) for work in works), return_exceptions=True)
        assert [each for each in outcomes if isinstance(each, str)] == ["task-1", "task-2", "task-2", "task-3"]

    async def test_numbers_go_on_in_a_loaded_store(self, store: Store, tmp_path: Path) -> None:
        for _ in range(3):
            await store.write(numbered)
        (tmp_path / "second").mkdir()
        async with self.opened(tmp_path / "second") as copy:
            await loaded(copy, await exported(store))
            assert await copy.write(numbered) == "task-4"

    async def test_the_parts_of_a_task_are_its_children(self, store: Store) -> None:
        tasks = [a_task(n, parent=parent) for n, parent in enumerate([None, "task-1", "task-2", "task-1"], 1)]
        await store.write(lambda tx: handed_over(tx, *tasks))
        await store.write(lambda tx: task_ended(tx, tasks[1].ended(NOW, OWL, "completed")))

        def look(tx: Transaction) -> list[list[int]]:
            return [numbers(tx.tasks.children(task_id(number))) for number in range(6)]

        assert await store.read(look) == [[], [2, 4], [3], [], [], []]

    @pytest.mark.parametrize("outcome", ["completed", "failed", "cancelled"])
    async def test_open_tasks_are_found_by_either_party(self, store: Store, directory: Path, outcome: str) -> None:
        def look(tx: Transaction) -> list[list[int]]:
            requested = [numbers(tx.tasks.open_requested_by(party)) for party in (FOX, OWL, BEAR)]
            return requested + [numbers(tx.tasks.open_assigned_to(party)) for party in (FOX, OWL, BEAR)]

        def work(tx: Transaction) -> None:
            pairs = [(FOX, OWL), (FOX, BEAR), (OWL, BEAR), (FOX, OWL)]
            tasks = [a_task(n, requester=by, assignee=to) for n, (by, to) in enumerate(pairs, 1)]
            handed_over(tx, *tasks)
            tx.tasks.put(tasks[1].started(NOW))

        await store.write(work)
        assert await store.read(look) == [[1, 2, 4], [3], [], [], [1, 4], [2, 3]]
        ended = replace(a_task(1), status=outcome)  # pyright: ignore[reportArgumentType]
        await store.write(lambda tx: task_ended(tx, ended))
        assert await store.read(look) == [[2, 4], [3], [], [], [4], [2, 3]]
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(look) == [[2, 4], [3], [], [], [4], [2, 3]]

    async def test_what_was_put_off_is_due_from_its_moment_on(self, store: Store) -> None:
        moments = [None, NOW + 30, NOW + 10, NOW + 20, NOW + 10]
        tasks = [a_task(number, not_before=moment) for number, moment in enumerate(moments, 1)]
        await store.write(lambda tx: handed_over(tx, *tasks))

        async def due(now: int, limit: int = 9) -> list[int]:
            return numbers(await store.read(lambda tx: tx.tasks.due(now, limit)))

        assert await due(NOW + 9) == []
        assert sorted(await due(NOW + 10)) == [3, 5]
        assert len(await due(NOW + 10, limit=1)) == 1
        assert sorted(await due(NOW + 99)) == [2, 3, 4, 5]
        await store.write(lambda tx: tx.tasks.put(tasks[2].posted("m-1")))
        await store.write(lambda tx: task_ended(tx, tasks[3].ended(NOW, FOX, "cancelled")))
        assert sorted(await due(NOW + 99)) == [2, 5]

    async def test_the_newest_tasks_come_in_order_of_creation(self, store: Store) -> None:
        def work(tx: Transaction) -> None:
            pairs = [(FOX, OWL), (OWL, BEAR), (BEAR, FOX), (FOX, FOX), (FOX, OWL), (OWL, BEAR)]
            tasks = [a_task(n, requester=by, assignee=to) for n, (by, to) in enumerate(pairs, 1)]
            handed_over(tx, *tasks)
            for task in tasks[0], tasks[4]:
                task_ended(tx, task.ended(NOW, OWL, "completed"))

        await store.write(work)
        for party, open_only, limit, expected in (
            (None, False, 9, [1, 2, 3, 4, 5, 6]),
            (None, False, 2, [5, 6]),
            (None, True, 9, [2, 3, 4, 6]),
            (None, True, 3, [3, 4, 6]),
            (FOX, False, 9, [1, 3, 4, 5]),
            (FOX, False, 3, [3, 4, 5]),
            (FOX, True, 9, [3, 4]),
            (FOX, True, 1, [4]),
            (OWL, False, 3, [2, 5, 6]),
            (OWL, True, 3, [2, 6]),
            (BEAR, True, 2, [3, 6]),
            ("operator", False, 9, []),
            (FOX, False, 0, []),
        ):
            look = partial(recent, party=party, open_only=open_only, limit=limit)
            assert numbers(await store.read(look)) == expected, (party, open_only, limit)

    async def test_a_task_outlives_its_request(self, store: Store, directory: Path) -> None:
        def work(tx: Transaction) -> Task:
            task = a_task(1).posted(posted(tx, "do it").id)
            handed_over(tx, task)
            return task

        task = await store.write(work)
        request = await store.read(lambda tx: tx.messages.get(task.message_id or ""))
        assert request is not None
        await change(store, request, done)
        assert await prune(store) == 1
        await store.rebuild(lambda _: None)
        assert list(await store.read(lambda tx: tx.tasks.all())) == [task]
        assert await store.read(replayed) == await store.read(stored)
        await self.crash(store)
        async with self.opened(directory) as again:
            assert list(await again.read(lambda tx: tx.tasks.all())) == [task]
            assert await again.write(numbered) == "task-2"
