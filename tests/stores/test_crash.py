"""A hub that is killed at any moment loses nothing it has answered."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from rookery.ports import InboxQuery, Store, Transaction
from rookery.testing.stores.laws import replayed, stored
from rookery.testing.stores.samples import FOX, OWL
from tests.stores.support import KINDS, both_kinds, opened, peopled, python, sending

WRITER = """
import asyncio, itertools, random, sys
from dataclasses import replace
from pathlib import Path
from rookery.domain.events import MessageClaimed, MessageCompleted, MessageSeen
from rookery.domain.ids import MessageIds
from rookery.domain.principals import Principal
from rookery.services.posting import Posting
from rookery.stores.{kind} import {name}
from rookery.testing.stores import samples

NOW, FOX, OWL = samples.NOW, samples.FOX, samples.OWL
samples.posting = Posting(MessageIds(random.Random(int(sys.argv[2])).getrandbits))
BY_OWL = Principal(OWL, "t")

def claimed_and_done(message_id):
    def work(tx):
        delivery = tx.deliveries.get(message_id, OWL)
        claimed = delivery.claimed(NOW, OWL, "rest")
        tx.deliveries.save(claimed)
        fact = MessageClaimed(message_id=message_id, recipient=OWL, by=OWL, via="rest", at=NOW)
        tx.journal.record(fact, at=NOW, by=BY_OWL, audience=(OWL, FOX))
        tx.deliveries.save(claimed.completed(NOW, OWL, "done"))
        fact = MessageCompleted(message_id=message_id, recipient=OWL, by=OWL, outcome="done", at=NOW)
        tx.journal.record(fact, at=NOW, by=BY_OWL, audience=(OWL, FOX))
    return work

async def main():
    store = {name}(Path(sys.argv[1]))
    await store.open()

    async def write():
        for number in itertools.count():
            message = await store.write(lambda tx: samples.posted(tx, f"message {{number}}"))
            print("sent", message.id, message.seq, flush=True)
            if number % 3 == 0:
                await store.write(claimed_and_done(message.id))
                print("done", message.id, flush=True)

    await asyncio.gather(*(write() for _ in range(8)))

asyncio.run(main())
"""


def acknowledged(make_store: Callable[[Path], Store], directory: Path, seed: int, most: int) -> list[list[str]]:
    """What a child process was told of its writes before it was killed, without warning, at some moment."""
    name = getattr(make_store, "__name__", "")
    program = WRITER.format(kind=name.removesuffix("Store").lower(), name=name)
    child = python(program, directory, seed)
    lines: list[str] = []
    assert child.stdout is not None
    try:
        for line in child.stdout:
            lines.append(line)
            if len(lines) == most:
                break
    finally:
        child.kill()
        rest, errors = child.communicate()
    assert child.returncode == -9, errors
    lines += rest.splitlines(keepends=True)
    return [line.split() for line in lines if line.endswith("\n")]


@both_kinds
async def test_what_was_answered_before_a_kill_is_there_afterwards(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    moments = random.Random(11)
    sent: dict[str, int] = {}
    done: set[str] = set()
    async with peopled(make_store(tmp_path / "data")):
        pass
    for seed in range(4):
        told = acknowledged(make_store, tmp_path / "data", seed, moments.randrange(20, 300))
        sent |= {words[1]: int(words[2]) for words in told if words[0] == "sent"}
        done |= {words[1] for words in told if words[0] == "done"}
        async with opened(make_store(tmp_path / "data")) as store:

            def look(tx: Transaction) -> tuple[dict[str, int], set[str], bool]:
                items = tx.deliveries.inbox(InboxQuery(recipient=OWL, limit=1_000_000))
                return (
                    {item.message.id: item.message.seq for item in items},
                    {item.message.id for item in items if item.delivery.folder == "done"},
                    stored(tx) == replayed(tx),
                )

            numbers, finished, lawful = await store.read(look)
        assert sent.items() <= numbers.items()
        assert done <= finished
        assert sorted(numbers.values()) == list(range(1, len(numbers) + 1))
        assert lawful
        if make_store is KINDS["maildir"]:
            files = {path.stem: path.parent.name for path in (tmp_path / "data/inbox" / OWL).rglob("*.json")}
            assert files == {each: "done" if each in finished else "new" for each in numbers}


@both_kinds
async def test_a_waiter_that_gave_up_finds_its_work_done(
    tmp_path: Path, make_store: Callable[[Path], Store]
) -> None:
    async with peopled(make_store(tmp_path / "data")) as store:
        waiter = asyncio.ensure_future(store.write(sending("nobody waits for this")))
        await asyncio.sleep(0)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        await store.write(sending("after it"))
        history = await store.read(lambda tx: tx.messages.history(f"dm:{FOX}:{OWL}", before=None, limit=10))
        assert [message.content for message in history] == ["nobody waits for this", "after it"]
