"""Messages: numbered without gaps, kept to the letter, found in their conversation and thread."""

import asyncio
from dataclasses import replace
from pathlib import Path

from rookery.domain.conversations import direct_conversation
from rookery.domain.messages import Message
from rookery.ports import Sent, Store, Transaction
from rookery.testing.stores.case import StoreCase
from rookery.testing.stores.samples import BEAR, FOX, NOW, OWL, Mishap, contents, posted, shouted

DM = direct_conversation(FOX, OWL)

ODD_CONTENTS = [
    "",
    " ",
    "\n\r\n\t",
    "a\0b",
    "🦊" * 300,
    "e\u0301 é ﬁ",
    "'; DROP TABLE messages; --",
    "\x1b[31m\x07",
]


class MessageContract(StoreCase):
    async def test_a_message_is_kept_with_every_field(self, store: Store, directory: Path) -> None:
        full = Message(
            id="0" * 25 + "1", conversation=DM, seq=1, sender=FOX, recipient=OWL, type="reply", content="hi",
            metadata='{"a": [1, "ü"]}', reply_to="0" * 26, thread="0" * 26, pattern="ask", priority="urgent",
            created_at=NOW, expires_at=NOW + 5, trace="0" * 26, hops=3, task="task-1",
        )  # fmt: skip
        bare = replace(full, id="0" * 25 + "2", seq=2, type="direct", reply_to=None, pattern=None,
                       expires_at=None, priority="low", trace=None, hops=0, task=None)  # fmt: skip

        def work(tx: Transaction) -> None:
            for message in (full, bare):
                assert tx.messages.next_seq(DM) == message.seq
                tx.messages.add(message, (OWL,))

        await store.write(work)
        assert await store.read(lambda tx: [tx.messages.get(full.id), tx.messages.get(bare.id)]) == [
            full,
            bare,
        ]
        await store.close()
        async with self.opened(directory) as again:
            kept = await again.read(lambda tx: [tx.messages.get(full.id), tx.messages.get(bare.id)])
        assert kept == [full, bare]

    async def test_odd_and_large_contents_come_back_to_the_letter(self, store: Store, directory: Path) -> None:
        texts = [*ODD_CONTENTS, "x" * 1_000_000]
        sent = [await store.write(lambda tx, text=text: posted(tx, text)) for text in texts]
        assert await store.read(lambda tx: [tx.messages.get(message.id) for message in sent]) == sent
        await store.close()
        async with self.opened(directory) as again:
            assert await again.read(lambda tx: tx.messages.history(DM, before=None, limit=100)) == sent

    async def test_a_message_that_never_was_is_none(self, store: Store) -> None:
        assert await store.read(lambda tx: tx.messages.get("0" * 26)) is None

    async def test_each_conversation_counts_from_one(self, store: Store) -> None:
        def work(tx: Transaction) -> list[int]:
            sent = [
                posted(tx),
                posted(tx, sender=OWL, to=FOX),
                posted(tx, to=BEAR),
                shouted(tx, "all", (OWL,)),
            ]
            return [message.seq for message in sent]

        assert await store.write(work) == [1, 2, 1, 1]
        assert await store.write(work) == [3, 4, 2, 2]

    async def test_numbers_have_no_gaps_when_many_send_at_once_and_some_fail(self, store: Store) -> None:
        def failing(tx: Transaction) -> Message:
            posted(tx, "never")
            raise Mishap

        works = [failing if number % 7 == 3 else posted for number in range(100)]
        outcomes = await asyncio.gather(*(store.write(work) for work in works), return_exceptions=True)
        sent = [outcome for outcome in outcomes if isinstance(outcome, Message)]
        assert [message.seq for message in sent] == list(range(1, len(sent) + 1))
        assert await store.read(lambda tx: tx.messages.history(DM, before=None, limit=1000)) == sent

    async def test_a_number_whose_work_failed_is_given_to_the_next(self, store: Store, directory: Path) -> None:
        def failing(tx: Transaction) -> None:
            posted(tx, "never")
            raise Mishap

        await store.write(posted)
        await asyncio.gather(store.write(failing), return_exceptions=True)
        assert (await store.write(posted)).seq == 2
        await asyncio.gather(store.write(failing), return_exceptions=True)
        await self.crash(store)
        async with self.opened(directory) as again:
            assert (await again.write(posted)).seq == 3

    async def test_history_is_the_newest_below_a_number_in_order(self, store: Store) -> None:
        for number in range(1, 8):
            await store.write(lambda tx, number=number: posted(tx, str(number)))
        await store.write(lambda tx: posted(tx, "elsewhere", to=BEAR))

        async def history(before: int | None, limit: int) -> list[str]:
            return contents(await store.read(lambda tx: tx.messages.history(DM, before=before, limit=limit)))

        assert await history(None, 3) == ["5", "6", "7"]
        assert await history(5, 3) == ["2", "3", "4"]
        assert await history(2, 3) == ["1"]
        assert await history(1, 3) == []
        assert await history(None, 100) == list("1234567")

    async def test_the_history_of_a_silent_conversation_is_empty(self, store: Store) -> None:
        assert list(await store.read(lambda tx: tx.messages.history("dm:a:b", before=None, limit=5))) == []

    async def test_a_thread_is_a_message_with_the_replies_that_hang_on_it(self, store: Store) -> None:
        def work(tx: Transaction) -> list[Message]:
            question = posted(tx, "question")
            posted(tx, "something else")
            answer = posted(tx, "answer", sender=OWL, to=FOX, parent=question)
            shouted(tx, "news", (OWL, BEAR))
            return [question, answer, posted(tx, "thanks", parent=answer)]

        thread = await store.write(work)
        root = thread[0].id
        assert list(await store.read(lambda tx: tx.messages.thread(root, limit=10))) == thread
        assert len(await store.read(lambda tx: tx.messages.thread(root, limit=2))) == 2
        assert list(await store.read(lambda tx: tx.messages.thread("0" * 26, limit=10))) == []

    async def test_a_key_stands_for_one_message_of_one_sender(self, store: Store, directory: Path) -> None:
        def work(tx: Transaction) -> Sent:
            sent = Sent(message_id=posted(tx).id, digest=b"\0\xff" * 8)
            tx.messages.remember(FOX, "key 'one' 🔑", sent)
            return sent

        sent = await store.write(work)

        def look(tx: Transaction) -> list[Sent | None]:
            return [
                tx.messages.sent_under(*who) for who in ((FOX, "key 'one' 🔑"), (OWL, "key 'one' 🔑"), (FOX, "2"))
            ]

        assert await store.read(look) == [sent, None, None]
        await self.crash(store)
        async with self.opened(directory) as again:
            assert await again.read(look) == [sent, None, None]

    async def test_one_key_of_two_senders_stands_for_two_messages(self, store: Store) -> None:
        one, other = Sent(message_id="1" * 26, digest=b"1"), Sent(message_id="2" * 26, digest=b"2")

        def work(tx: Transaction) -> None:
            tx.messages.remember(FOX, "key", one)
            tx.messages.remember(OWL, "key", other)

        await store.write(work)
        assert await store.read(lambda tx: tx.messages.sent_under(FOX, "key")) == one
        assert await store.read(lambda tx: tx.messages.sent_under(OWL, "key")) == other

    async def test_a_key_of_a_failed_work_is_free(self, store: Store) -> None:
        def failing(tx: Transaction) -> None:
            tx.messages.remember(FOX, "key", Sent(message_id=posted(tx).id, digest=b"1"))
            raise Mishap

        await asyncio.gather(store.write(failing), return_exceptions=True)
        assert await store.read(lambda tx: tx.messages.sent_under(FOX, "key")) is None
