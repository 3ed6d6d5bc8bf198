"""Rules and approvals through both kinds of client."""

from typing import Any

import pytest

from rookery.domain.errors import (
    AgentNotFound,
    ApprovalAnsweredAlready,
    ApprovalChanged,
    ApprovalNotFound,
    Conflict,
    Forbidden,
    InvalidRequest,
)
from tests.client.both import done, pair


async def waiting(operator: Any) -> tuple[Any, Any, Any]:
    """Two agents, and what one said to the other that now waits for the operator."""
    one, two = await pair(operator)
    await done(operator.allow(one.id, two.id, requires_approval=True))
    held = await done(one.notify(two.id, "psst", context="between us"))
    assert held.status == "awaiting_approval"
    return one, two, (await done(operator.approval(held.approval))).approval


async def test_rules_are_made_listed_replaced_and_removed(operator: Any) -> None:
    one, two = await pair(operator)
    made = (await done(operator.allow(one.name, two.name, requires_approval=True))).rule
    assert (made.agent_id, made.target, made.permission, made.requires_approval) == (one.id, two.id, "allow", True)
    await done(operator.forbid(one.id))
    assert [rule.target for rule in (await done(one.rules())).rules] == [two.id, "*"]
    assert (await done(operator.forbid(one.id, two.id))).rule.permission == "deny"
    assert (await done(operator.rules(one.id))).count == 2
    assert made.agent_id in [rule.agent_id for rule in (await done(operator.rules())).rules]
    assert (await done(operator.remove_rule(one.id, two.id))).removed
    assert not (await done(operator.remove_rule(one.id, two.id))).removed
    assert (await done(operator.remove_rule(one.id))).removed


async def test_rules_are_the_operators_to_make(operator: Any) -> None:
    one, two = await pair(operator)
    for call in (one.allow, one.forbid, one.remove_rule):
        with pytest.raises(Forbidden):
            await done(call(one.id, two.id))
    with pytest.raises(AgentNotFound):
        await done(operator.allow(one.id, "nobody-here"))
    with pytest.raises(InvalidRequest, match="itself"):
        await done(operator.allow(one.id, one.id))


async def test_what_waits_is_shown_and_let_through_once(operator: Any) -> None:
    one, two, approval = await waiting(operator)
    assert (approval.kind, approval.status, approval.agent_id) == ("contact", "pending", one.id)
    assert approval.arguments == {
        "action": "notify", "agent": two.name, "message": "psst", "context": "between us",
    }  # fmt: skip
    assert approval in (await done(operator.approvals())).approvals
    assert (await done(one.approvals())).approvals == [approval]
    assert (await done(two.unread())) == 0
    answered = await done(operator.answer(approval, "approve", note="this once"))
    assert (answered.approval.status, answered.approval.note) == ("approved", "this once")
    assert answered.message == f"Notification sent to {two.name}."
    assert (await done(two.unread())) == 1
    with pytest.raises(ApprovalAnsweredAlready) as late:
        await done(operator.answer(approval, "deny"))
    assert late.value.data["status"] == "approved"
    assert (await done(one.approvals())).approvals == []
    assert [each.approval_id for each in (await done(one.approvals(all=True))).approvals] == [approval.approval_id]


async def test_what_is_denied_never_arrives(operator: Any) -> None:
    one, two, approval = await waiting(operator)
    denied = (await done(operator.answer(approval.approval_id, "deny"))).approval
    assert denied.status == "denied"
    assert (await done(two.unread())) == 0
    assert any("Approval denied" in message.content for message in (await done(one.inbox())).messages)


async def test_an_answer_is_to_what_was_shown_and_to_nothing_else(operator: Any) -> None:
    _, two, approval = await waiting(operator)
    with pytest.raises(ApprovalChanged):
        await done(operator.answer(approval.approval_id, "approve", digest="0" * 64))
    assert (await done(operator.approval(approval.approval_id.upper()))).approval == approval
    assert (await done(two.unread())) == 0
    await done(operator.answer(approval.approval_id, "approve", digest=approval.digest))


async def test_approvals_are_the_operators_to_answer(operator: Any) -> None:
    one, two, approval = await waiting(operator)
    with pytest.raises(Forbidden):
        await done(one.answer(approval, "approve"))
    with pytest.raises(ApprovalNotFound, match="rook approvals"):
        await done(two.approval(approval.approval_id))
    with pytest.raises(ApprovalNotFound):
        await done(operator.answer("nothing", "approve"))


async def test_a_question_that_was_held_is_asked_again_under_its_key(operator: Any) -> None:
    one, two = await pair(operator)
    await done(operator.allow(one.id, two.id, requires_approval=True))
    for key, decision in (("no", "deny"), ("yes", "approve")):
        held = await done(one.ask(two.id, "how many?", key=key))
        assert (held.status, held.answer) == ("awaiting_approval", None)
        assert (await done(one.ask(two.id, "how many?", key=key))).approval == held.approval
        await done(operator.answer(held.approval, decision))
    with pytest.raises(Conflict, match="did not let it through"):
        await done(one.ask(two.id, "how many?", key="no"))
    (question,) = (await done(two.inbox())).messages
    await done(two.reply(question, "42"))
    assert (await done(one.ask(two.id, "how many?", key="yes"))).answer.content == "42"
