"""What an agent does with the messages it has: list, read, clear, search, count."""

import pytest

from rookery.domain.errors import (
    AgentNotFound,
    Forbidden,
    MessageNotFound,
    NotFound,
)
from rookery.domain.events import (
    MessageRead,
    MessagesCleared,
    MessageSeen,
    MessagesPruned,
)
from rookery.services.inbox import Completion
from tests.services.house import NOW, SECOND, THE_OPERATOR, House, Member, contents

# -- whose inbox -----------------------------------------------------------------------------------------


async def test_an_inbox_is_its_owners_by_id_and_by_name(house: House) -> None:
    one, other = await house.members("one", "other")
    await house.send(one, other)
    for called in (other.id, "other", "OTHER"):
        listing = await house.hub.inbox.list(other.principal, called)
        assert (listing.owner, contents(listing.items), listing.unread) == (other.id, ["hello"], 1)


async def test_somebody_elses_inbox_does_not_exist(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    message_id, inbox, spy = receipt.message.id, house.hub.inbox, one.principal
    attempts = [
        inbox.list(spy, "other"),
        inbox.read(spy, "other", message_id),
        inbox.unread_count(spy, "other"),
        inbox.stats(spy, "other"),
        inbox.search(spy, "hello", agent="other"),
        inbox.mark_read(spy, "other", [message_id]),
        inbox.claim(spy, "other", message_id),
        inbox.claim(spy, "other"),
        inbox.complete(spy, "other", message_id, Completion()),
        inbox.clear(spy, "other"),
        inbox.list(spy, "operator"),
        inbox.clear(spy, "operator"),
    ]
    for attempt in attempts:
        with pytest.raises(NotFound, match="There is no inbox of"):
            await attempt
    assert (await house.delivery(receipt, other)).rung == "stored"


async def test_an_unknown_inbox_comes_with_the_names_that_exist(house: House) -> None:
    one, _ = await house.members("one", "other")
    for principal in (one.principal, THE_OPERATOR):
        with pytest.raises(AgentNotFound) as refused:
            await house.hub.inbox.list(principal, "nobody")
        assert refused.value.data["available"] == ["one", "other"]


async def test_the_operator_opens_every_inbox_and_its_own(house: House) -> None:
    one, other = await house.members("one", "other")
    await house.send(one, other, "to other")
    await house.send(one, "operator", "to operator")
    assert contents(await house.inbox("other")) == ["to other"]
    assert contents(await house.inbox("operator")) == ["to operator"]


# -- list ------------------------------------------------------------------------------------------------


async def test_a_listing_is_in_order_of_arrival(house: House) -> None:
    one, other = await house.members("one", "other")
    for n in range(5):
        await house.send(one, other, f"{n}", priority="urgent" if n == 3 else "low")
    assert contents(await house.inbox(other)) == ["0", "1", "2", "3", "4"]


async def test_a_listing_can_be_turned_round_cut_short_and_continued(house: House) -> None:
    one, other = await house.members("one", "other")
    sent = [await house.send(one, other, f"{n}") for n in range(5)]
    assert contents(await house.inbox(other, limit=2)) == ["0", "1"]
    assert contents(await house.inbox(other, limit=2, after=sent[1].message.id)) == ["2", "3"]
    assert contents(await house.inbox(other, limit=2, latest=True)) == ["4", "3"]
    assert contents(await house.inbox(other, limit=2, latest=True, after=sent[3].message.id)) == ["2", "1"]


async def test_a_listing_after_a_message_it_does_not_hold_is_refused(house: House) -> None:
    one, other = await house.members("one", "other")
    elsewhere = await house.send(other, one)
    for after in ("nothing", elsewhere.message.id):
        with pytest.raises(MessageNotFound):
            await house.inbox(other, after=after)


async def test_a_listing_can_be_of_one_folder(house: House) -> None:
    one, other = await house.members("one", "other")
    sent = [await house.send(one, other, name) for name in ("new", "cur", "done", "dead")]
    await house.hub.inbox.claim(other.principal, other.id, sent[1].message.id)
    await house.hub.inbox.complete(other.principal, other.id, sent[2].message.id, Completion())
    await house.hub.inbox.complete(other.principal, other.id, sent[3].message.id, Completion(outcome="dead"))
    for folder in ("new", "cur", "done", "dead"):
        assert contents(await house.inbox(other, folder=folder)) == [folder]
    _, stats = await house.hub.inbox.stats(other.principal, other.id)
    assert (stats.new, stats.cur, stats.done, stats.dead, stats.unread) == (1, 1, 1, 1, 1)


async def test_a_listing_marks_read_what_it_shows_and_shows_it_as_it_was(house: House) -> None:
    one, other = await house.members("one", "other")
    for n in range(3):
        await house.send(one, other, f"{n}")
    listing = await house.hub.inbox.list(other.principal, other.id, mark_read=True, limit=2)
    assert [item.delivery.read for item in listing.items] == [False, False]
    assert listing.unread == 3
    again = await house.hub.inbox.list(other.principal, other.id, mark_read=True)
    assert (contents(again.items), again.unread) == (["2"], 1)
    assert [item.delivery.read for item in await house.inbox(other)] == [True, True, True]


async def test_a_listing_that_does_not_mark_can_be_repeated(house: House) -> None:
    one, other = await house.members("one", "other")
    await house.send(one, other)
    for _ in range(3):
        assert len((await house.hub.inbox.list(other.principal, other.id)).items) == 1
    assert (await house.hub.inbox.unread_count(other.principal, other.id)) == (other.id, 1)


async def test_a_message_cleared_while_it_is_being_listed_does_not_spoil_the_listing(house: House) -> None:
    one, other = await house.members("one", "other")
    gone, stays = await house.send(one, other, "gone"), await house.send(one, other, "stays")
    house.store.after_next_read(lambda: house.hub.inbox.clear(other.principal, other.id, [gone.message.id]))
    listing = await house.hub.inbox.list(other.principal, other.id, mark_read=True)
    assert contents(listing.items) == ["gone", "stays"]
    assert (await house.delivery(stays, other)).read


# -- read ------------------------------------------------------------------------------------------------


async def test_reading_is_the_proof_that_a_message_was_seen(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    house.clock.move_on(5)
    item = await house.hub.inbox.read(other.principal, other.id, receipt.message.id, via="mcp")
    assert (item.delivery.rung, item.delivery.seen_at, item.delivery.seen_via) == ("seen", NOW + 5, "mcp")
    (seen,) = await house.journal(MessageSeen)
    (read,) = await house.journal(MessageRead)
    assert set(seen.audience or ()) == {one.id, other.id}  # the sender gets its receipt
    assert read.audience == (other.id,)
    assert (read.fact.by, read.fact.at) == (other.id, NOW + 5)


async def test_reading_again_proves_nothing_new(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    first = await house.hub.inbox.read(other.principal, other.id, receipt.message.id)
    house.clock.move_on(SECOND)
    assert await house.hub.inbox.read(other.principal, other.id, receipt.message.id) == first
    assert len(await house.journal(MessageSeen)) == 1


async def test_the_operator_who_looks_at_a_message_has_not_read_it_for_its_owner(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    await house.hub.inbox.read(THE_OPERATOR, other.id, receipt.message.id)
    assert not (await house.delivery(receipt, other)).read
    own = await house.send(one, "operator")
    assert (await house.hub.inbox.read(THE_OPERATOR, "operator", own.message.id)).delivery.read


async def test_a_message_that_is_not_in_the_inbox_is_not_found(house: House) -> None:
    one, other = await house.members("one", "other")
    elsewhere = await house.send(other, one)
    for message_id in ("nothing", elsewhere.message.id):
        for attempt in (
            house.hub.inbox.read(other.principal, other.id, message_id),
            house.hub.inbox.mark_read(other.principal, other.id, [message_id]),
            house.hub.inbox.claim(other.principal, other.id, message_id),
            house.hub.inbox.complete(other.principal, other.id, message_id, Completion()),
        ):
            with pytest.raises(MessageNotFound):
                await attempt


# -- mark read -------------------------------------------------------------------------------------------


async def test_marking_read_counts_what_was_unread(house: House) -> None:
    one, other = await house.members("one", "other")
    ids = [(await house.send(one, other)).message.id for _ in range(3)]
    mark = house.hub.inbox.mark_read
    assert await mark(other.principal, other.id, [ids[0], ids[0], ids[1]]) == (other.id, 2)
    assert await mark(other.principal, other.id, ids) == (other.id, 1)
    assert await mark(other.principal, other.id, ids) == (other.id, 0)


async def test_marking_is_all_or_nothing(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    with pytest.raises(MessageNotFound):
        await house.hub.inbox.mark_read(other.principal, other.id, [receipt.message.id, "nothing"])
    assert not (await house.delivery(receipt, other)).read


# -- clear -----------------------------------------------------------------------------------------------


async def test_clearing_takes_out_all_or_the_named_and_counts_them(house: House) -> None:
    one, other = await house.members("one", "other")
    ids = [(await house.send(one, other, f"{n}")).message.id for n in range(5)]
    clear = house.hub.inbox.clear
    assert await clear(other.principal, other.id, [ids[0], ids[0], "nothing"]) == (other.id, 1)
    assert await clear(other.principal, other.id, [ids[0]]) == (other.id, 0)
    assert await clear(other.principal, other.id) == (other.id, 4)
    assert await clear(other.principal, other.id) == (other.id, 0)
    assert await house.inbox(other) == []
    assert [len(entry.fact.message_ids) for entry in await house.journal(MessagesCleared)] == [1, 4]


async def test_clearing_nothing_in_particular_clears_nothing(house: House) -> None:
    one, other = await house.members("one", "other")
    await house.send(one, other)
    assert await house.hub.inbox.clear(other.principal, other.id, []) == (other.id, 0)
    assert len(await house.inbox(other)) == 1


async def test_what_was_cleared_is_gone_from_the_inbox_and_stays_in_its_conversation(house: House) -> None:
    one, other = await house.members("one", "other")
    receipt = await house.send(one, other)
    await house.hub.inbox.clear(other.principal, other.id)
    with pytest.raises(MessageNotFound):
        await house.hub.inbox.read(other.principal, other.id, receipt.message.id)
    assert await house.hub.inbox.claim(other.principal, other.id) == (other.id, None)
    message, _ = await house.hub.inbox.deliveries(one.principal, receipt.message.id)
    assert message == receipt.message


async def test_clearing_one_inbox_leaves_the_others(house: House) -> None:
    one, two, three = await house.members("one", "two", "three")
    await house.shout(one)
    await house.hub.inbox.clear(two.principal, two.id)
    assert await house.inbox(two) == []
    assert len(await house.inbox(three)) == 1


# -- search ----------------------------------------------------------------------------------------------


async def test_an_agent_finds_what_it_sent_and_received_and_nothing_else(house: House) -> None:
    one, two, three = await house.members("one", "two", "three")
    await house.send(one, two, "walnut between one and two")
    await house.send(two, three, "walnut between two and three")
    await house.shout(three, "walnut for all")

    async def found(member: Member) -> set[str]:
        return set(contents(await house.hub.inbox.search(member.principal, "walnut")))

    assert await found(one) == {"walnut between one and two", "walnut for all"}
    assert await found(three) == {"walnut between two and three", "walnut for all"}
    assert len(await house.hub.inbox.search(THE_OPERATOR, "walnut")) == 3
    narrowed = await house.hub.inbox.search(THE_OPERATOR, "walnut", agent="one")
    assert set(contents(narrowed)) == await found(one)


@pytest.mark.parametrize("text", ['"', "*", "a AND", "NEAR(", "col:x", "-", "(", "'; DROP TABLE x", "%", " "])
async def test_odd_text_finds_nothing_and_breaks_nothing(house: House, text: str) -> None:
    one, other = await house.members("one", "other")
    await house.send(one, other, "walnut")
    assert await house.hub.inbox.search(one.principal, text) == []


# -- counts and pruning ----------------------------------------------------------------------------------


async def test_the_queue_statistics_are_exact(house: House) -> None:
    one, two, three = await house.members("one", "two", "three")
    direct = [await house.send(one, two) for _ in range(3)]
    await house.shout(one)
    subscription = house.hub.relay.subscribe(two.id, 0)
    house.hub.relay.handed_off(
        two.id, [entry for entry in await subscription.batch() if entry.message == direct[0].message], "websocket"
    )
    subscription.close()
    await house.hub.relay.stop()
    await house.hub.inbox.read(two.principal, two.id, direct[1].message.id)
    await house.hub.inbox.complete(two.principal, two.id, direct[2].message.id, Completion())
    stats = await house.hub.inbox.queue_stats()
    assert (stats.total_sent, stats.broadcast_sent) == (4, 1)
    assert (stats.direct_delivered, stats.queued) == (1, 2)
    assert stats.total_queued_messages == 4  # two of two's direct ones, and the broadcast twice
    assert stats.total_unread_messages == 3
    assert stats.agents_with_messages == 2
    assert three.id != two.id


async def test_only_the_operator_prunes(house: House) -> None:
    one, other = await house.members("one", "other")
    finished, open_one = await house.send(one, other), await house.send(one, other)
    await house.hub.inbox.complete(other.principal, other.id, finished.message.id, Completion())
    with pytest.raises(Forbidden):
        await house.hub.inbox.prune(other.principal, before=NOW + 1, folders=["done"])
    assert await house.hub.inbox.prune(THE_OPERATOR, before=NOW, folders=["done"]) == 0
    assert await house.hub.inbox.prune(THE_OPERATOR, before=NOW + 1, folders=["done"]) == 1
    with pytest.raises(MessageNotFound):
        await house.hub.inbox.deliveries(THE_OPERATOR, finished.message.id)
    assert len(await house.inbox(other)) == 1
    (told,) = await house.journal(MessagesPruned)
    assert (told.fact.count, told.audience) == (1, ())
    assert open_one.message.id != finished.message.id
