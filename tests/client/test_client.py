"""Both kinds of client against a real hub: what holds for one holds for the other."""

import inspect
from typing import Any

import pytest

from rookery import AsyncClient, Client, RookeryError
from rookery.client import metadata_of
from rookery.domain.errors import (
    AgentNotFound,
    AlreadyClaimed,
    Forbidden,
    IdempotencyConflict,
    NameTaken,
    NotFound,
    SenderForged,
    Unauthorized,
)
from tests.client.both import done, everything, pair
from tests.support.hub_process import HubProcess


async def test_an_agent_writes_to_another_which_finds_it_in_its_inbox(operator: Any) -> None:
    one, two = await pair(operator)
    sent = await done(one.send(two.id, "Hello from Agent 1!", metadata={"n": [1, None]}, priority="high"))
    assert sent.queued
    listing = await done(two.inbox())
    (message,) = listing.messages
    assert (message.message_id, message.from_agent_id, message.content) == (
        sent.message_id, one.id, "Hello from Agent 1!",
    )  # fmt: skip
    assert metadata_of(message) == {"n": [1, None]}
    assert message.priority == "high"
    assert (await done(two.inbox())).messages == []
    assert (await done(two.inbox(unread_only=False))).count == 1


async def test_looking_without_marking_leaves_messages_unread(operator: Any) -> None:
    one, two = await pair(operator)
    await done(one.send(two.name, "still new"))
    await done(two.inbox(mark_read=False))
    assert await done(two.unread()) == 1
    (message,) = (await done(two.inbox(mark_read=False))).messages
    assert (await done(two.mark_read([message.message_id]))).marked == 1
    assert await done(two.unread()) == 0


async def test_a_reply_goes_back_and_is_part_of_the_thread(operator: Any) -> None:
    one, two = await pair(operator)
    sent = await done(one.send(two.id, "how many tests?"))
    (question,) = (await done(two.inbox())).messages
    await done(two.reply(question, "42"))
    (answer,) = (await done(one.inbox())).messages
    assert (answer.message_type, answer.reply_to) == ("reply", sent.message_id)
    await done(one.reply(sent.message_id, "and one more thing"))
    thread = await done(operator.thread(sent.message_id))
    assert [message.content for message in thread.messages] == ["how many tests?", "42", "and one more thing"]
    assert (await done(two.inbox())).messages[0].content == "and one more thing"
    receipt = (await done(one.message(sent.message_id))).deliveries[0].receipts
    assert receipt.rung == "replied"


async def test_the_operator_speaks_as_an_agent_and_an_agent_as_nobody_else(operator: Any) -> None:
    one, two = await pair(operator)
    await done(operator.send(two.id, "as one", sender=one.name))
    assert (await done(two.inbox())).messages[0].from_agent_id == one.id
    with pytest.raises(SenderForged):
        await done(one.send(two.id, "as two", sender=two.id))


async def test_a_broadcast_reaches_the_others_and_not_its_sender(operator: Any) -> None:
    one, two = await pair(operator)
    await done(one.broadcast("to all"))
    assert "to all" in [message.content for message in (await done(two.inbox())).messages]
    assert "to all" not in [message.content for message in (await done(one.inbox())).messages]


async def test_one_claims_the_other_hears_who_did(operator: Any) -> None:
    one, two = await pair(operator)
    await done(one.send(two.id, "work"))
    claimed = (await done(two.claim())).message
    assert claimed.folder == "cur"
    assert claimed.claimed_by == two.id
    with pytest.raises(AlreadyClaimed) as refused:
        await done(operator.claim(claimed.message_id, agent=two.id))
    assert refused.value.data["claimed_by"] == two.id
    finished = await done(two.complete(claimed.message_id, result="fine"))
    assert (finished.message.folder, finished.message.result) == ("done", "fine")
    assert await done(two.complete(claimed.message_id, result="fine")) is not None
    assert (await done(two.claim())).message is None
    assert (await done(two.stats())).stats.done == 1


async def test_clearing_takes_out_what_is_named_and_then_the_rest(operator: Any) -> None:
    one, two = await pair(operator)
    first = await done(one.send(two.id, "a"))
    for text in ("b", "c"):
        await done(one.send(two.id, text))
    assert (await done(two.clear([first.message_id]))).cleared == 1
    assert (await done(two.clear([]))).cleared == 0
    assert (await done(two.clear())).cleared == 2


async def test_words_are_found_again(operator: Any) -> None:
    one, two = await pair(operator)
    await done(one.send(two.id, f"the marzipan of {one.id}"))
    assert (await done(two.search("marzi", limit=5))).messages[0].content == f"the marzipan of {one.id}"
    assert (await done(operator.search("marzipan", agent=two.id))).count == 1


async def test_an_agent_changes_its_name_and_project_and_stays_itself(operator: Any) -> None:
    one, _ = await pair(operator)
    renamed = (await done(one.rename(f"r-{one.id}"))).agent
    assert (renamed.agent_id, renamed.name) == (one.id, f"r-{one.id}")
    updated = (await done(one.update(project="/srv", status="working"))).agent
    assert (updated.project, updated.status) == ("/srv", "working")
    assert (await done(one.update(project=None))).agent.project is None
    assert (await done(one.agent())).agent.name == f"r-{one.id}"
    assert (await done(one.heartbeat(status="idle"))).status == "idle"
    with pytest.raises(Forbidden):
        await done(one.update(role="leader"))


async def test_a_taken_name_and_an_unknown_agent_are_refused_with_the_way_out(operator: Any) -> None:
    one, _ = await pair(operator)
    with pytest.raises(NameTaken):
        await done(operator.register(name=one.name))
    with pytest.raises(AgentNotFound) as refused:
        await done(one.send("nobody-here", "hello?"))
    assert one.name in refused.value.data["available"]


async def test_a_deleted_agent_is_gone_with_its_token(operator: Any) -> None:
    one, _ = await pair(operator)
    await done(one.delete())
    with pytest.raises(Unauthorized):
        await done(one.inbox())
    with pytest.raises(AgentNotFound):
        await done(operator.agent(one.id))


async def test_a_new_token_ends_the_old_one(operator: Any) -> None:
    one, _ = await pair(operator)
    fresh = (await done(operator.new_token(one.id))).token
    with pytest.raises(Unauthorized):
        await done(one.unread())
    assert await done(operator.bound(one.id, one.name, fresh).unread()) == 0
    assert (await done(operator.revoke_tokens(one.id))).revoked == 1


async def test_somebody_elses_inbox_does_not_exist(operator: Any) -> None:
    one, two = await pair(operator)
    with pytest.raises(NotFound):
        await done(one.inbox(two.id))
    assert (await done(operator.inbox(two.id))).agent_id == two.id


async def test_a_client_knows_whose_token_it_has(operator: Any, shared_hub: HubProcess) -> None:
    one, _ = await pair(operator)
    assert await done(operator.me()) == "operator"
    with Client(shared_hub.url, token=one.token) as again:
        assert again.id == one.id
        assert again.inbox().agent_id == one.id
        resumed = again.register(project="/elsewhere")
        assert resumed.id == one.id


async def test_the_same_key_is_one_message_and_never_another(operator: Any) -> None:
    one, two = await pair(operator)
    first = await done(one.send(two.id, "once", key="k-1"))
    again = await done(one.send(two.id, "once", key="k-1"))
    assert first.message_id == again.message_id
    with pytest.raises(IdempotencyConflict):
        await done(one.send(two.id, "twice", key="k-1"))


async def test_events_come_in_pages_from_a_cursor(operator: Any) -> None:
    start = (await done(operator.status())).position
    one, two = await pair(operator)
    await done(one.send(two.id, "x"))
    seen: list[int] = []
    position, more = start, True
    while more:
        page = await done(operator.events(after=position, limit=2))
        seen += [event["position"] for event in page.events]
        position, more = page.position, page.more
    assert seen == sorted(set(seen))
    assert seen[0] == start + 1
    waited = await done(two.events(after=position, wait=0.1))
    assert waited.events == []


async def test_the_hub_tells_what_it_is_and_exports_what_it_holds(operator: Any) -> None:
    one, two = await pair(operator)
    await done(one.send(two.id, "keep me"))
    assert (await done(operator.health())).status == "ok"
    assert (await done(operator.queue_stats())).stats.total_sent >= 1
    records = await everything(operator.export())
    assert any("keep me" in str(record) for record in records)
    assert (await done(operator.prune(10**6))).pruned == 0
    with pytest.raises(Forbidden):
        await everything(one.export())


def test_both_clients_offer_the_same() -> None:
    def offers(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert offers(Client) - offers(AsyncClient) == {"close"}
    assert offers(AsyncClient) - offers(Client) == {"aclose"}


def test_methods_have_help_and_signatures_without_machinery() -> None:
    assert "idempotency key" in (Client.send.__doc__ or "")
    assert list(inspect.signature(Client.send).parameters)[:3] == ["self", "to", "content"]
    with Client("http://127.0.0.1:9") as client:
        assert list(inspect.signature(client.send).parameters)[:2] == ["to", "content"]


def test_no_hub_at_all_is_said_with_the_way_out(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOKERY_DATA", str(tmp_path))
    monkeypatch.setattr("rookery.client.address.DEFAULT_URL", "http://127.0.0.1:9")
    with Client() as client, pytest.raises(RookeryError, match="rook up") as refused:
        client.agents()
    assert refused.value.code == "hub_unreachable"
