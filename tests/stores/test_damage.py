"""Damage is detected and reported, never served."""

import sqlite3
from pathlib import Path

import pytest

from rookery.domain.errors import StorageDamaged
from rookery.domain.messages import Message
from rookery.ports import InboxQuery, Transaction
from rookery.stores.sqlite import SqliteStore
from rookery.testing.stores.samples import FOX, OWL, a_task, asked, contents, handed_over
from tests.stores.support import copied, opened, peopled, sending

ALTERATIONS = {
    "content": "UPDATE messages SET content = 'pay the fox' WHERE id = ?",
    "metadata": """UPDATE messages SET metadata = '{"urgent": true}' WHERE id = ?""",
    "sender": "UPDATE messages SET sender = 'operator' WHERE id = ?",
    "hops": "UPDATE messages SET hops = 1 WHERE id = ?",
    "trace": "UPDATE messages SET trace = 'm-1' WHERE id = ?",
    "task": "UPDATE messages SET task = 'task-1' WHERE id = ?",
    "number": "UPDATE messages SET seq = 77 WHERE id = ?",
    "priority": "UPDATE messages SET priority = 9 WHERE id = ?",
    "digest": "UPDATE messages SET digest = x'00' WHERE id = ?",
    "type of a column": "UPDATE messages SET created_at = 'yesterday' WHERE id = ?",
}


def altered(directory: Path, sql: str, message: Message) -> None:
    connection = sqlite3.connect(directory / "rookery.db", isolation_level=None)
    assert connection.execute(sql, (message.id,)).rowcount == 1
    connection.close()


@pytest.mark.parametrize("what", ALTERATIONS)
async def test_a_message_altered_behind_our_back_is_not_served(tmp_path: Path, what: str) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        sound = await store.write(sending("sound words"))
        message = await store.write(sending("altered words"))
        position = store.report().position
    altered(tmp_path, ALTERATIONS[what], message)

    doors = {
        "get": lambda tx: tx.messages.get(message.id),
        "inbox": lambda tx: tx.deliveries.inbox(InboxQuery(recipient=OWL)),
        "history": lambda tx: tx.messages.history(message.conversation, before=None, limit=10),
        "search": lambda tx: tx.messages.search("altered", party=None, limit=10),
        "journal": lambda tx: tx.journal.after(position - 2, limit=10),
        "thread": lambda tx: tx.messages.thread(message.id, limit=10),
    }
    if what == "content":
        del doors["search"]  # the words are no longer there to be found
    async with opened(SqliteStore(tmp_path)) as store:
        for door, work in doors.items():
            with pytest.raises(StorageDamaged) as damage:
                await store.read(work)
            assert message.id in damage.value.message, door
            assert "rook index rebuild" in damage.value.message
        assert await store.read(lambda tx: tx.messages.get(sound.id)) == sound
        with pytest.raises(StorageDamaged):
            list(store.export())


@pytest.mark.parametrize("paper", ["", "[]", "{}", '{"id": "task-1"', '{"id": 1, "requester": []}'])
async def test_what_is_no_task_any_more_is_not_served(tmp_path: Path, paper: str) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        await store.write(lambda tx: handed_over(tx, a_task(1), a_task(2)))
    connection = sqlite3.connect(tmp_path / "rookery.db", isolation_level=None)
    assert connection.execute("UPDATE tasks SET paper = ? WHERE id = 'task-1'", (paper,)).rowcount == 1
    connection.close()
    async with opened(SqliteStore(tmp_path)) as store:
        with pytest.raises(StorageDamaged, match="A stored task is not what was written"):
            await store.read(lambda tx: tx.tasks.get("task-1"))
        with pytest.raises(StorageDamaged):
            list(store.export())
        assert await store.read(lambda tx: tx.tasks.get("task-2")) == a_task(2)


async def test_a_damaged_ask_does_not_keep_the_others_from_ending(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        damaged = await store.write(lambda tx: asked(tx, "first?"))
        sound = await store.write(lambda tx: asked(tx, "second?"))
    connection = sqlite3.connect(tmp_path / "rookery.db", isolation_level=None)
    connection.execute("UPDATE asks SET paper = '{' WHERE message_id = ?", (damaged.message_id,))
    connection.close()
    async with opened(SqliteStore(tmp_path, readers=1)) as store:
        for _ in range(3):
            assert await store.read(lambda tx: tx.asks.overdue(sound.deadline, 10)) == [sound]
        with pytest.raises(StorageDamaged):
            await store.read(lambda tx: tx.asks.get(damaged.message_id))
    assert [record.message.count("A stored ask is not what was written") for record in caplog.records] == [1]


async def test_text_that_is_no_text_any_more_is_damage(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        message = await store.write(sending("fine"))
    altered(tmp_path, "UPDATE messages SET content = CAST(x'ff80' AS TEXT) WHERE id = ?", message)
    async with opened(SqliteStore(tmp_path)) as store:
        with pytest.raises(StorageDamaged):
            await store.read(lambda tx: tx.messages.get(message.id))
        report = await store.rebuild(lambda _: None)
        assert report.damaged == [message.id]


async def test_a_rebuild_names_what_is_damaged(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        messages = [await store.write(sending(f"message {number}")) for number in range(5)]
    altered(tmp_path, ALTERATIONS["content"], messages[1])
    altered(tmp_path, ALTERATIONS["metadata"], messages[3])
    said: list[str] = []
    report = await SqliteStore(tmp_path).rebuild(said.append)
    assert report.damaged == [messages[1].id, messages[3].id]
    assert report.messages == 5
    assert said


async def test_damage_to_one_message_does_not_disturb_the_writes_of_others(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        message = await store.write(sending("to be altered"))
    altered(tmp_path, ALTERATIONS["content"], message)

    def touch_the_damaged(tx: Transaction) -> None:
        tx.agents.touch(FOX, 5)
        tx.messages.get(message.id)

    async with opened(SqliteStore(tmp_path)) as store:
        before = store.write(sending("before"))
        damage = store.write(touch_the_damaged)
        after = store.write(sending("after"))
        assert (await before).content == "before"
        with pytest.raises(StorageDamaged):
            await damage
        assert (await after).content == "after"


async def test_a_broken_page_is_damage(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path)) as store:
        for number in range(300):
            await store.write(sending(f"message {number} " + "x" * 500))
    file = tmp_path / "rookery.db"
    with sqlite3.connect(file) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'messages'").fetchone()
    connection.close()
    data = bytearray(file.read_bytes())
    data[(root - 1) * 4096 : root * 4096] = b"\xa5" * 4096
    file.write_bytes(data)
    async with opened(SqliteStore(tmp_path)) as store:
        with pytest.raises(StorageDamaged, match="rook index rebuild"):
            await store.read(lambda tx: tx.deliveries.inbox(InboxQuery(recipient=OWL)))
    report = await SqliteStore(tmp_path).rebuild(lambda _: None)
    assert any("malformed" in note for note in report.notes)


async def test_acknowledged_writes_that_vanished_from_the_log_are_noticed(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path / "data")) as store:
        for number in range(20):
            await store.write(sending(f"message {number}"))
        position = store.report().position
        directory = copied(tmp_path / "data", "after-a-power-cut")
    log = directory / "rookery.db-wal"
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1  # from this frame on, SQLite takes the log for ended, and says nothing
    log.write_bytes(data)

    with pytest.raises(StorageDamaged) as damage:
        await SqliteStore(directory).open()
    assert f"up to position {position}" in damage.value.message
    assert "rook index rebuild" in damage.value.message

    report = await SqliteStore(directory).rebuild(lambda _: None)
    assert any("facts are missing" in note for note in report.notes)
    async with opened(SqliteStore(directory)) as store:
        left = await store.read(lambda tx: tx.deliveries.inbox(InboxQuery(recipient=OWL)))
        assert contents(left) == [f"message {number}" for number in range(len(left))]
        assert 0 < len(left) < 20


async def test_a_lost_mark_does_not_keep_a_sound_store_shut(tmp_path: Path) -> None:
    async with peopled(SqliteStore(tmp_path)):
        pass
    (tmp_path / "highwater").write_bytes(b"torn")
    async with opened(SqliteStore(tmp_path)) as store:
        assert store.report().position == 2
