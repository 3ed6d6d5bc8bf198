"""The files of the maildir: what `ls` and `cat` show."""

import json
from pathlib import Path

import pytest

from rookery.domain.ids import OPERATOR
from rookery.ports import Sent, Transaction
from rookery.stores.maildir import MaildirStore
from rookery.testing.stores.samples import BEAR, FOX, NOW, OWL, posted, registered, shouted
from tests.stores.support import peopled, sending


def folders(directory: Path, owner: str = OWL) -> dict[str, list[str]]:
    """The ids in each folder of an inbox that has any."""
    found: dict[str, list[str]] = {}
    for file in sorted((directory / "inbox" / owner).rglob("*.json")):
        found.setdefault(file.parent.name, []).append(file.stem)
    return found


def listing(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


async def test_a_message_is_a_file_that_a_person_can_read(tmp_path: Path) -> None:
    def send(tx: Transaction) -> str:
        message = posted(tx, "the tests\nare red", priority="high")
        tx.messages.remember(FOX, "key-1", Sent(message_id=message.id, digest=b"d" * 16))
        return message.id

    async with peopled(MaildirStore(tmp_path)) as store:
        message_id = await store.write(send)
    file = tmp_path / "inbox" / OWL / "new" / f"{message_id}.json"
    text = file.read_text()
    letter = json.loads(text)
    assert '\n  "content": "the tests\\nare red"' in text
    assert (letter["id"], letter["sender"], letter["priority"]) == (message_id, FOX, "high")
    assert letter["recipients"] == [OWL]
    assert letter["idempotency"] == {"key": "key-1", "digest": (b"d" * 16).hex()}
    assert len(bytes.fromhex(letter["digest"])) == 16


async def test_the_work_on_a_message_moves_its_file(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path)) as store:
        message = await store.write(sending("work"))
        assert folders(tmp_path) == {"new": [message.id]}

        def delivery(tx: Transaction):
            found = tx.deliveries.get(message.id, OWL)
            assert found is not None
            return found

        await store.write(lambda tx: tx.deliveries.save(delivery(tx).claimed(NOW, OWL, "rest")))
        assert folders(tmp_path) == {"cur": [message.id]}
        await store.write(lambda tx: tx.deliveries.save(delivery(tx).claim_expired()))
        assert folders(tmp_path) == {"new": [message.id]}
        await store.write(lambda tx: tx.deliveries.save(delivery(tx).completed(NOW, OWL, "dead")))
        assert folders(tmp_path) == {"dead": [message.id]}
        await store.write(lambda tx: tx.deliveries.save(delivery(tx).cleared(NOW)))
        assert folders(tmp_path) == {"cleared": [message.id]}
        await store.write(lambda tx: tx.prune(before=NOW + 1, folders=()))
        assert folders(tmp_path) == {}


async def test_a_broadcast_is_one_file_with_a_name_in_each_inbox(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path)) as store:
        await store.write(lambda tx: registered(tx, BEAR))
        message = await store.write(lambda tx: shouted(tx, "hear", (OWL, BEAR)))
    files = [tmp_path / "inbox" / owner / "new" / f"{message.id}.json" for owner in (OWL, BEAR)]
    assert files[0].samefile(files[1])
    assert json.loads(files[0].read_text())["recipients"] == [OWL, BEAR]


async def test_messages_to_nobody_and_to_the_operator_have_a_place(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path)) as store:
        nobody = await store.write(lambda tx: shouted(tx, "echo", ()))
        person = await store.write(sending("help", to=OPERATOR))
    assert [file.stem for file in (tmp_path / "messages").glob("*.json")] == [nobody.id]
    assert folders(tmp_path, OPERATOR) == {"new": [person.id]}


async def test_an_id_that_is_no_plain_word_does_not_leave_its_directory(tmp_path: Path) -> None:
    async with peopled(MaildirStore(tmp_path / "data")) as store:
        await store.write(lambda tx: registered(tx, "../../outside"))
        await store.write(sending("where am I", to="../../outside"))
    assert folders(tmp_path / "data", "%2E%2E%2F%2E%2E%2Foutside").keys() == {"new"}
    assert listing(tmp_path) == ["data"]


async def test_a_work_that_fails_leaves_no_file(tmp_path: Path) -> None:
    def spoiled(tx: Transaction) -> None:
        posted(tx, "never")
        raise LookupError

    async with peopled(MaildirStore(tmp_path)) as store:
        with pytest.raises(LookupError):
            await store.write(spoiled)
        assert list((tmp_path / "inbox").rglob("*.json")) == []
