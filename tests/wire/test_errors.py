"""One table from error codes to every door."""

from typing import Any

import msgspec
import pytest

from rookery.domain import errors
from rookery.domain.errors import RookeryError
from rookery.wire.errors import (
    ERRORS,
    FELL_BEHIND,
    ErrorBody,
    ErrorResponse,
    error_from,
    error_response,
    translate,
)

TABLE = {
    "internal": (500, 1011, 1, "Internal error", "internal-server-error"),
    "invalid_request": (400, 4400, 2, "Invalid request", "bad-request"),
    "name_refused": (400, 4400, 2, "Name refused", "not-acceptable"),
    "unauthorized": (401, 4401, 5, "Unauthorized", "not-authorized"),
    "forbidden": (403, 4403, 5, "Forbidden", "forbidden"),
    "sender_forged": (403, 4403, 5, "Sender forged", "forbidden"),
    "host_refused": (421, 4421, 5, "Host refused", "not-allowed"),
    "origin_refused": (403, 4403, 5, "Origin refused", "not-allowed"),
    "not_found": (404, 4404, 3, "Not found", "item-not-found"),
    "agent_not_found": (404, 4404, 3, "Agent not found", "item-not-found"),
    "channel_not_found": (404, 4404, 3, "Channel not found", "item-not-found"),
    "message_not_found": (404, 4404, 3, "Message not found", "item-not-found"),
    "task_not_found": (404, 4404, 3, "Task not found", "item-not-found"),
    "approval_not_found": (404, 4404, 3, "Approval not found", "item-not-found"),
    "not_permitted": (403, 4403, 5, "Not permitted", "forbidden"),
    "agent_unavailable": (409, 4409, 6, "Agent unavailable", "recipient-unavailable"),
    "too_deep": (409, 4409, 4, "Too deep", "policy-violation"),
    "ask_failed": (502, 4502, 1, "No answer", "remote-server-not-found"),
    "ask_timed_out": (504, 4504, 6, "No answer in time", "remote-server-timeout"),
    "trace_stopped": (409, 4409, 4, "Stopped", "policy-violation"),
    "task_ended": (409, 4409, 4, "Task ended", "conflict"),
    "approval_answered": (409, 4409, 4, "Already answered", "conflict"),
    "approval_changed": (409, 4409, 4, "Approval changed", "conflict"),
    "hub_stopping": (503, 1013, 8, "Hub stopping", "service-unavailable"),
    "method_not_allowed": (405, 4405, 2, "Method not allowed", "feature-not-implemented"),
    "conflict": (409, 4409, 4, "Conflict", "conflict"),
    "name_taken": (409, 4409, 4, "Name taken", "conflict"),
    "already_claimed": (409, 4409, 4, "Already claimed", "conflict"),
    "already_completed": (409, 4409, 4, "Already completed", "conflict"),
    "idempotency_conflict": (409, 4409, 4, "Idempotency conflict", "conflict"),
    "too_large": (413, 1009, 2, "Too large", "not-acceptable"),
    "unsupported_media_type": (415, 4415, 2, "Unsupported media type", "not-acceptable"),
    "rate_limited": (429, 4429, 6, "Rate limited", "policy-violation"),
    "overloaded": (503, 1013, 6, "Overloaded", "resource-constraint"),
    "storage_full": (507, 4507, 7, "Storage full", "resource-constraint"),
    "storage_unavailable": (503, 1013, 7, "Storage unavailable", "service-unavailable"),
    "storage_damaged": (500, 1011, 7, "Storage damaged", "internal-server-error"),
    "hub_unreachable": (503, 1013, 8, "Hub unreachable", "remote-server-timeout"),
}
"""Written out once more, because programs depend on each of these numbers."""


def every_error(base: type[RookeryError] = RookeryError) -> list[type[RookeryError]]:
    return [base, *(each for child in base.__subclasses__() for each in every_error(child))]


def test_the_table_is_exactly_this() -> None:
    found = {code: (t.http, t.close, t.exit, t.title, t.xmpp) for code, t in ERRORS.items()}
    assert found == TABLE


def test_the_table_holds_every_error_and_nothing_else() -> None:
    assert {error.code for error in every_error()} == set(ERRORS)


@pytest.mark.parametrize("code", ERRORS)
def test_every_door_gets_a_code_that_it_may_use(code: str) -> None:
    row = ERRORS[code]
    assert 400 <= row.http <= 599
    # What an application may close a WebSocket with: some of the protocol's own codes, or 4000 to 4999.
    assert row.close in (1009, 1011, 1013) or 4000 <= row.close <= 4999
    assert 1 <= row.exit <= 125
    assert row.title == row.title.capitalize()


def test_no_error_closes_a_socket_like_one_that_fell_behind() -> None:
    assert FELL_BEHIND not in {row.close for row in ERRORS.values()}


def test_an_error_leaves_with_its_code_its_words_and_its_data() -> None:
    body = msgspec.json.decode(msgspec.json.encode(error_response(errors.AgentNotFound("ghost", ["fox"]))))
    assert body == {
        "ok": False,
        "error": {
            "code": "agent_not_found",
            "message": "No agent is called 'ghost'. Known agents: fox.",
            "data": {"agent": "ghost", "available": ["fox"]},
        },
    }


SAMPLES: list[RookeryError] = [
    errors.InvalidRequest("No."), errors.NameRefused("No.", name="x"), errors.Unauthorized("No."),
    errors.Forbidden("No."), errors.SenderForged("fox", "owl"), errors.HostRefused("evil"),
    errors.OriginRefused("http://evil"), errors.NotFound("No."), errors.AgentNotFound("ghost", ["fox"]),
    errors.ChannelNotFound("#ghost", ["#build"]), errors.MessageNotFound("m"),
    errors.MethodNotAllowed("PUT", "/", ["GET"]), errors.Conflict("No."),
    errors.NameTaken("fox"), errors.AlreadyClaimed("m", "fox"), errors.AlreadyCompleted("m", "done"),
    errors.IdempotencyConflict("k"), errors.TooLarge("It", 1), errors.UnsupportedMediaType("text/plain"),
    errors.RateLimited(20, "fox"), errors.Overloaded("writes"), errors.StorageFull("here"),
    errors.StorageUnavailable("No."), errors.StorageDamaged("No."), errors.HubUnreachable("No."),
    errors.TaskNotFound("task-7"), errors.TaskEndedAlready("task-7", "failed"), errors.ApprovalNotFound("k3m9"),
    errors.ApprovalAnsweredAlready("k3m9", "denied"), errors.ApprovalChanged("k3m9"), errors.NotPermitted("fox"),
    errors.TooDeep(3), errors.AgentUnavailable("fox"), errors.AskFailed("fox", "it broke."),
    errors.AskTimedOut("fox", 120), errors.TraceStopped("m"), errors.HubStopping(), RookeryError("No."),
]  # fmt: skip


def test_every_code_has_a_sample_here() -> None:
    assert {sample.code for sample in SAMPLES} == set(ERRORS)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.code)
def test_a_client_raises_what_the_hub_refused_with(sample: RookeryError) -> None:
    wire = msgspec.json.decode(msgspec.json.encode(error_response(sample)), type=ErrorResponse)
    raised = error_from(wire.error)
    assert type(raised) is type(sample)
    assert (raised.code, raised.message, raised.data, str(raised)) == (
        sample.code,
        sample.message,
        sample.data,
        sample.message,
    )
    assert translate(raised) == translate(sample)


@pytest.mark.parametrize("error", [errors.RateLimited(1234, "fox"), errors.Overloaded("writes", 1234)])
def test_the_wait_survives_the_journey(error: Any) -> None:
    raised: Any = error_from(error_response(error).error)
    assert raised.retry_after_ms == 1234


def test_a_code_of_a_newer_hub_is_an_error_all_the_same() -> None:
    raised = error_from(ErrorBody("from_the_future", "Something new.", {"a": 1}))
    assert type(raised) is RookeryError
    assert (raised.message, raised.data) == ("Something new.", {"a": 1})
