"""What the hub answers about contact between agents: asks, tasks, rules and approvals."""

import msgspec

from rookery.domain.approvals import ApprovalKind, ApprovalStatus
from rookery.domain.asks import AskState
from rookery.domain.messages import Priority
from rookery.domain.permissions import Permission
from rookery.domain.tasks import TaskStatus
from rookery.services.contact import Status
from rookery.wire.responses import MessageView, Response


class AskView(msgspec.Struct, kw_only=True):
    """`message_id` is the question; who replies to it answers."""

    message_id: str
    asker: str
    target: str
    depth: int
    status: AskState
    asked_at: str
    deadline: str
    answer_id: str | None
    error: str | None


class AsksResponse(Response):
    asks: list[AskView]
    count: int


class ConversationResponse(Response):
    """Between two parties, oldest first."""

    conversation: str
    messages: list[MessageView]
    count: int


class TaskView(msgspec.Struct, kw_only=True):
    task_id: str
    title: str
    status: TaskStatus
    requester: str
    assignee: str
    parent: str | None
    priority: Priority
    request: str
    context: str | None
    result: str | None
    error: str | None
    message_id: str | None
    not_before: str | None
    created_at: str
    started_at: str | None
    ended_at: str | None
    ended_by: str | None


class TaskResponse(Response):
    task: TaskView


class TaskTreeResponse(Response):
    """A task and its parts."""

    task: TaskView
    children: list[TaskView]


class TasksResponse(Response):
    """In order of creation; `parent` makes a tree of them."""

    tasks: list[TaskView]
    count: int


class ContactResponse(Response):
    """`text` is what a model is told. `answer` is the message that answered an ask, `approval` the one that the
    call waits for."""

    status: Status
    text: str
    agent_id: str
    message_id: str | None
    task: TaskView | None
    answer: MessageView | None
    approval: str | None


class RuleView(msgspec.Struct, kw_only=True):
    agent_id: str
    target: str
    permission: Permission
    requires_approval: bool


class RuleResponse(Response):
    rule: RuleView


class RulesResponse(Response):
    rules: list[RuleView]
    count: int


class RemovedResponse(Response):
    removed: bool


class ApprovalView(msgspec.Struct, kw_only=True):
    """`arguments` are what is to be judged; `digest` covers them, the tool, the agent and what waits."""

    approval_id: str
    kind: ApprovalKind
    agent_id: str
    tool: str
    arguments: dict[str, str]
    digest: str
    status: ApprovalStatus
    created_at: str
    expires_at: str
    answered_at: str | None
    answered_by: str | None
    note: str | None
    used_at: str | None


class ApprovalResponse(Response):
    approval: ApprovalView


class ApprovalsResponse(Response):
    approvals: list[ApprovalView]
    count: int


class AnsweredResponse(Response):
    """`message` says what came of it."""

    approval: ApprovalView
    message: str
