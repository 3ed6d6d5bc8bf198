"""Approvals: what waits for the operator, and that an answer counts once."""

import asyncio
from dataclasses import replace

import pytest

from rookery.domain.approvals import Approval
from rookery.domain.errors import ApprovalAnsweredAlready, ApprovalChanged, ApprovalNotFound, Forbidden
from rookery.domain.events import AccessRefused, ApprovalAnswered, ApprovalRequested, MessageSent
from rookery.services.asking import AskRules
from rookery.services.contact import Wish
from rookery.services.waiting import CallerGone
from tests.services.house import MINUTE, THE_OPERATOR, House, Member, a_house, contents

TOOL = '{"command":"rm -rf build"}'


async def waiting(house: House) -> Approval:
    (approval,) = await house.hub.approvals.pending(THE_OPERATOR)
    return approval


async def intern_and_senior(house: House) -> tuple[Member, Member]:
    return await house.member("intern", mode="supervised"), await house.member("senior")


async def refusals(house: House) -> list[str]:
    return [entry.fact.action for entry in await house.journal(AccessRefused)]


async def test_what_a_supervised_agent_sends_waits_and_goes_out_once(house: House) -> None:
    intern, senior = await intern_and_senior(house)
    receipt = await house.send(intern, senior, "may I?", idempotency_key="k")
    assert (receipt.delivered, receipt.recipients) == (False, ())
    assert await house.inbox(senior) == []
    assert (await house.agent(intern.id)).status == "awaiting_approval"
    repeated = await house.send(intern, senior, "may I?", idempotency_key="k")
    assert (repeated.repeated, repeated.held, repeated.message.id) == (True, receipt.held, receipt.message.id)
    approval = await waiting(house)
    assert approval.arguments == (("to", "senior"), ("message", "may I?"))

    answered, told = await house.hub.approvals.answer(THE_OPERATOR, approval.id, "approve", digest=approval.digest)
    assert (answered.status, answered.answered_by, told) == ("approved", "operator", "Sent to senior.")
    (item,) = await house.inbox(senior)
    assert (item.message.id, item.message.content, item.message.sender) == (
        receipt.message.id,
        "may I?",
        intern.id,
    )
    assert (await house.agent(intern.id)).status == "idle"
    delivered = await house.send(intern, senior, "may I?", idempotency_key="k")
    assert (delivered.repeated, delivered.held) == (True, None)

    with pytest.raises(ApprovalAnsweredAlready):
        await house.hub.approvals.answer(THE_OPERATOR, approval.id, "approve")
    assert len(await house.inbox(senior)) == 1
    assert await refusals(house) == ["answer_approval"]


async def test_a_strict_agent_is_asked_about_too_and_an_autonomous_one_is_not(house: House) -> None:
    strict, free = await house.member("strict", mode="strict"), await house.member("free")
    assert (await house.send(strict, free)).held is not None
    assert (await house.send(free, strict)).held is None


async def test_manager_and_report_need_no_word(house: House) -> None:
    boss = await house.member("boss", mode="strict")
    worker = await house.member("worker", mode="strict", manager="boss")
    assert (await house.send(worker, boss)).held is None
    assert (await house.send(boss, worker)).held is None


async def test_the_operator_can_always_be_told(house: House) -> None:
    strict = await house.member("strict", mode="strict")
    assert (await house.send(strict, "operator", "I am stuck")).held is None


async def test_what_is_denied_is_never_sent_and_its_sender_hears_of_it(house: House) -> None:
    intern, senior = await intern_and_senior(house)
    receipt = await house.send(intern, senior, "may I?")
    await house.hub.approvals.answer(THE_OPERATOR, receipt.held or "", "deny")
    assert await house.inbox(senior) == []
    assert contents(await house.inbox(intern)) == ["Approval denied for contacting senior."]


async def test_time_denies(house: House) -> None:
    intern, senior = await intern_and_senior(house)
    receipt = await house.send(intern, senior, "may I?")
    house.clock.move_on(15 * MINUTE - 1)
    assert await house.hub.approvals.expire() == 0
    house.clock.move_on(1)
    assert await house.hub.approvals.expire() == 1
    assert contents(await house.inbox(intern)) == [
        "Approval denied for contacting senior.\nNobody answered in time."
    ]
    with pytest.raises(ApprovalAnsweredAlready, match="expired"):
        await house.hub.approvals.answer(THE_OPERATOR, receipt.held or "", "approve")
    assert await house.inbox(senior) == []


@pytest.mark.parametrize("decision", ["approve", "deny"])
async def test_no_agent_answers_an_approval(house: House, decision: str) -> None:
    intern, senior = await intern_and_senior(house)
    receipt = await house.send(intern, senior, "may I?")
    for agent in (intern, senior):
        with pytest.raises(Forbidden):
            await house.hub.approvals.answer(agent.principal, receipt.held or "", decision)  # pyright: ignore[reportArgumentType]
    assert (await waiting(house)).pending


async def test_an_agent_sees_its_own_and_no_others(house: House) -> None:
    intern, senior = await intern_and_senior(house)
    receipt = await house.send(intern, senior, "may I?")
    assert (await house.hub.approvals.get(intern.principal, receipt.held or "")).agent == intern.id
    assert list(await house.hub.approvals.pending(senior.principal)) == []
    with pytest.raises(ApprovalNotFound):
        await house.hub.approvals.get(senior.principal, receipt.held or "")


async def test_an_answer_to_other_bytes_is_refused(house: House) -> None:
    intern, senior = await intern_and_senior(house)
    await house.send(intern, senior, "may I?")
    approval = await waiting(house)
    last = "0" if approval.digest[-1] != "0" else "1"
    with pytest.raises(ApprovalChanged):
        await house.hub.approvals.answer(THE_OPERATOR, approval.id, "approve", digest=approval.digest[:-1] + last)
    assert (await waiting(house)).pending
    assert await refusals(house) == ["answer_approval"]


@pytest.mark.parametrize("what", ["shown", "held"])
async def test_a_call_that_was_altered_in_the_store_is_not_carried_out(house: House, what: str) -> None:
    intern, senior = await intern_and_senior(house)
    await house.send(intern, senior, "may I?")
    approval = await waiting(house)
    (held,) = await house.store.read(lambda tx: tx.held.of(approval.id))
    if what == "held":
        await house.store.write(lambda tx: tx.held.put(replace(held, content="may I!")))
    else:
        shown = (("to", "senior"), ("message", "may I!"))
        await house.store.write(lambda tx: tx.approvals.put(replace(approval, arguments=shown)))
    with pytest.raises(ApprovalChanged):
        await house.hub.approvals.answer(THE_OPERATOR, approval.id, "approve")
    assert await house.inbox(senior) == []
    assert await refusals(house) == ["answer_approval"]


async def test_two_answers_at_once_count_as_one(house: House) -> None:
    intern, senior = await intern_and_senior(house)
    receipt = await house.send(intern, senior, "may I?")
    answers = await asyncio.gather(
        *(house.hub.approvals.answer(THE_OPERATOR, receipt.held or "", "approve") for _ in range(5)),
        return_exceptions=True,
    )
    assert sum(isinstance(each, ApprovalAnsweredAlready) for each in answers) == 4
    assert len(await house.inbox(senior)) == 1
    assert len(await house.journal(ApprovalAnswered)) == 1


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("notify", "Notification sent to senior."),
        ("delegate", "Delegated to senior (subtask task-1)."),
    ],
)
async def test_an_approved_call_is_carried_out_and_its_caller_is_told(
    house: House, action: str, told: str
) -> None:
    intern, senior = await intern_and_senior(house)
    wish = Wish(action=action, to="senior", message="look", idempotency_key="k")  # pyright: ignore[reportArgumentType]
    first = await house.hub.contact.contact(intern.principal, wish)
    assert (first.status, first.text) == (
        "awaiting_approval",
        "This action requires approval. Waiting for approval...",
    )
    again = await house.hub.contact.contact(intern.principal, wish)
    assert again.held == first.held
    await house.hub.approvals.answer(THE_OPERATOR, first.held or "", "approve")
    assert len(await house.inbox(senior)) == 1
    assert contents(await house.inbox(intern))[0].startswith(told)
    repeated = await house.hub.contact.contact(intern.principal, wish)
    assert repeated.text.startswith(told)
    assert len(await house.inbox(senior)) == 1


async def test_what_can_no_longer_be_done_is_told_to_both(house: House) -> None:
    intern, _ = await intern_and_senior(house)
    told = await house.hub.contact.contact(intern.principal, Wish(action="delegate", to="senior", message="look"))
    await house.hub.agents.delete(THE_OPERATOR, "senior")
    answered, outcome = await house.hub.approvals.answer(THE_OPERATOR, told.held or "", "approve")
    assert answered.status == "approved"
    assert outcome.startswith("No agent is called")
    assert contents(await house.inbox(intern))[0].startswith("Error: No agent is called")
    assert list(await house.hub.tasks.recent(THE_OPERATOR)) == []


async def test_an_approved_question_reaches_its_asker_as_a_reply(house: House) -> None:
    intern, senior = await intern_and_senior(house)
    told = await house.hub.contact.contact(intern.principal, Wish(action="ask", to="senior", message="sound?"))
    await house.hub.approvals.answer(THE_OPERATOR, told.held or "", "approve")
    (ask,) = await house.hub.asking.open(senior.principal)
    await house.send(senior, intern, "it is", reply_to=ask.message_id)
    assert contents(await house.inbox(intern, unread_only=True)) == ["it is"]
    house.clock.move_on(5 * MINUTE)
    await house.hub.asking.end_overdue()
    assert len(await house.inbox(intern)) == 1


async def test_an_approved_question_that_stays_open_ends_with_a_notice(house: House) -> None:
    intern, _ = await intern_and_senior(house)
    told = await house.hub.contact.contact(intern.principal, Wish(action="ask", to="senior", message="sound?"))
    await house.hub.approvals.answer(THE_OPERATOR, told.held or "", "approve")
    house.clock.move_on(123_000)
    for _ in range(2):
        await house.hub.asking.end_overdue()
    assert contents(await house.inbox(intern)) == [
        "Error: senior did not respond within 120 seconds. Consider using 'delegate' for async processing."
    ]


# -- questions of programs ----------------------------------------------------------------------------


async def asked_for_tool(house: House, agent: Member, **more: object) -> "asyncio.Task[Approval]":
    before = await house.position()
    task = asyncio.ensure_future(
        house.hub.approvals.ask_for_tool(agent.principal, "Bash", TOOL, **more)  # pyright: ignore[reportArgumentType]
    )
    await house.event(ApprovalRequested, after=before)
    return task


@pytest.mark.parametrize(("decision", "status"), [("approve", "approved"), ("deny", "denied")])
async def test_a_program_waits_for_the_answer(house: House, decision: str, status: str) -> None:
    claude = await house.member("claude")
    await house.hub.agents.heartbeat(claude.principal, claude.id, "working")
    asking = await asked_for_tool(house, claude)
    approval = await waiting(house)
    assert (approval.tool, approval.arguments) == ("Bash", (("input", TOOL),))
    assert (await house.agent(claude.id)).status == "awaiting_approval"
    await house.hub.approvals.answer(THE_OPERATOR, approval.id, decision)  # pyright: ignore[reportArgumentType]
    answered = await asking
    assert (answered.status, answered.used_at) == (status, house.clock.now())
    assert (await house.agent(claude.id)).status == "working"


async def test_who_asks_again_under_its_key_waits_for_the_same_answer(house: House) -> None:
    claude = await house.member("claude")
    gone = asyncio.Event()
    first = await asked_for_tool(house, claude, key="toolu_1", gone=gone)
    gone.set()
    with pytest.raises(CallerGone):
        await first
    second = asyncio.ensure_future(house.hub.approvals.ask_for_tool(claude.principal, "Bash", TOOL, key="toolu_1"))
    approval = await waiting(house)
    await house.hub.approvals.answer(THE_OPERATOR, approval.id, "approve")
    assert (await second).id == approval.id


async def test_an_answer_that_was_taken_serves_no_second_call(house: House) -> None:
    claude = await house.member("claude")
    asking = await asked_for_tool(house, claude, key="toolu_1")
    first = await waiting(house)
    await house.hub.approvals.answer(THE_OPERATOR, first.id, "approve")
    await asking
    replayed = await asked_for_tool(house, claude, key="toolu_1")
    second = await waiting(house)
    assert second.id != first.id
    assert not replayed.done()
    await house.hub.approvals.answer(THE_OPERATOR, second.id, "deny")
    assert (await replayed).status == "denied"


async def test_a_key_does_not_serve_another_payload(house: House) -> None:
    claude = await house.member("claude")
    asking = await asked_for_tool(house, claude, key="toolu_1")
    with pytest.raises(ApprovalChanged):
        await house.hub.approvals.ask_for_tool(
            claude.principal, "Bash", TOOL.replace("build", "build "), key="toolu_1"
        )
    assert await refusals(house) == ["permission_prompt"]
    await house.hub.approvals.answer(THE_OPERATOR, (await waiting(house)).id, "deny")
    await asking


async def test_what_nobody_waits_for_any_longer_is_withdrawn(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with a_house(tmp_path_factory.mktemp("data") / "d", asks=AskRules(grace=1)) as house:
        claude = await house.member("claude")
        gone = asyncio.Event()
        asking = await asked_for_tool(house, claude, gone=gone)
        approval = await waiting(house)
        gone.set()
        with pytest.raises(CallerGone):
            await asking
        await house.event(ApprovalAnswered)
        assert (await house.hub.approvals.get(THE_OPERATOR, approval.id)).status == "cancelled"
        assert (await house.agent(claude.id)).status == "idle"


async def test_an_agent_that_is_deleted_takes_its_questions_along(house: House) -> None:
    intern, senior = await intern_and_senior(house)
    receipt = await house.send(intern, senior, "may I?")
    await house.hub.agents.delete(THE_OPERATOR, "intern")
    assert (await house.hub.approvals.get(THE_OPERATOR, receipt.held or "")).status == "cancelled"
    assert await house.store.read(lambda tx: list(tx.held.of(receipt.held or ""))) == []
    assert len(await house.journal(MessageSent)) == 0
