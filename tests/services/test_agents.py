"""Agents come, change and go."""

import asyncio
from typing import Any

import pytest

from rookery.domain.errors import AgentNotFound, Forbidden, NameRefused, NameTaken
from rookery.domain.events import (
    AgentDeleted,
    AgentRegistered,
    AgentRenamed,
    AgentStatusChanged,
    AgentUpdated,
    MessageCompleted,
)
from rookery.domain.ids import ADJECTIVES, ANIMALS
from rookery.services.agents import Change, Registration
from rookery.services.inbox import Completion
from tests.services.house import NOW, SECOND, THE_OPERATOR, House

# -- the name of a newcomer ------------------------------------------------------------------------------


async def test_a_newcomer_is_called_by_its_name(house: House) -> None:
    member = await house.member("builder", model_name="claude")
    assert member.agent.name == "builder"
    assert member.agent.model_name == "claude"


async def test_a_taken_name_is_a_conflict(house: House) -> None:
    await house.member("builder")
    with pytest.raises(NameTaken, match="'builder' belongs to another agent"):
        await house.member("builder")


async def test_a_name_that_differs_in_case_alone_is_taken(house: House) -> None:
    await house.member("Builder")
    with pytest.raises(NameTaken):
        await house.member("bUILDER")


async def test_an_id_is_taken_as_a_name_by_all_but_its_owner(house: House) -> None:
    member = await house.member()
    with pytest.raises(NameTaken):
        await house.member(member.id)
    with pytest.raises(NameTaken):
        await house.member(member.id.upper())


async def test_without_a_name_a_newcomer_is_called_by_its_model(house: House) -> None:
    assert (await house.member(model_name="agent-1")).agent.name == "agent-1"


async def test_a_taken_model_name_is_numbered(house: House) -> None:
    names = [(await house.member(model_name="claude")).agent.name for _ in range(4)]
    assert names == ["claude", "claude-2", "claude-3", "claude-4"]


async def test_a_number_that_was_freed_is_given_again(house: House) -> None:
    members = [await house.member(model_name="claude") for _ in range(3)]
    await house.hub.agents.delete(THE_OPERATOR, members[1].id)
    assert (await house.member(model_name="claude")).agent.name == "claude-2"


async def test_a_free_form_model_name_becomes_a_plain_one(house: House) -> None:
    member = await house.member(model_name="Claude Opus (4.5)")
    assert member.agent.name == "Claude-Opus-4.5"
    assert member.agent.model_name == "Claude Opus (4.5)"


@pytest.mark.parametrize("model_name", [None, "", "   ", "日本", "...", "operator", "0perat0r"])
async def test_without_any_usable_name_a_newcomer_is_called_by_its_id(house: House, model_name: Any) -> None:
    member = await house.member(model_name=model_name)
    assert member.agent.name == member.id


async def test_an_id_is_an_adjective_and_an_animal(house: House) -> None:
    adjective, animal = (await house.member()).id.split("-")
    assert adjective in ADJECTIVES
    assert animal in ANIMALS


@pytest.mark.parametrize(
    "name",
    ["operator", "Operator", "0perator", "op3rat0r", "the-operator", "operator-2", "user", "us3r", "hurnan",
     "human", "hub", "system", "sys-tem", "admin", "broadcast", "all", "everyone", "superuser",
     "rookery", "root"],
)  # fmt: skip
async def test_a_name_that_reads_like_somebody_else_is_refused(house: House, name: str) -> None:
    with pytest.raises(NameRefused, match="reserved"):
        await house.member(name)


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "a/b", "..", ".", "-", "a" * 65, "café", "оперator", "a\n", "a\x00", "😀", "a;b"]
)
async def test_a_name_of_other_characters_is_refused(house: House, name: str) -> None:
    with pytest.raises(NameRefused, match="is not a name"):
        await house.member(name)


async def test_many_who_ask_for_one_name_at_once_get_it_once(house: House) -> None:
    asked = [house.member("builder") for _ in range(20)]
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(not isinstance(outcome, BaseException) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, NameTaken) for outcome in outcomes) == 19


# -- what is known of a newcomer -------------------------------------------------------------------------


async def test_a_newcomer_is_an_idle_autonomous_worker_of_no_known_make(house: House) -> None:
    agent = (await house.member("builder")).agent
    assert (agent.kind, agent.role, agent.mode, agent.status) == ("external", "worker", "autonomous", "idle")
    assert (agent.manager, agent.project, agent.model_name) == (None, None, None)
    assert agent.created_at == agent.last_active == NOW


async def test_a_newcomer_is_what_the_operator_said(house: House) -> None:
    boss = await house.member("boss", role="leader")
    agent = (
        await house.member("builder", role="worker", kind="codex", mode="strict", project="/src", manager="BOSS")
    ).agent
    assert (agent.kind, agent.mode, agent.project, agent.manager) == ("codex", "strict", "/src", boss.id)
    assert await house.agent(agent.id) == agent


async def test_an_unknown_manager_is_not_found_and_nobody_is_registered(house: House) -> None:
    with pytest.raises(AgentNotFound):
        await house.member("builder", manager="nobody")
    assert await house.hub.agents.living() == []


async def test_everybody_hears_of_a_newcomer(house: House) -> None:
    first, second = await house.members("first", "second")
    told = await house.journal(AgentRegistered, audience=first.id)
    assert [entry.fact.agent for entry in told] == [first.agent, second.agent]
    assert [entry.actor for entry in told] == ["operator", "operator"]


async def test_a_newcomer_does_not_hear_of_what_was_before_it(house: House) -> None:
    await house.member("first")
    second = await house.member("second")
    told = await house.journal(AgentRegistered, audience=second.id)
    assert [entry.fact.agent.id for entry in told] == [second.id]


# -- coming back -----------------------------------------------------------------------------------------


async def test_registering_with_a_token_resumes_the_same_agent(house: House) -> None:
    member = await house.member("builder", role="leader")
    await house.hub.agents.heartbeat(member.principal, member.id, "offline")
    again = await house.hub.agents.register(member.principal, Registration(name="builder"))
    assert again.agent.id == member.id
    assert again.token is None
    assert again.agent.status == "idle"
    assert len(await house.hub.agents.living()) == 1


async def test_one_who_resumes_may_take_a_new_name_but_no_new_authority(house: House) -> None:
    member = await house.member("builder")
    wanted = Registration(name="mason", role="leader", kind="codex", mode="strict", manager="mason", project="/p")
    again = (await house.hub.agents.register(member.principal, wanted)).agent
    assert (again.name, again.project) == ("mason", "/p")
    assert (again.role, again.kind, again.mode, again.manager) == ("worker", "external", "autonomous", None)


async def test_one_who_resumes_keeps_what_it_does_not_mention(house: House) -> None:
    member = await house.member("builder", model_name="claude", project="/src")
    again = (await house.hub.agents.register(member.principal, Registration())).agent
    assert (again.name, again.model_name, again.project) == ("builder", "claude", "/src")


async def test_one_who_resumes_cannot_take_anothers_name(house: House) -> None:
    member, _ = await house.members("builder", "mason")
    with pytest.raises(NameTaken):
        await house.hub.agents.register(member.principal, Registration(name="mason"))


# -- finding ---------------------------------------------------------------------------------------------


async def test_an_agent_is_found_by_id_and_by_name_in_any_case(house: House) -> None:
    member = await house.member("Builder")
    for called in (member.id, "Builder", "builder", "BUILDER"):
        assert (await house.hub.agents.get(called)).id == member.id


async def test_an_unknown_agent_comes_with_the_names_that_exist(house: House) -> None:
    await house.members("builder", "mason")
    with pytest.raises(AgentNotFound, match="Known agents: builder, mason") as refused:
        await house.hub.agents.get("nobody")
    assert refused.value.data == {"agent": "nobody", "available": ["builder", "mason"]}


async def test_the_living_are_listed_in_order_of_registration(house: House) -> None:
    members = await house.members("zoe", "adam", "mia")
    await house.hub.agents.delete(THE_OPERATOR, "adam")
    assert [agent.id for agent in await house.hub.agents.living()] == [members[0].id, members[2].id]


# -- changing --------------------------------------------------------------------------------------------


async def test_an_agent_may_change_its_name_project_model_and_status(house: House) -> None:
    member = await house.member("builder")
    change = Change(name="mason", project="/p", model_name="m", status="working")
    changed = await house.hub.agents.update(member.principal, "builder", change)
    assert (changed.name, changed.project, changed.model_name, changed.status) == ("mason", "/p", "m", "working")
    assert await house.agent(member.id) == changed
    told = [entry.fact for entry in await house.journal(AgentRenamed, AgentUpdated, AgentStatusChanged)]
    assert told[0] == AgentRenamed(agent_id=member.id, previous_name="builder", name="mason")
    assert (told[1].project, told[1].model_name) == ("/p", "m")
    assert told[2] == AgentStatusChanged(agent_id=member.id, previous_status="idle", status="working")


AUTHORITY: list[dict[str, Any]] = [{"role": "leader"}, {"kind": "codex"}, {"manager": ""}, {"mode": "strict"}]


@pytest.mark.parametrize("authority", AUTHORITY, ids=lambda change: next(iter(change)))
async def test_an_agent_may_not_change_its_authority(house: House, authority: dict[str, Any]) -> None:
    member = await house.member("builder")
    with pytest.raises(Forbidden, match="Only the operator may change"):
        await house.hub.agents.update(member.principal, "builder", Change(name="mason", **authority))
    assert await house.agent(member.id) == member.agent


@pytest.mark.parametrize("authority", AUTHORITY, ids=lambda change: next(iter(change)))
async def test_the_operator_may_change_an_agents_authority(house: House, authority: dict[str, Any]) -> None:
    await house.member("boss")
    member = await house.member("builder", manager="boss")
    changed = await house.hub.agents.update(THE_OPERATOR, "builder", Change(**authority))
    ((field, value),) = authority.items()
    assert getattr(changed, field) == (value or None)
    assert await house.agent(member.id) == changed


@pytest.mark.parametrize("verb", ["update", "heartbeat", "delete"])
async def test_nobody_may_touch_another_agent(house: House, verb: str) -> None:
    member, other = await house.members("builder", "mason")
    more = (Change(name="x1"),) if verb == "update" else ()
    with pytest.raises(Forbidden, match="Only 'mason' itself and the operator may"):
        await getattr(house.hub.agents, verb)(member.principal, "mason", *more)
    assert await house.agent(other.id) == other.agent


async def test_an_update_that_changes_nothing_is_no_fact(house: House) -> None:
    member = await house.member("builder", project="/p")
    before = await house.position()
    await house.hub.agents.update(THE_OPERATOR, "builder", Change(name="builder", project="/p", status="idle"))
    assert await house.position() == before
    assert await house.agent(member.id) == member.agent


async def test_an_empty_project_model_or_manager_takes_it_away(house: House) -> None:
    await house.member("boss")
    await house.member("builder", project="/p", model_name="m", manager="boss")
    changed = await house.hub.agents.update(THE_OPERATOR, "builder", Change(project="", model_name="", manager=""))
    assert (changed.project, changed.model_name, changed.manager) == (None, None, None)


async def test_a_taken_or_reserved_name_cannot_be_taken_by_renaming(house: House) -> None:
    member, _ = await house.members("builder", "mason")
    with pytest.raises(NameTaken):
        await house.hub.agents.update(member.principal, "builder", Change(name="Mason"))
    with pytest.raises(NameRefused):
        await house.hub.agents.update(member.principal, "builder", Change(name="human"))


async def test_a_name_may_change_its_case_and_become_the_id(house: House) -> None:
    member = await house.member("builder")
    assert (await house.hub.agents.update(member.principal, member.id, Change(name="Builder"))).name == "Builder"
    assert (await house.hub.agents.update(member.principal, member.id, Change(name=member.id))).name == member.id


async def test_a_name_given_up_is_free_at_once(house: House) -> None:
    member = await house.member("builder")
    await house.hub.agents.update(member.principal, member.id, Change(name="mason"))
    assert (await house.member("builder")).id != member.id


# -- going -----------------------------------------------------------------------------------------------


async def test_a_deleted_agent_frees_its_name_and_keeps_its_id(house: House) -> None:
    member = await house.member("builder")
    await house.hub.agents.delete(member.principal, member.id)
    with pytest.raises(AgentNotFound):
        await house.hub.agents.get("builder")
    with pytest.raises(AgentNotFound):
        await house.hub.agents.get(member.id)
    successor = await house.member("builder")
    assert successor.id != member.id
    with pytest.raises(NameTaken):  # nobody can pass for the one that is gone
        await house.member(member.id)


async def test_ids_are_never_given_twice(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.services.agents.secrets.randbelow", lambda _: 0)
    ids: list[str] = []
    for _ in range(4):
        member = await house.member()
        ids.append(member.id)
        await house.hub.agents.delete(THE_OPERATOR, member.id)
    assert ids == ["swift-fox", "swift-fox-2", "swift-fox-3", "swift-fox-4"]


async def test_an_id_that_is_somebodys_name_is_passed_over(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.services.agents.secrets.randbelow", lambda _: 7)
    await house.member("Swift-Fox")
    monkeypatch.setattr("rookery.services.agents.secrets.randbelow", lambda _: 0)
    assert (await house.member()).id == "swift-fox-2"


async def test_what_waited_for_a_deleted_agent_is_dead_and_its_senders_hear_of_it(house: House) -> None:
    sender, gone = await house.members("sender", "gone")
    waiting = await house.send(sender, gone, "waiting")
    claimed = await house.send(sender, gone, "claimed")
    finished = await house.send(sender, gone, "finished")
    await house.hub.inbox.claim(gone.principal, gone.id, claimed.message.id)
    await house.hub.inbox.complete(gone.principal, gone.id, finished.message.id, Completion(result="ok"))
    await house.hub.agents.delete(THE_OPERATOR, "gone")
    for receipt in (waiting, claimed):
        delivery = await house.delivery(receipt, gone)
        assert (delivery.folder, delivery.error) == ("dead", "gone was deleted")
        assert delivery.completed_at == NOW
    assert (await house.delivery(finished, gone)).folder == "done"
    told = await house.journal(MessageCompleted, audience=sender.id)
    assert {entry.fact.message_id for entry in told if entry.fact.outcome == "dead"} == {
        waiting.message.id,
        claimed.message.id,
    }


async def test_a_great_inbox_is_dead_to_the_last_message_when_its_agent_goes(house: House) -> None:
    sender, gone = await house.members("sender", "gone")
    await asyncio.gather(*(house.send(sender, gone, f"{n}") for n in range(1100)))
    await house.hub.agents.delete(THE_OPERATOR, "gone")
    stats = await house.store.read(lambda tx: tx.deliveries.stats(gone.id))
    assert (stats.new, stats.cur, stats.dead) == (0, 0, 1100)


async def test_a_message_with_a_ttl_dies_with_its_recipient_too(house: House) -> None:
    sender, gone = await house.members("sender", "gone")
    receipt = await house.send(sender, gone, ttl=SECOND)
    house.clock.move_on(2 * SECOND)
    await house.hub.agents.delete(THE_OPERATOR, "gone")
    assert (await house.delivery(receipt, gone)).error == "gone was deleted"


async def test_the_messages_of_a_deleted_agent_stay(house: House) -> None:
    gone, reader = await house.members("gone", "reader")
    await house.send(gone, reader, "last words")
    await house.hub.agents.delete(gone.principal, gone.id)
    (item,) = await house.inbox(reader)
    assert (item.message.content, item.message.sender) == ("last words", gone.id)
    assert await house.hub.agents.names([gone.id]) == ["gone"]


async def test_everybody_hears_who_went(house: House) -> None:
    gone, witness = await house.members("gone", "witness")
    await house.hub.agents.delete(gone.principal, "gone")
    (entry,) = await house.journal(AgentDeleted, audience=witness.id)
    assert entry.fact == AgentDeleted(agent_id=gone.id, name="gone", at=NOW)
    assert (entry.actor, entry.token_id) == (gone.id, gone.principal.token_id)


async def test_deleting_twice_finds_nobody(house: House) -> None:
    await house.member("gone")
    await house.hub.agents.delete(THE_OPERATOR, "gone")
    with pytest.raises(AgentNotFound):
        await house.hub.agents.delete(THE_OPERATOR, "gone")
