"""One table from error codes to every door. A test keeps it total."""

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from rookery.domain.errors import RookeryError


@dataclass(frozen=True, slots=True)
class Translation:
    """`title` is what a model is told in a tool result; `xmpp` is the stanza error condition."""

    http: int
    close: int
    exit: int
    title: str
    xmpp: str


ERRORS: Final[dict[str, Translation]] = {
    "internal": Translation(500, 1011, 1, "Internal error", "internal-server-error"),
    "invalid_request": Translation(400, 4400, 2, "Invalid request", "bad-request"),
    "name_refused": Translation(400, 4400, 2, "Name refused", "not-acceptable"),
    "unauthorized": Translation(401, 4401, 5, "Unauthorized", "not-authorized"),
    "forbidden": Translation(403, 4403, 5, "Forbidden", "forbidden"),
    "sender_forged": Translation(403, 4403, 5, "Sender forged", "forbidden"),
    "host_refused": Translation(421, 4421, 5, "Host refused", "not-allowed"),
    "origin_refused": Translation(403, 4403, 5, "Origin refused", "not-allowed"),
    "not_found": Translation(404, 4404, 3, "Not found", "item-not-found"),
    "agent_not_found": Translation(404, 4404, 3, "Agent not found", "item-not-found"),
    "channel_not_found": Translation(404, 4404, 3, "Channel not found", "item-not-found"),
    "message_not_found": Translation(404, 4404, 3, "Message not found", "item-not-found"),
    "task_not_found": Translation(404, 4404, 3, "Task not found", "item-not-found"),
    "approval_not_found": Translation(404, 4404, 3, "Approval not found", "item-not-found"),
    "not_permitted": Translation(403, 4403, 5, "Not permitted", "forbidden"),
    "agent_unavailable": Translation(409, 4409, 6, "Agent unavailable", "recipient-unavailable"),
    "too_deep": Translation(409, 4409, 4, "Too deep", "policy-violation"),
    "ask_failed": Translation(502, 4502, 1, "No answer", "remote-server-not-found"),
    "ask_timed_out": Translation(504, 4504, 6, "No answer in time", "remote-server-timeout"),
    "trace_stopped": Translation(409, 4409, 4, "Stopped", "policy-violation"),
    "task_ended": Translation(409, 4409, 4, "Task ended", "conflict"),
    "approval_answered": Translation(409, 4409, 4, "Already answered", "conflict"),
    "approval_changed": Translation(409, 4409, 4, "Approval changed", "conflict"),
    "hub_stopping": Translation(503, 1013, 8, "Hub stopping", "service-unavailable"),
    "method_not_allowed": Translation(405, 4405, 2, "Method not allowed", "feature-not-implemented"),
    "conflict": Translation(409, 4409, 4, "Conflict", "conflict"),
    "name_taken": Translation(409, 4409, 4, "Name taken", "conflict"),
    "already_claimed": Translation(409, 4409, 4, "Already claimed", "conflict"),
    "already_completed": Translation(409, 4409, 4, "Already completed", "conflict"),
    "idempotency_conflict": Translation(409, 4409, 4, "Idempotency conflict", "conflict"),
    "too_large": Translation(413, 1009, 2, "Too large", "not-acceptable"),
    "unsupported_media_type": Translation(415, 4415, 2, "Unsupported media type", "not-acceptable"),
    "rate_limited": Translation(429, 4429, 6, "Rate limited", "policy-violation"),
    "overloaded": Translation(503, 1013, 6, "Overloaded", "resource-constraint"),
    "storage_full": Translation(507, 4507, 7, "Storage full", "resource-constraint"),
    "storage_unavailable": Translation(503, 1013, 7, "Storage unavailable", "service-unavailable"),
    "storage_damaged": Translation(500, 1011, 7, "Storage damaged", "internal-server-error"),
    "hub_unreachable": Translation(503, 1013, 8, "Hub unreachable", "remote-server-timeout"),
}

FELL_BEHIND: Final = 4008
"""Close code for a socket that did not read fast enough; the reason says where to resume."""


class ErrorBody(msgspec.Struct, frozen=True):
    code: str
    message: str
    data: dict[str, Any] = {}


class ErrorResponse(msgspec.Struct, frozen=True):
    """The shape of every refusal."""

    error: ErrorBody
    ok: bool = False


def translate(error: RookeryError) -> Translation:
    return ERRORS[error.code]


def error_response(error: RookeryError) -> ErrorResponse:
    return ErrorResponse(ErrorBody(error.code, error.message, error.data))


def error_from(body: ErrorBody) -> RookeryError:
    """The error that a client raises for what the hub answered: same code, same words, same data."""
    error = _KNOWN.get(body.code, RookeryError).__new__(_KNOWN.get(body.code, RookeryError))
    RookeryError.__init__(error, body.message, **body.data)
    if "retry_after_ms" in body.data:
        error.__dict__["retry_after_ms"] = body.data["retry_after_ms"]
    return error


def _all_errors(base: type[RookeryError]) -> list[type[RookeryError]]:
    return [base, *(sub for child in base.__subclasses__() for sub in _all_errors(child))]


_KNOWN: Final[dict[str, type[RookeryError]]] = {error.code: error for error in reversed(_all_errors(RookeryError))}
