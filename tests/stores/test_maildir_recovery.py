"""The files and the journal are the truth; the index is made from them whenever it has to be."""

import asyncio
import json
import resource
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rookery.domain.asks import Ask
from rookery.domain.errors import Conflict, StorageDamaged
from rookery.domain.events import AskOpened
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message
from rookery.domain.principals import Token
from rookery.domain.traces import Trace
from rookery.ports import Sent, Store, Transaction
from rookery.stores.maildir import MaildirStore
from rookery.stores.maildir.ground import MaildirGround
from rookery.stores.maildir.segments import Segments
from rookery.stores.tables.group import Job
from rookery.stores.tables.transaction import TableTransaction
from rookery.testing.stores.held import FIRST, SECOND, sent
from rookery.testing.stores.laws import replayed, stored
from rookery.testing.stores.rules import TO_ANYBODY, TO_OWL
from rookery.testing.stores.samples import (
    BEAR,
    BY_FOX,
    FOX,
    NOW,
    OWL,
    a_task,
    an_approval,
    handed_over,
    held_back,
    posted,
    registered,
    requested,
    ruled,
    shouted,
)
from rookery.testing.stores.traces import attention
from tests.stores.support import copied, opened, peopled, sending


def remove_index(directory: Path) -> None:
    for file in directory.glob("index.db*"):
        file.unlink()


def lived_in(tx: Transaction) -> None:
    registered(tx, BEAR)
    first = posted(tx, "first", priority="urgent")
    posted(tx, "an answer", sender=OWL, to=FOX, parent=first)
    shouted(tx, "everybody", (OWL, BEAR))
    shouted(tx, "nobody", ())
    posted(tx, "to the operator", to=OPERATOR)
    tx.messages.remember(FOX, "key", Sent(message_id=first.id, digest=b"d" * 16))
    tx.tokens.add(Token(id="of-fox", digest=b"f" * 32, holder=FOX, created_at=NOW))
    tx.tokens.revoke("of-fox", NOW)
    tx.agents.touch(BEAR, NOW + 5)
    delivery = tx.deliveries.get(first.id, OWL)
    assert delivery is not None
    tx.deliveries.save(delivery.claimed(NOW, OWL, "rest"))
    ruled(tx, TO_ANYBODY, TO_OWL)
    requested(tx, an_approval("a-1"))
    held_back(tx, FIRST, SECOND)
    handed_over(tx, a_task(1))
    tx.traces.put(Trace(id=first.id))
    tx.attention.put_many([attention(FOX), attention(OWL)])


def then_tidied(tx: Transaction) -> None:
    deliveries = tx.deliveries.uncleared(BEAR, None)
    tx.deliveries.save_many([delivery.cleared(NOW) for delivery in deliveries])
    gone = posted(tx, "to be pruned", to=BEAR)
    delivery = tx.deliveries.get(gone.id, BEAR)
    assert delivery is not None
    tx.asks.put(Ask(message_id=gone.id, asker=FOX, target=BEAR, depth=1, asked_at=NOW, deadline=NOW))
    tx.held.put(replace(SECOND, message_id=gone.id))
    tx.tasks.put(a_task(1).posted(gone.id))
    tx.rules.remove(TO_OWL.agent, TO_OWL.target)
    tx.held.remove(FIRST.message_id)
    tx.attention.put_many([attention(FOX, gone.id)])
    tx.deliveries.save(delivery.completed(NOW, BEAR, "dead"))
    tx.prune(before=NOW + 1, folders=("dead",))


def still_there(tx: Transaction) -> None:
    """What the two works above leave behind."""
    assert list(tx.asks.all()) == []
    assert [task.id for task in tx.tasks.all()] == ["task-1"]
    assert list(tx.rules.all()) == [TO_ANYBODY]
    assert list(tx.held.of(FIRST.approval)) == []
    assert list(tx.held.of(SECOND.approval)) == [SECOND]


async def lived(store: Store) -> list[dict[str, object]]:
    await store.write(lived_in)
    await store.write(then_tidied)
    await store.read(still_there)
    return list(store.export())


async def test_a_missing_index_is_made_again_as_it_was(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path)) as store:
        before = await lived(store)
        stats = await store.read(lambda tx: tx.deliveries.queue_stats())
    remove_index(tmp_path)
    async with opened(MaildirStore(tmp_path)) as store:
        assert list(store.export()) == before
        assert await store.read(lambda tx: tx.deliveries.queue_stats()) == stats
        assert (await store.write(sending("goes on"))).seq == 3


async def test_a_damaged_index_is_made_again(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path)) as store:
        before = await lived(store)
    (tmp_path / "index.db").write_bytes(b"garbage" * 1000)
    async with opened(MaildirStore(tmp_path)) as store:
        assert list(store.export()) == before


async def test_an_index_that_lags_behind_catches_up(tmp_path: Path) -> None:
    """As after a power cut: the index is not synced at every commit."""
    async with peopled(MaildirStore(tmp_path / "data")) as store:
        await store.write(sending("known to the index"))
    older = copied(tmp_path / "data", "older")
    async with opened(MaildirStore(tmp_path / "data")) as store:
        before = await lived(store)
    remove_index(tmp_path / "data")
    shutil.copy(older / "index.db", tmp_path / "data" / "index.db")
    async with opened(MaildirStore(tmp_path / "data")) as store:
        assert list(store.export()) == before


async def test_an_index_of_another_journal_is_not_believed(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path / "other")) as store:
        await store.write(sending("from elsewhere"))
    async with peopled(MaildirStore(tmp_path / "data")) as store:
        before = await lived(store)
    remove_index(tmp_path / "data")
    shutil.copy(tmp_path / "other" / "index.db", tmp_path / "data" / "index.db")
    async with opened(MaildirStore(tmp_path / "data")) as store:
        assert list(store.export()) == before


async def test_a_torn_last_line_is_cut_off(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path)) as store:
        before = await lived(store)
    journal = tmp_path / "journal" / "000000000001.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + whole.splitlines(keepends=True)[-1][:-20])
    for _ in ("with the index", "without it"):
        async with opened(MaildirStore(tmp_path)) as store:
            assert list(store.export()) == before
        assert journal.read_bytes() == whole
        remove_index(tmp_path)


async def test_a_bad_line_in_the_middle_is_damage(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path)) as store:
        await lived(store)
    journal = tmp_path / "journal" / "000000000001.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"role":"leader"', b'"role":"worker"', 1))
    remove_index(tmp_path)
    with pytest.raises(StorageDamaged) as damage:
        await MaildirStore(tmp_path).open()
    assert str(journal) in damage.value.message


async def test_acknowledged_lines_that_are_missing_are_noticed(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path)) as store:
        await store.write(sending("kept"))
        await store.write(sending("lost"))
    journal = tmp_path / "journal" / "000000000001.jsonl"
    shortened = b"".join(journal.read_bytes().splitlines(keepends=True)[:-1])
    journal.write_bytes(shortened)
    with pytest.raises(StorageDamaged, match="acknowledged up to position 6"):
        await MaildirStore(tmp_path).open()
    assert journal.read_bytes() == shortened
    report = await MaildirStore(tmp_path).rebuild(lambda _: None)
    assert any("facts are missing" in note for note in report.notes)
    async with opened(MaildirStore(tmp_path)) as store:
        assert store.report().position == 4


async def test_files_that_were_never_committed_are_thrown_away(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path)) as store:
        message = await store.write(sending("committed"))
    inbox = tmp_path / "inbox" / OWL
    leftover = inbox / "tmp" / "01leftover.json"
    shutil.copy(inbox / "new" / f"{message.id}.json", leftover)
    async with opened(MaildirStore(tmp_path)) as store:
        assert not leftover.exists()
        assert store.report().messages == 1


@pytest.mark.parametrize("index", ["lagging", "missing"])
async def test_a_commit_whose_moves_were_cut_short_is_finished(tmp_path: Path, index: str) -> None:
    async with peopled(MaildirStore(tmp_path / "data")) as store:
        pass
    older = copied(tmp_path / "data", "older")
    async with opened(MaildirStore(tmp_path / "data")) as store:
        message = await store.write(sending("just committed"))
    inbox = tmp_path / "data" / "inbox" / OWL
    (inbox / "new" / f"{message.id}.json").rename(inbox / "tmp" / f"{message.id}.json")
    remove_index(tmp_path / "data")
    if index == "lagging":
        shutil.copy(older / "index.db", tmp_path / "data" / "index.db")
    async with opened(MaildirStore(tmp_path / "data")) as store:
        assert await store.read(lambda tx: tx.messages.get(message.id)) == message
        assert (inbox / "new" / f"{message.id}.json").exists()
        delivery = await store.read(lambda tx: tx.deliveries.get(message.id, OWL))
        assert delivery is not None
        assert delivery.folder == "new"


def altered(directory: Path, message: Message) -> None:
    file = directory / "inbox" / OWL / "new" / f"{message.id}.json"
    letter = json.loads(file.read_text())
    file.write_text(json.dumps(letter | {"content": "pay the fox"}))


async def test_a_rebuild_names_a_damaged_file_and_keeps_the_message(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path)) as store:
        message = await store.write(sending("as it was"))
        altered(tmp_path, message)
        report = await store.rebuild(lambda _: None)
        assert report.damaged == [message.id]
        assert await store.read(lambda tx: tx.messages.get(message.id)) == message


async def test_without_an_intact_copy_a_message_is_gone_and_its_facts_with_it(tmp_path: Path) -> None:
    def held_and_sent(tx: Transaction) -> Message:
        held_back(tx, FIRST, SECOND)
        message = sent(tx, FIRST)
        ask = Ask(message_id=message.id, asker=FOX, target=OWL, depth=1, asked_at=NOW, deadline=NOW)
        tx.asks.put(ask)
        tx.journal.record(AskOpened(ask=ask), at=NOW, by=BY_FOX, audience=())
        return message

    async with peopled(MaildirStore(tmp_path)) as store:
        message = await store.write(held_and_sent)
        await store.write(sending("sound"))
    altered(tmp_path, message)
    remove_index(tmp_path)
    async with opened(MaildirStore(tmp_path)) as store:
        assert await store.read(lambda tx: tx.messages.get(message.id)) is None
        assert await store.read(lambda tx: stored(tx) == replayed(tx))
        assert await store.read(lambda tx: (list(tx.asks.all()), tx.held.get(message.id))) == ([], None)
        assert await store.read(lambda tx: tx.held.get(SECOND.message_id)) == SECOND
        assert store.report().messages == 1
        report = await store.rebuild(lambda _: None)
        assert report.damaged == [message.id]


def test_the_journal_goes_on_in_a_new_segment(tmp_path: Path) -> None:
    segments = Segments(tmp_path / "journal", most=200)
    for number in range(1, 8):
        segments.append(number, [{"record": "sign_of_life", "id": f"agent-{number}", "last_active": number}])
    segments.close()
    assert len(list((tmp_path / "journal").iterdir())) > 2
    again = Segments(tmp_path / "journal", most=200)
    read = list(again.lines(None))
    assert [line.position for _, line in read] == [1, 2, 3, 4, 5, 6, 7]
    third = read[2][0]
    assert again.holds(third)
    assert [line.position for _, line in again.lines(third)] == [4, 5, 6, 7]


def test_a_line_that_did_not_fit_leaves_the_journal_as_it_was(tmp_path: Path) -> None:
    segments = Segments(tmp_path / "journal")
    segments.append(1, [{"record": "sign_of_life", "id": "fox", "last_active": 1}])
    file = tmp_path / "journal" / "000000000001.jsonl"
    before = file.read_bytes()
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, unlimited[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            segments.append(2, [{"record": "sign_of_life", "id": "fox", "last_active": 2}])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    assert file.read_bytes() == before
    segments.append(2, [{"record": "sign_of_life", "id": "owl", "last_active": 3}])
    segments.close()
    assert [line.position for _, line in Segments(tmp_path / "journal").lines(None)] == [1, 2]


def test_a_commit_that_the_index_refuses_is_undone_in_files_and_journal(tmp_path: Path) -> None:
    ground = MaildirGround(tmp_path, tmp_path / "index.db", accept_loss=False, anew=False, progress=None)
    commit, transaction, _ = ground.prepare()
    transaction.connection.execute("PRAGMA foreign_keys = ON")
    transaction.connection.execute(
        "CREATE TABLE promises (kept INTEGER REFERENCES agents (rid) DEFERRABLE INITIALLY DEFERRED)"
    )

    def broken_promise(tx: TableTransaction) -> None:
        posted(tx, "never")
        # Checked at the commit alone, when files and journal are written already.
        tx.connection.execute("INSERT INTO promises VALUES (77)")

    def outcome(work: Callable[[TableTransaction], object]) -> BaseException | None:
        job = Job(work, asyncio.Future(loop=asyncio.new_event_loop()), frees=False, alone=False)
        ((_, _, error),) = commit.run([job], lambda: None)
        job.future.get_loop().close()
        return error

    journal = tmp_path / "journal" / "000000000001.jsonl"
    assert outcome(lambda tx: registered(tx, FOX, OWL)) is None
    before = journal.read_bytes()
    assert isinstance(outcome(broken_promise), Conflict)
    assert journal.read_bytes() == before
    assert list((tmp_path / "inbox").rglob("*.json")) == []
    assert outcome(lambda tx: posted(tx, "afterwards")) is None
    ground.take_down()
    assert [line.position for _, line in Segments(tmp_path / "journal").lines(None)] == [2, 4]
    (file,) = (tmp_path / "inbox" / OWL / "new").iterdir()
    assert json.loads(file.read_text())["seq"] == 1
