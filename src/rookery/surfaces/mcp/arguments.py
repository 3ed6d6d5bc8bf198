"""What the tools take. Descriptions are read by every agent on every turn, so they are short."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from rookery.domain.deliveries import Folder, Outcome

Text = Annotated[str, Meta(min_length=1)]
InboxAction = Literal["list", "read", "claim", "complete", "mark_read", "stats", "search", "send"]


class Arguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    pass


class NoArguments(Arguments):
    pass


class SendArguments(Arguments):
    target: Annotated[Text, Meta(description="Name of the agent, or 'operator'.")]
    message: Text


class BroadcastArguments(Arguments):
    message: Text


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
    to: Annotated[str, Meta(description="For send.")] | None = None
    content: Annotated[str, Meta(description="For send.")] | None = None
    reply_to: Annotated[str, Meta(description="Message id, for send.")] | None = None
