"""The table of routes: what the REST surface serves, what `/openapi.json` says and what the client calls."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from rookery.wire import contact as told
from rookery.wire import requests as ask
from rookery.wire import responses as answer

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Tag = Literal["agents", "messages", "contact", "channels", "tasks", "approvals", "journal", "by name", "hub"]

_ALWAYS = ("invalid_request", "host_refused", "origin_refused", "overloaded", "internal")
_GUARDED = ("unauthorized", "rate_limited", "sender_forged", "agent_not_found", "storage_damaged")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """`body` None means that none is read. `optional_body`: may be left out, and is then all defaults.

    `open` routes need no token. `keyed` ones take an Idempotency-Key. `media` other than JSON means that
    `response` is not a JSON shape.
    """

    name: str
    method: Method
    path: str
    summary: str
    tag: Tag
    response: type[Any]
    body: type[Any] | None = None
    optional_body: bool = False
    query: type[Any] = ask.NoQuery
    errors: tuple[str, ...] = ()
    open: bool = False
    keyed: bool = False
    media: str = "application/json"

    def error_codes(self) -> tuple[str, ...]:
        body_errors = ("too_large", "unsupported_media_type") if self.body is not None else ()
        return (*_ALWAYS, *(() if self.open else _GUARDED), *body_errors, *self.errors)


_STORES = ("storage_full", "storage_unavailable")
_AGENT = ("agent_not_found",)
_CHANNEL = ("channel_not_found",)
_TASK = ("task_not_found",)
_MESSAGE = ("agent_not_found", "message_not_found")

_UPDATE = Route(
    name="update_agent", method="PATCH", path="/v1/agents/{agent}", tag="agents",
    summary="Rename or update an agent", body=ask.UpdateRequest, response=answer.AgentResponse,
    errors=("name_taken", "name_refused", "forbidden", *_AGENT, *_STORES),
)  # fmt: skip

ROUTES: tuple[Route, ...] = (
    # -- agents ------------------------------------------------------------------------------------------
    Route(
        name="register_agent", method="POST", path="/v1/agents/register", tag="agents",
        summary="Register an agent, or resume the one whose token is sent",
        body=ask.RegisterRequest, response=answer.RegisterResponse,
        errors=("name_taken", "name_refused", "forbidden", *_AGENT, *_STORES),
    ),
    Route(
        name="list_agents", method="GET", path="/v1/agents", tag="agents",
        summary="The agents that live here", response=answer.AgentsResponse,
    ),
    Route(
        name="get_agent", method="GET", path="/v1/agents/{agent}", tag="agents",
        summary="One agent, by id or name", response=answer.AgentResponse, errors=_AGENT,
    ),
    _UPDATE,
    replace(_UPDATE, name="put_agent", method="PUT"),
    Route(
        name="delete_agent", method="DELETE", path="/v1/agents/{agent}", tag="agents",
        summary="Delete an agent; its id stays taken and its messages stay", response=answer.DeletedResponse,
        errors=("forbidden", *_AGENT, *_STORES),
    ),
    # -- messages ----------------------------------------------------------------------------------------
    Route(
        name="send_message", method="POST", path="/v1/agents/messages/send", tag="messages",
        summary="Send to one agent, to a '#channel', or to all with to_agent_id 'broadcast'",
        body=ask.SendRequest, response=answer.SendResponse,
        errors=(
            "idempotency_conflict", "conflict", "forbidden", "not_permitted", "trace_stopped", *_CHANNEL,
            *_MESSAGE, *_STORES,
        ),
        keyed=True,
    ),
    Route(
        name="queue_stats", method="GET", path="/v1/agents/messages/stats/queue", tag="messages",
        summary="Counts over all inboxes", response=answer.QueueStatsResponse,
    ),
    Route(
        name="test_broadcast", method="POST", path="/v1/agents/messages/test/broadcast", tag="messages",
        summary="Send a test message to every agent", query=ask.TestBroadcastQuery,
        response=answer.TestBroadcastResponse, errors=("not_permitted", "trace_stopped", *_STORES),
    ),
    Route(
        name="list_inbox", method="GET", path="/v1/agents/messages/{agent}", tag="messages",
        summary="The messages of an inbox, oldest first; marks them read unless told otherwise",
        query=ask.InboxQuery, response=answer.InboxResponse, errors=("not_found", *_MESSAGE, *_STORES),
    ),
    Route(
        name="clear_inbox", method="DELETE", path="/v1/agents/messages/{agent}", tag="messages",
        summary="Take messages out of an inbox, all of them unless some are named",
        query=ask.ClearQuery, response=answer.ClearedResponse, errors=("not_found", *_AGENT, *_STORES),
    ),
    Route(
        name="unread_count", method="GET", path="/v1/agents/messages/{agent}/unread", tag="messages",
        summary="How many messages are unread", response=answer.UnreadResponse, errors=("not_found", *_AGENT),
    ),
    Route(
        name="inbox_stats", method="GET", path="/v1/agents/messages/{agent}/stats", tag="messages",
        summary="How many messages lie in each folder", response=answer.InboxStatsResponse,
        errors=("not_found", *_AGENT),
    ),
    Route(
        name="claim_next", method="POST", path="/v1/agents/messages/{agent}/claim", tag="messages",
        summary="Claim a message: the one named, else the most urgent and oldest open one",
        body=ask.ClaimRequest, optional_body=True, response=answer.ClaimResponse,
        errors=("already_claimed", "already_completed", "not_found", *_MESSAGE, *_STORES),
    ),
    Route(
        name="mark_read", method="POST", path="/v1/agents/messages/{agent}/read", tag="messages",
        summary="Mark messages read", body=ask.MarkReadRequest, response=answer.MarkedResponse,
        errors=("not_found", *_MESSAGE, *_STORES),
    ),
    Route(
        name="read_message", method="GET", path="/v1/agents/messages/{agent}/{message_id}", tag="messages",
        summary="One message of an inbox; its owner's reading it marks it read",
        response=answer.ItemResponse, errors=("not_found", *_MESSAGE, *_STORES),
    ),
    Route(
        name="claim_message", method="POST", path="/v1/agents/messages/{agent}/{message_id}/claim",
        tag="messages", summary="Claim this message; exactly one caller wins", response=answer.ItemResponse,
        errors=("already_claimed", "already_completed", "not_found", *_MESSAGE, *_STORES),
    ),
    Route(
        name="complete_message", method="POST", path="/v1/agents/messages/{agent}/{message_id}/complete",
        tag="messages", summary="Finish a message as done or dead", body=ask.CompleteRequest,
        optional_body=True, response=answer.ItemResponse,
        errors=("already_claimed", "already_completed", "not_found", *_MESSAGE, *_STORES),
    ),
    Route(
        name="get_message", method="GET", path="/v1/messages/{message_id}", tag="messages",
        summary="A message that the caller sent or received, with its receipts",
        response=answer.MessageResponse, errors=("message_not_found",),
    ),
    Route(
        name="get_thread", method="GET", path="/v1/messages/{message_id}/thread", tag="messages",
        summary="The thread that a message belongs to, oldest first", response=answer.ThreadResponse,
        errors=("message_not_found",),
    ),
    Route(
        name="search", method="GET", path="/v1/search", tag="messages",
        summary="Messages that hold these words, best match first", query=ask.SearchQuery,
        response=answer.SearchResponse, errors=("not_found", *_AGENT),
    ),
    # -- agents again: `messages` stands where a name could, so what it begins has to come first ----------
    Route(
        name="heartbeat", method="POST", path="/v1/agents/{agent}/heartbeat", tag="agents",
        summary="A sign of life: keeps the agent online and its claims alive",
        body=ask.HeartbeatRequest, optional_body=True, response=answer.HeartbeatResponse,
        errors=("forbidden", *_AGENT, *_STORES),
    ),
    Route(
        name="new_token", method="POST", path="/v1/agents/{agent}/token", tag="agents",
        summary="End the agent's tokens and give it a new one (operator)", response=answer.TokenResponse,
        errors=("forbidden", *_AGENT, *_STORES),
    ),
    Route(
        name="revoke_tokens", method="DELETE", path="/v1/agents/{agent}/token", tag="agents",
        summary="End the agent's tokens (operator)", response=answer.RevokedResponse,
        errors=("forbidden", *_AGENT, *_STORES),
    ),
    # -- channels ----------------------------------------------------------------------------------------
    Route(
        name="create_channel", method="POST", path="/v1/channels", tag="channels",
        summary="Create a channel; an agent that does is its first member", body=ask.ChannelRequest,
        response=answer.ChannelResponse, errors=("name_refused", "conflict", *_STORES),
    ),
    Route(
        name="list_channels", method="GET", path="/v1/channels", tag="channels",
        summary="All channels, archived ones too", response=answer.ChannelsResponse,
    ),
    Route(
        name="get_channel", method="GET", path="/v1/channels/{channel}", tag="channels",
        summary="One channel and who is in it", response=answer.ChannelResponse, errors=_CHANNEL,
    ),
    Route(
        name="channel_history", method="GET", path="/v1/channels/{channel}/messages", tag="channels",
        summary="What was said there, for members: the newest page, oldest first", query=ask.HistoryQuery,
        response=answer.HistoryResponse, errors=("forbidden", *_CHANNEL),
    ),
    Route(
        name="join_channel", method="POST", path="/v1/channels/{channel}/join", tag="channels",
        summary="Join a channel, or bring an agent into one's own", body=ask.MemberRequest, optional_body=True,
        response=answer.ChannelResponse, errors=("forbidden", "conflict", *_CHANNEL, *_STORES),
    ),
    Route(
        name="leave_channel", method="POST", path="/v1/channels/{channel}/leave", tag="channels",
        summary="Leave a channel; the operator may send any agent away", body=ask.MemberRequest,
        optional_body=True, response=answer.ChannelResponse, errors=("forbidden", *_CHANNEL, *_STORES),
    ),
    Route(
        name="archive_channel", method="POST", path="/v1/channels/{channel}/archive", tag="channels",
        summary="End a channel; it can still be read", response=answer.ChannelResponse,
        errors=("forbidden", *_CHANNEL, *_STORES),
    ),
    # -- contact -----------------------------------------------------------------------------------------
    Route(
        name="contact", method="POST", path="/v1/contact", tag="contact",
        summary="Ask an agent and wait for its answer, hand work over to it, or let it know",
        body=ask.ContactRequest, response=told.ContactResponse, keyed=True,
        errors=(
            "agent_unavailable", "not_permitted", "too_deep", "ask_failed", "ask_timed_out", "trace_stopped",
            "idempotency_conflict", "conflict", "hub_stopping", *_AGENT, *_STORES,
        ),
    ),
    Route(
        name="list_asks", method="GET", path="/v1/asks", tag="contact",
        summary="The questions that wait for an answer", response=told.AsksResponse,
    ),
    Route(
        name="conversation", method="GET", path="/v1/conversations/{agent}/messages", tag="contact",
        summary="What was said between the caller and an agent: the newest page, oldest first",
        query=ask.ConversationQuery, response=told.ConversationResponse, errors=("forbidden", *_AGENT),
    ),
    Route(
        name="sleep", method="POST", path="/v1/agents/{agent}/sleep", tag="agents",
        summary="Put an agent to sleep: work that is handed over waits, a question wakes it",
        body=ask.SleepRequest, response=answer.AgentResponse, errors=("forbidden", *_AGENT, *_STORES),
    ),
    Route(
        name="wake", method="POST", path="/v1/agents/{agent}/wake", tag="agents", summary="Wake an agent",
        response=answer.AgentResponse, errors=("forbidden", *_AGENT, *_STORES),
    ),
    # -- tasks -------------------------------------------------------------------------------------------
    Route(
        name="list_tasks", method="GET", path="/v1/tasks", tag="tasks",
        summary="The newest tasks, in order of creation", query=ask.TasksQuery, response=told.TasksResponse,
        errors=("forbidden", *_AGENT),
    ),
    Route(
        name="get_task", method="GET", path="/v1/tasks/{task}", tag="tasks", summary="A task and its parts",
        response=told.TaskTreeResponse, errors=_TASK,
    ),
    Route(
        name="complete_task", method="POST", path="/v1/tasks/{task}/complete", tag="tasks",
        summary="Finish a task as completed or failed; its requester gets the result, once",
        body=ask.CompleteTaskRequest, optional_body=True, response=told.TaskResponse,
        errors=("task_ended", "forbidden", *_TASK, *_STORES),
    ),
    Route(
        name="cancel_task", method="POST", path="/v1/tasks/{task}/cancel", tag="tasks",
        summary="Take a task back, with its open parts", body=ask.CancelTaskRequest, optional_body=True,
        response=told.TaskResponse, errors=("task_ended", "forbidden", *_TASK, *_STORES),
    ),
    # -- permissions and approvals -----------------------------------------------------------------------
    Route(
        name="list_rules", method="GET", path="/v1/permissions", tag="approvals",
        summary="Who may contact whom: the rules there are", query=ask.RulesQuery,
        response=told.RulesResponse, errors=_AGENT,
    ),
    Route(
        name="set_rule", method="PUT", path="/v1/permissions", tag="approvals",
        summary="Say whether an agent may contact another, or '*' (operator)", body=ask.RuleRequest,
        response=told.RuleResponse, errors=("forbidden", *_AGENT, *_STORES),
    ),
    Route(
        name="remove_rule", method="DELETE", path="/v1/permissions", tag="approvals",
        summary="Take a rule away (operator)", query=ask.RuleQuery, response=told.RemovedResponse,
        errors=("forbidden", *_AGENT, *_STORES),
    ),
    Route(
        name="list_approvals", method="GET", path="/v1/approvals", tag="approvals",
        summary="What waits for the operator; with `all`, what was answered too", query=ask.ApprovalsQuery,
        response=told.ApprovalsResponse,
    ),
    Route(
        name="get_approval", method="GET", path="/v1/approvals/{approval}", tag="approvals",
        summary="One approval", response=told.ApprovalResponse, errors=("approval_not_found",),
    ),
    Route(
        name="answer_approval", method="POST", path="/v1/approvals/{approval}", tag="approvals",
        summary="Approve or deny (operator); the first answer counts, and is carried out at once",
        body=ask.AnswerRequest, response=told.AnsweredResponse,
        errors=("approval_not_found", "approval_answered", "approval_changed", "forbidden", *_STORES),
    ),
    # -- the journal -------------------------------------------------------------------------------------
    Route(
        name="events", method="GET", path="/v1/events", tag="journal",
        summary="The journal from a position on; `wait` holds the answer for the first new entry",
        query=ask.EventsQuery, response=answer.EventsResponse,
    ),
    # -- by name -----------------------------------------------------------------------------------------
    Route(
        name="named_agents", method="GET", path="/api/agents", tag="by name",
        summary="Names, status and project of all agents", response=answer.NamedAgentsResponse,
    ),
    Route(
        name="named_broadcast", method="POST", path="/api/agents/broadcast", tag="by name",
        summary="A message to all other agents, each paced on its own", body=ask.NamedMessageRequest,
        response=answer.NamedBroadcastResponse,
        errors=("idempotency_conflict", "not_permitted", "trace_stopped", *_STORES), keyed=True,
    ),
    Route(
        name="named_send", method="POST", path="/api/agents/{agent}/messages", tag="by name",
        summary="A message to one agent, under the back-off of the pair", body=ask.NamedMessageRequest,
        response=answer.NamedSendResponse,
        errors=(
            "idempotency_conflict", "conflict", "forbidden", "not_permitted", "trace_stopped", *_CHANNEL, *_STORES,
        ),
        keyed=True,
    ),
    Route(
        name="named_update", method="PUT", path="/api/agents/{agent}", tag="by name",
        summary="Rename an agent or set its project", body=ask.NamedUpdateRequest,
        response=answer.NamedUpdateResponse,
        errors=("name_taken", "name_refused", "forbidden", *_AGENT, *_STORES),
    ),
    # -- the hub -----------------------------------------------------------------------------------------
    Route(
        name="status", method="GET", path="/v1/status", tag="hub", summary="What this hub is and holds",
        response=answer.StatusResponse,
    ),
    Route(
        name="prune", method="POST", path="/v1/prune", tag="hub",
        summary="Remove finished and cleared messages for good (operator)", body=ask.PruneRequest,
        response=answer.PrunedResponse, errors=("forbidden", *_STORES),
    ),
    Route(
        name="export", method="GET", path="/v1/export", tag="hub",
        summary="All data as JSON lines (operator)", response=str, media="application/x-ndjson",
        errors=("forbidden",),
    ),
    Route(
        name="healthz", method="GET", path="/healthz", tag="hub", summary="Whether the hub takes messages",
        response=answer.HealthResponse, errors=("storage_full", "storage_unavailable"), open=True,
    ),
    Route(
        name="metrics", method="GET", path="/metrics", tag="hub", summary="Counters in Prometheus text",
        response=str, media="text/plain; version=0.0.4; charset=utf-8",
    ),
    Route(
        name="openapi", method="GET", path="/openapi.json", tag="hub", summary="This document",
        response=dict[str, Any], open=True,
    ),
    Route(
        name="docs", method="GET", path="/docs", tag="hub", summary="This document, to read",
        response=str, media="text/html; charset=utf-8", open=True,
    ),
    Route(
        name="front", method="GET", path="/", tag="hub", summary="Where to go from here",
        response=str, media="text/html; charset=utf-8", open=True,
    ),
)  # fmt: skip

BY_NAME: dict[str, Route] = {route.name: route for route in ROUTES}
