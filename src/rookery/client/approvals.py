"""Calls about approvals: questions that only the operator may answer."""

from rookery.client.call import call_of
from rookery.client.exchange import Session, Steps, exchange
from rookery.wire import contact as answer
from rookery.wire import requests as ask
from rookery.wire.requests import Decision


def approvals(session: Session, *, all: bool = False, limit: int = 100) -> Steps[answer.ApprovalsResponse]:  # noqa: A002 - its name in the API
    """What waits for the operator; with `all`, what was answered too, the newest last. An agent sees its own."""
    query = {"all": all, "limit": limit}
    return (yield from exchange(session, call_of("list_approvals", answer.ApprovalsResponse, query=query)))


def approval(session: Session, approval: str) -> Steps[answer.ApprovalResponse]:
    """One approval, by its id."""
    call = call_of("get_approval", answer.ApprovalResponse, places={"approval": approval})
    return (yield from exchange(session, call))


def answer_approval(
    session: Session,
    approval: str | answer.ApprovalView,
    decision: Decision,
    *,
    digest: str | None = None,
    note: str | None = None,
) -> Steps[answer.AnsweredResponse]:
    """Approve or deny. The first answer counts, and is carried out at once. For the operator.

    Give the approval whole, or the `digest` of the one that was shown: the answer is then to that and to nothing
    else. Not repeated if the hub may have heard it: the second answer would be told that it came too late.
    """
    whole = None if isinstance(approval, str) else approval
    said = ask.AnswerRequest(decision=decision, digest=digest or (whole.digest if whole else None), note=note)
    places = {"approval": approval if isinstance(approval, str) else approval.approval_id}
    call = call_of("answer_approval", answer.AnsweredResponse, places=places, body=said)
    return (yield from exchange(session, call))
