"""What the hub answers. `ok` is true in every one of them; refusals have the shape of `ErrorResponse`."""

from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from rookery.domain.agents import Kind, Mode, Role, Status
from rookery.domain.deliveries import Folder, Rung
from rookery.domain.messages import MessageType, Pattern, Priority

JsonObject = Annotated[msgspec.Raw, msgspec.Meta(extra_json_schema={"type": "object"})]
"""JSON that was encoded before and is put in as it is."""


class Response(msgspec.Struct, kw_only=True):
    ok: bool = True


class AgentView(msgspec.Struct, kw_only=True):
    agent_id: str
    name: str
    kind: Kind
    role: Role
    mode: Mode
    manager: str | None
    project: str | None
    model_name: str | None
    status: Status
    online: bool
    sleeping_until: str | None
    created_at: str
    last_active: str


class Receipts(msgspec.Struct, kw_only=True):
    """The ladder of one delivery: each rung with its time, and how where that is known."""

    rung: Rung
    stored_at: str
    handed_off_at: str | None
    handed_off_via: str | None
    seen_at: str | None
    seen_via: str | None
    completed_at: str | None
    replied_at: str | None
    reply_id: str | None


class MessageView(msgspec.Struct, kw_only=True):
    message_id: str
    from_agent_id: str
    to_agent_id: str
    message_type: MessageType
    content: str
    metadata: JsonObject
    timestamp: str
    reply_to: str | None
    thread_id: str
    conversation: str
    seq: int
    priority: Priority
    pattern: Pattern | None
    expires_at: str | None
    trace_id: str
    hops: int
    task: str | None


class InboxMessageView(MessageView, kw_only=True):
    """A message as it lies in one inbox."""

    read: bool
    folder: Folder
    claimed_by: str | None
    claimed_at: str | None
    result: str | None
    error: str | None
    note: str | None
    receipts: Receipts


class DeliveryView(msgspec.Struct, kw_only=True):
    agent_id: str
    folder: Folder
    read: bool
    claimed_by: str | None
    receipts: Receipts


class RegisterResponse(Response):
    agent_id: str
    name: str
    role: Role
    token: str | None
    message: str


class ChannelView(msgspec.Struct, kw_only=True):
    """`channel` is the address to send to; `members` are agent ids."""

    channel: str
    topic: str | None
    members: list[str]
    created_by: str
    created_at: str
    archived_at: str | None


class ChannelResponse(Response):
    channel: ChannelView


class ChannelsResponse(Response):
    channels: list[ChannelView]
    count: int


class HistoryResponse(Response):
    """Oldest first. Go on with `before` set to the smallest `seq`, until a page is empty."""

    channel: str
    messages: list[MessageView]
    count: int


class AgentsResponse(Response):
    agents: list[AgentView]
    count: int


class AgentResponse(Response):
    agent: AgentView


class DeletedResponse(Response):
    agent_id: str
    message: str


class HeartbeatResponse(Response):
    agent_id: str
    status: Status
    last_active: str
    unread_count: int


class TokenResponse(Response):
    agent_id: str
    token: str


class RevokedResponse(Response):
    agent_id: str
    revoked: int


class SendResponse(Response):
    """`delivered`: a socket of a recipient has been given the message. `queued`: it waits in an inbox. `held`: it
    waits for this approval, and nobody has it yet."""

    message_id: str
    delivered: bool
    queued: bool
    timestamp: str
    held: str | UnsetType = UNSET


class InboxResponse(Response):
    agent_id: str
    messages: list[InboxMessageView]
    count: int
    unread_count: int


class ItemResponse(Response):
    agent_id: str
    message: InboxMessageView


class ClaimResponse(Response):
    """`message` is null when nothing is open."""

    agent_id: str
    message: InboxMessageView | None


class ClearedResponse(Response):
    agent_id: str
    cleared: int
    message: str


class MarkedResponse(Response):
    agent_id: str
    marked: int


class UnreadResponse(Response):
    agent_id: str
    unread_count: int


class QueueStatsView(msgspec.Struct, kw_only=True):
    total_sent: int
    direct_delivered: int
    queued: int
    broadcast_sent: int
    total_queued_messages: int
    total_unread_messages: int
    agents_with_messages: int


class QueueStatsResponse(Response):
    stats: QueueStatsView


class InboxStatsView(msgspec.Struct, kw_only=True):
    new: int
    cur: int
    done: int
    dead: int
    unread: int


class InboxStatsResponse(Response):
    agent_id: str
    stats: InboxStatsView


class TestBroadcastResponse(Response):
    message: str
    content: str


class SearchResponse(Response):
    messages: list[MessageView]
    count: int


class MessageResponse(Response):
    """`read_by` are the recipients that have read it."""

    message: MessageView
    read_by: list[str]
    deliveries: list[DeliveryView]


class ThreadResponse(Response):
    messages: list[MessageView]
    count: int


class EventsResponse(Response):
    """`position` is the cursor for the next call; `more` says that the journal goes on behind it."""

    events: list[JsonObject]
    position: int
    more: bool


class PrunedResponse(Response):
    pruned: int
    message: str


class HealthResponse(Response):
    status: str
    version: str


class StatusResponse(Response):
    """`approvals`: how many wait for the operator; for an agent, of its own."""

    version: str
    store: str
    data: str
    position: int
    messages: int
    bytes: int
    full: bool
    agents: int
    online: int
    sockets: int
    approvals: int
    auth: str
    started_at: str


class NamedAgent(msgspec.Struct, kw_only=True):
    name: str
    status: Status
    project: str | None


class NamedAgentsResponse(msgspec.Struct, kw_only=True):
    agents: list[NamedAgent]
    self_name: str | None = msgspec.field(name="self")


class NamedSendResponse(msgspec.Struct, kw_only=True, omit_defaults=True):
    delivered: bool
    target: str | None = None
    error: str | None = None
    available: list[str] | None = None
    retry_after_ms: int | None = None
    approval: str | None = None


class FailedRecipient(msgspec.Struct, kw_only=True, omit_defaults=True):
    name: str
    error: str
    retry_after_ms: int | None = None


class NamedBroadcastResponse(msgspec.Struct, kw_only=True, omit_defaults=True):
    delivered_to: list[str]
    failed: list[FailedRecipient]
    error: str | None = None
    approval: str | None = None


class NamedUpdateResponse(msgspec.Struct, kw_only=True):
    success: bool
    previous_name: str
    new_name: str
