"""Handlers for rules and approvals."""

from rookery.surfaces.rest.call import Call
from rookery.wire import contact as answer
from rookery.wire import requests as ask
from rookery.wire.views import approval_view, rule_view


async def list_rules(call: Call) -> answer.RulesResponse:
    query: ask.RulesQuery = call.query
    rules = await call.hub.permissions.rules(call.principal, query.agent)
    return answer.RulesResponse(rules=[rule_view(rule) for rule in rules], count=len(rules))


async def set_rule(call: Call) -> answer.RuleResponse:
    body: ask.RuleRequest = call.body
    rule = await call.hub.permissions.set(
        call.principal, body.agent, body.target, body.permission, requires_approval=body.requires_approval
    )
    return answer.RuleResponse(rule=rule_view(rule))


async def remove_rule(call: Call) -> answer.RemovedResponse:
    query: ask.RuleQuery = call.query
    removed = await call.hub.permissions.remove(call.principal, query.agent, query.target)
    return answer.RemovedResponse(removed=removed)


async def list_approvals(call: Call) -> answer.ApprovalsResponse:
    query: ask.ApprovalsQuery = call.query
    approvals = call.hub.approvals
    found = await (
        approvals.recent(call.principal, query.limit) if query.all else approvals.pending(call.principal)
    )
    return answer.ApprovalsResponse(approvals=[approval_view(each) for each in found], count=len(found))


async def get_approval(call: Call) -> answer.ApprovalResponse:
    found = await call.hub.approvals.get(call.principal, call.path["approval"])
    return answer.ApprovalResponse(approval=approval_view(found))


async def answer_approval(call: Call) -> answer.AnsweredResponse:
    body: ask.AnswerRequest = call.body
    approval, told = await call.hub.approvals.answer(
        call.principal, call.path["approval"], body.decision, digest=body.digest, note=body.note
    )
    return answer.AnsweredResponse(approval=approval_view(approval), message=told)
