"""What callers may say. Field names are the protocol; unknown ones are refused, so that a typo is heard."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from rookery.domain.agents import Kind, Mode, Role, Status
from rookery.domain.approvals import Decision
from rookery.domain.contact import Action
from rookery.domain.deliveries import Folder, Outcome
from rookery.domain.messages import Priority
from rookery.domain.permissions import Permission

TaskEnd = Literal["completed", "failed"]
PLAIN_TEXT = {"pattern": "^[^\\u0000]*$"}
"""What `strict_json` sees to, in the words of the schema."""

Reference = Annotated[str, Meta(min_length=1, max_length=128, extra_json_schema=PLAIN_TEXT)]
"""An agent's id or name."""
Name = Annotated[
    str,
    # Which names may be had is the domain's to judge: it has better words for its refusals.
    Meta(extra_json_schema={"minLength": 1, "maxLength": 64, "pattern": "^[._-]*[A-Za-z0-9][A-Za-z0-9._-]*$"}),
]
"""A name that an agent is to have."""
ChannelName = Annotated[
    str,
    Meta(extra_json_schema={"minLength": 1, "maxLength": 65, "pattern": "^#?[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}),
]
"""The name that a channel is to have, with or without its `#`."""
MessageId = Annotated[str, Meta(min_length=1, max_length=64, extra_json_schema=PLAIN_TEXT)]
Text = Annotated[str, Meta(min_length=1, extra_json_schema=PLAIN_TEXT)]
Words = Annotated[str, Meta(extra_json_schema=PLAIN_TEXT)]
Short = Annotated[str, Meta(max_length=1024, extra_json_schema=PLAIN_TEXT)]
Limit = Annotated[int, Meta(ge=1, le=1000)]
Position = Annotated[int, Meta(ge=0, le=2**62)]


class Request(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    pass


class RegisterRequest(Request):
    name: Name | None = None
    model_name: Short | None = None
    role: Role | None = None
    kind: Kind | None = None
    project: Short | None = None
    manager: Reference | None = None
    mode: Mode | None = None


class UpdateRequest(Request):
    """Leave a field out to keep it; null, or an empty text, takes project, model_name or manager away."""

    name: Name | None = None
    project: Short | UnsetType | None = UNSET
    model_name: Short | UnsetType | None = UNSET
    manager: Annotated[str, Meta(max_length=128, extra_json_schema=PLAIN_TEXT)] | UnsetType | None = UNSET
    status: Status | None = None
    role: Role | None = None
    kind: Kind | None = None
    mode: Mode | None = None


class HeartbeatRequest(Request):
    status: Status | None = None


class SendRequest(Request):
    to_agent_id: Reference
    content: Text
    from_agent_id: Reference | None = None
    metadata: dict[str, Any] | None = None
    reply_to: MessageId | None = None
    priority: Priority | None = None
    ttl_seconds: Annotated[float, Meta(gt=0, le=10 * 365 * 86400)] | None = None
    idempotency_key: Annotated[str, Meta(min_length=1, max_length=200, extra_json_schema=PLAIN_TEXT)] | None = None


class ClaimRequest(Request):
    message_id: MessageId | None = None


class CompleteRequest(Request):
    status: Outcome = "done"
    result: Words | None = None
    error: Words | None = None
    note: Words | None = None


class MarkReadRequest(Request):
    message_ids: Annotated[list[MessageId], Meta(min_length=1, max_length=1000)]


class PruneRequest(Request):
    older_than_seconds: Annotated[float, Meta(ge=0, le=100 * 365 * 86400)]
    folders: list[Folder] = msgspec.field(default_factory=lambda: ["done", "dead"])


class NamedMessageRequest(Request):
    """For callers that know agents by name only."""

    message: Text
    sender: Reference | None = None


class NamedUpdateRequest(Request):
    name: Name | None = None
    project: Short | None = None


class InboxQuery(Request):
    unread_only: bool = True
    mark_read: bool = True
    limit: Limit = 100
    folder: Folder | None = None
    after: MessageId | None = None
    latest: bool = False


class ClearQuery(Request):
    message_ids: list[Words] | None = None


class TestBroadcastQuery(Request):
    message: Text = "Test broadcast from gateway"


class SearchQuery(Request):
    q: Text
    agent: Reference | None = None
    limit: Limit = 50


class ChannelRequest(Request):
    name: ChannelName
    topic: Short | None = None
    members: Annotated[list[Reference], Meta(max_length=1000)] | None = None


class MemberRequest(Request):
    """`agent_id` is the agent that is meant, when it is not the caller."""

    agent_id: Reference | None = None


class HistoryQuery(Request):
    """`before` is the `seq` of a message: the page holds what was said before it."""

    before: Position | None = None
    limit: Limit = 50


class ContactRequest(Request):
    """`timeout_seconds` is for an ask. `task` is the caller's own task that a delegation is part of, when it is
    not the one it works on."""

    action: Action
    agent: Reference
    message: Text
    context: Words | None = None
    priority: Priority = "normal"
    from_agent_id: Reference | None = None
    timeout_seconds: Annotated[float, Meta(gt=0, le=86400)] | None = None
    task: Reference | None = None


class ConversationQuery(Request):
    """`agent` is whose conversation it is, for the operator; it is the operator's own otherwise."""

    agent: Reference | None = None
    before: Position | None = None
    limit: Limit = 20


class TasksQuery(Request):
    agent: Reference | None = None
    open_only: bool = False
    limit: Limit = 200


class CompleteTaskRequest(Request):
    status: TaskEnd = "completed"
    result: Words | None = None
    error: Words | None = None


class CancelTaskRequest(Request):
    reason: Words | None = None


class RuleRequest(Request):
    """What `agent` may do to `target`, an agent or `*`."""

    agent: Reference
    target: Reference
    permission: Permission
    requires_approval: bool = False


class RulesQuery(Request):
    agent: Reference | None = None


class RuleQuery(Request):
    agent: Reference
    target: Reference


class ApprovalsQuery(Request):
    all: bool = False
    limit: Limit = 100


class AnswerRequest(Request):
    """`digest` is that of the approval as it was shown; with it, the answer is to nothing else."""

    decision: Decision
    digest: Annotated[str, Meta(min_length=1, max_length=64, extra_json_schema=PLAIN_TEXT)] | None = None
    note: Words | None = None


class SleepRequest(Request):
    seconds: Annotated[float, Meta(gt=0, le=365 * 86400)]


class EventsQuery(Request):
    after: Position = 0
    limit: Limit = 100
    wait: Annotated[float, Meta(ge=0, le=60)] = 0.0


class SocketQuery(Request):
    """`agent` is for the operator: the stream as that agent sees it."""

    after: Position | None = None
    agent: Reference | None = None


class NoQuery(Request):
    pass
