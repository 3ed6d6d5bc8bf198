"""What the tools take. Descriptions are read by every agent on every turn, so they are short."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from rookery.domain.contact import Action
from rookery.domain.deliveries import Folder, Outcome
from rookery.domain.messages import Priority
from rookery.wire.requests import TaskEnd

Text = Annotated[str, Meta(min_length=1)]
InboxAction = Literal["list", "read", "claim", "complete", "mark_read", "stats", "search", "send", "history"]


class Arguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    pass


class NoArguments(Arguments):
    pass


class SendArguments(Arguments):
    target: Annotated[Text, Meta(description="Name of the agent, or 'operator'.")]
    message: Text
    reply_to: Annotated[str, Meta(description="Id of the message that it answers.")] | None = None


class BroadcastArguments(Arguments):
    message: Text


class ContactArguments(Arguments):
    action: Annotated[
        Action,
        Meta(description="ask waits for the answer, delegate hands work over, notify informs."),
    ]
    agent: Annotated[Text, Meta(description="Name of the agent, or 'operator'.")]
    message: Text
    context: Annotated[str, Meta(description="It does not see your conversation.")] | None = None
    priority: Annotated[Priority, Meta(description="For delegate.")] = "normal"
    task: Annotated[str, Meta(description="Your task that this is part of.")] | None = None


class CompleteTaskArguments(Arguments):
    task_id: Annotated[str, Meta(description="For example task-7; your one open task if left out.")] | None = None
    result: Annotated[str, Meta(description="What came of it, for the one who asked.")] | None = None
    status: TaskEnd = "completed"
    error: Annotated[str, Meta(description="Why it failed.")] | None = None


class PermissionArguments(Arguments):
    tool_name: Text
    input: dict[str, Any]
    tool_use_id: str | None = None


class NameArguments(Arguments):
    name: Text


class ChannelArguments(Arguments):
    channel: Annotated[Text, Meta(description="For example #build.")]
    content: Annotated[Text, Meta(description="@name calls upon a member.")]


class InboxArguments(Arguments):
    action: InboxAction = "list"
    message_id: Annotated[str, Meta(description="For read, claim (or the next one), complete.")] | None = None
    message_ids: Annotated[list[str], Meta(description="For mark_read.")] | None = None
    unread_only: bool = True
    folder: Folder | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    status: Annotated[Outcome, Meta(description="For complete.")] = "done"
    result: str | None = None
    error: str | None = None
    note: str | None = None
    query: Annotated[str, Meta(description="Words, for search.")] | None = None
    to: Annotated[str, Meta(description="For send (left out in a reply), and history.")] | None = None
    content: Annotated[str, Meta(description="For send.")] | None = None
    reply_to: Annotated[str, Meta(description="Message id, for send.")] | None = None
