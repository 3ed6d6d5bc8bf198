"""Everything that can be refused, each with a code, its data and a sentence that names the way out.

A code is a contract: `rookery.wire.errors` maps every one of them to HTTP, WebSocket and an exit status.
"""

from collections.abc import Sequence
from typing import ClassVar


class RookeryError(Exception):
    """Base of every refusal. `data` holds what a program needs to react; the message is for people."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, **data: object) -> None:
        super().__init__(message)
        self.message = message
        self.data: dict[str, object] = data


class InvalidRequest(RookeryError):
    code = "invalid_request"


class NameRefused(RookeryError):
    code = "name_refused"


class Unauthorized(RookeryError):
    code = "unauthorized"


class Forbidden(RookeryError):
    code = "forbidden"


class SenderForged(Forbidden):
    """A principal tried to speak as somebody else."""

    code = "sender_forged"

    def __init__(self, principal: str, claimed: str) -> None:
        super().__init__(
            f"This token belongs to {principal!r} and cannot send as {claimed!r}; "
            "leave the sender out, or use that agent's own token.",
            principal=principal,
            claimed=claimed,
        )


class HostRefused(RookeryError):
    code = "host_refused"

    def __init__(self, host: str) -> None:
        super().__init__(
            f"Host {host!r} is not an address of this hub; use the address that `rook status` shows, "
            "or add it to allowed_hosts.",
            host=host,
        )


class OriginRefused(RookeryError):
    code = "origin_refused"

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"Pages from origin {origin!r} may not call this hub; only its own pages may.", origin=origin
        )


class NotFound(RookeryError):
    """Also what a caller gets for a thing that exists but is not theirs to see."""

    code = "not_found"


class AgentNotFound(NotFound):
    code = "agent_not_found"

    def __init__(self, wanted: str, available: Sequence[str] = ()) -> None:
        known = (
            f" Known agents: {', '.join(available)}."
            if available
            else " No agent is registered yet; `rook register` makes one."
        )
        super().__init__(f"No agent is called {wanted!r}.{known}", agent=wanted, available=list(available))
        self.available = available


class ChannelNotFound(NotFound):
    code = "channel_not_found"

    def __init__(self, wanted: str, available: Sequence[str] = ()) -> None:
        known = (
            f" Open channels: {', '.join(available)}."
            if available
            else " None is open; `rook channel create` makes one."
        )
        super().__init__(f"There is no channel {wanted!r}.{known}", channel=wanted, available=list(available))


class MessageNotFound(NotFound):
    code = "message_not_found"

    def __init__(self, message_id: str) -> None:
        super().__init__(
            f"No message {message_id!r} in this inbox; list the inbox to see the ids it holds.",
            message_id=message_id,
        )


class MethodNotAllowed(RookeryError):
    code = "method_not_allowed"

    def __init__(self, method: str, path: str, allowed: Sequence[str]) -> None:
        super().__init__(f"{path} does not take {method}; it takes {', '.join(allowed)}.", allowed=list(allowed))


class Conflict(RookeryError):
    code = "conflict"


class NameTaken(Conflict):
    code = "name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The name {name!r} belongs to another agent; choose another, or resume that one by its token.",
            name=name,
        )


class AlreadyClaimed(Conflict):
    code = "already_claimed"

    def __init__(self, message_id: str, claimed_by: str) -> None:
        super().__init__(
            f"Message {message_id!r} is claimed by {claimed_by!r}; pick another one, or wait until it is "
            "completed or the claim expires.",
            message_id=message_id,
            claimed_by=claimed_by,
        )


class AlreadyCompleted(Conflict):
    code = "already_completed"

    def __init__(self, message_id: str, outcome: str) -> None:
        super().__init__(
            f"Message {message_id!r} is already {outcome}; nothing is left to do on it.",
            message_id=message_id,
            outcome=outcome,
        )


class IdempotencyConflict(Conflict):
    code = "idempotency_conflict"

    def __init__(self, key: str) -> None:
        super().__init__(
            f"Idempotency key {key!r} was used for another message; use a new key for new content.", key=key
        )


class TaskNotFound(NotFound):
    code = "task_not_found"

    def __init__(self, wanted: str) -> None:
        super().__init__(f"There is no task {wanted!r} that you may see; `rook tasks` lists them.", task=wanted)


class TaskEndedAlready(Conflict):
    code = "task_ended"

    def __init__(self, task: str, status: str) -> None:
        super().__init__(f"{task} is already {status}; nothing is left to do on it.", task=task, status=status)


class ApprovalNotFound(NotFound):
    code = "approval_not_found"

    def __init__(self, wanted: str) -> None:
        super().__init__(
            f"There is no approval {wanted!r} that you may see; `rook approvals` lists them.", approval=wanted
        )


class ApprovalAnsweredAlready(Conflict):
    """The first answer counts; who comes later is told so."""

    code = "approval_answered"

    def __init__(self, approval: str, status: str) -> None:
        super().__init__(
            f"Approval {approval!r} is already {status}; an answer counts once, and nothing was done.",
            approval=approval,
            status=status,
        )


class ApprovalChanged(Conflict):
    code = "approval_changed"

    def __init__(self, approval: str) -> None:
        super().__init__(
            f"What approval {approval!r} is about is not what was shown; nothing was done. Look at it again.",
            approval=approval,
        )


class NotPermitted(Forbidden):
    """A rule of the operator's stands between two agents."""

    code = "not_permitted"

    def __init__(self, target: str) -> None:
        super().__init__(
            f"You are not permitted to contact {target}; the operator can change that (`rook allow`).",
            agent=target,
        )


class TooDeep(Conflict):
    code = "too_deep"

    def __init__(self, deepest: int) -> None:
        super().__init__(
            f"Maximum agent communication depth ({deepest}) reached. Use 'delegate' for async to avoid nesting.",
            depth=deepest,
        )


class AgentUnavailable(Conflict):
    code = "agent_unavailable"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"agent unavailable: {name} is offline. Use 'notify' to leave a message for it.", agent=name
        )


class AskFailed(RookeryError):
    """Whoever was asked could not answer."""

    code = "ask_failed"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} failed to respond: {reason}", agent=name)


class AskTimedOut(RookeryError):
    code = "ask_timed_out"

    def __init__(self, name: str, seconds: int) -> None:
        time = "1 second" if seconds == 1 else f"{seconds} seconds"
        super().__init__(
            f"{name} did not respond within {time}. Consider using 'delegate' for async processing.",
            agent=name,
            seconds=seconds,
        )


class TraceStopped(Conflict):
    code = "trace_stopped"

    def __init__(self, trace: str) -> None:
        super().__init__(
            "The operator stopped this exchange between agents; do something else, or wait until you are "
            "written to.",
            trace=trace,
        )


class TooLarge(RookeryError):
    code = "too_large"

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"{what} is larger than {limit:,} bytes; send less, or send a path.", limit=limit)


class UnsupportedMediaType(RookeryError):
    code = "unsupported_media_type"

    def __init__(self, got: str) -> None:
        super().__init__(f"Bodies are JSON: send 'Content-Type: application/json' instead of {got!r}.", got=got)


class RateLimited(RookeryError):
    """A program's own limit, or the back-off of a pair of agents. `retry_after_ms` is exact."""

    code = "rate_limited"

    def __init__(self, retry_after_ms: int, what: str) -> None:
        super().__init__(
            f"Too many messages from {what}; try again in {retry_after_ms} ms.", retry_after_ms=retry_after_ms
        )
        self.retry_after_ms = retry_after_ms


class Overloaded(RookeryError):
    """More is waiting than the hub holds in memory. Nothing was stored."""

    code = "overloaded"

    def __init__(self, what: str, retry_after_ms: int = 1000) -> None:
        super().__init__(
            f"The hub has too many {what} just now and took nothing; try again in {retry_after_ms} ms.",
            retry_after_ms=retry_after_ms,
        )
        self.retry_after_ms = retry_after_ms


class StorageFull(RookeryError):
    code = "storage_full"

    def __init__(self, where: str) -> None:
        super().__init__(
            f"The disk that holds {where} is full; nothing was stored. Free some space (`rook prune` removes "
            "finished messages) and send again.",
            where=where,
        )


class StorageUnavailable(RookeryError):
    """The data cannot be opened or written: read-only, in use, newer than this program."""

    code = "storage_unavailable"


class StorageDamaged(RookeryError):
    """What is stored is not what was written. It is reported, never served."""

    code = "storage_damaged"


class HubUnreachable(RookeryError):
    """A client found no hub to talk to."""

    code = "hub_unreachable"


class HubStopping(RookeryError):
    """A call that waits is sent away. What it waits for goes on."""

    code = "hub_stopping"

    def __init__(self) -> None:
        super().__init__("The hub is stopping; what you wait for goes on when it is back. Ask again then.")
