"""What the hub answers, made from what it knows."""

from typing import Any

import msgspec

from rookery.domain.agents import Agent
from rookery.domain.approvals import Approval
from rookery.domain.asks import Ask
from rookery.domain.channels import Channel
from rookery.domain.deliveries import Delivery
from rookery.domain.messages import Message
from rookery.domain.permissions import Rule
from rookery.domain.tasks import FOR_EVER, Task
from rookery.ports import InboxItem, InboxStats, QueueStats
from rookery.services.contact import Told
from rookery.wire.contact import ApprovalView, AskView, ContactResponse, RuleView, TaskView
from rookery.wire.responses import (
    AgentView,
    ChannelView,
    DeliveryView,
    InboxMessageView,
    InboxStatsView,
    MessageView,
    QueueStatsView,
    Receipts,
)
from rookery.wire.times import iso, iso_or_none


def agent_view(agent: Agent) -> AgentView:
    return AgentView(
        agent_id=agent.id,
        name=agent.name,
        kind=agent.kind,
        role=agent.role,
        mode=agent.mode,
        manager=agent.manager,
        project=agent.project,
        model_name=agent.model_name,
        status=agent.status,
        online=agent.online,
        sleeping_until=iso_or_none(agent.sleeping_until),
        created_at=iso(agent.created_at),
        last_active=iso(agent.last_active),
    )


def receipts(delivery: Delivery) -> Receipts:
    return Receipts(
        rung=delivery.rung,
        stored_at=iso(delivery.stored_at),
        handed_off_at=iso_or_none(delivery.handed_off_at),
        handed_off_via=delivery.handed_off_via,
        seen_at=iso_or_none(delivery.seen_at),
        seen_via=delivery.seen_via,
        completed_at=iso_or_none(delivery.completed_at),
        replied_at=iso_or_none(delivery.replied_at),
        reply_id=delivery.reply_id,
    )


def channel_view(channel: Channel) -> ChannelView:
    return ChannelView(
        channel=channel.address,
        topic=channel.topic,
        members=list(channel.members),
        created_by=channel.created_by,
        created_at=iso(channel.created_at),
        archived_at=iso_or_none(channel.archived_at),
    )


def message_view(message: Message) -> MessageView:
    return MessageView(**_fields(message))


def inbox_message_view(item: InboxItem) -> InboxMessageView:
    delivery = item.delivery
    return InboxMessageView(
        **_fields(item.message),
        read=delivery.read,
        folder=delivery.folder,
        claimed_by=delivery.claimed_by,
        claimed_at=iso_or_none(delivery.claimed_at),
        result=delivery.result,
        error=delivery.error,
        note=delivery.note,
        receipts=receipts(delivery),
    )


def _fields(message: Message) -> dict[str, Any]:
    return {
        "message_id": message.id,
        "from_agent_id": message.sender,
        "to_agent_id": message.recipient,
        "message_type": message.type,
        "content": message.content,
        "metadata": msgspec.Raw(message.metadata.encode()),
        "timestamp": iso(message.created_at),
        "reply_to": message.reply_to,
        "thread_id": message.thread,
        "conversation": message.conversation,
        "seq": message.seq,
        "priority": message.priority,
        "pattern": message.pattern,
        "expires_at": iso_or_none(message.expires_at),
        "trace_id": message.traced_to,
        "hops": message.hops,
        "task": message.task,
    }


def delivery_view(delivery: Delivery) -> DeliveryView:
    return DeliveryView(
        agent_id=delivery.recipient,
        folder=delivery.folder,
        read=delivery.read,
        claimed_by=delivery.claimed_by,
        receipts=receipts(delivery),
    )


def queue_stats_view(stats: QueueStats) -> QueueStatsView:
    return msgspec.convert(stats, QueueStatsView, from_attributes=True)


def inbox_stats_view(stats: InboxStats) -> InboxStatsView:
    return msgspec.convert(stats, InboxStatsView, from_attributes=True)


def ask_view(ask: Ask) -> AskView:
    return AskView(
        message_id=ask.message_id,
        asker=ask.asker,
        target=ask.target,
        depth=ask.depth,
        status=ask.state,
        asked_at=iso(ask.asked_at),
        deadline=iso(ask.deadline),
        answer_id=ask.answer_id,
        error=ask.error,
    )


def task_view(task: Task) -> TaskView:
    return TaskView(
        task_id=task.id,
        title=task.title,
        status=task.status,
        requester=task.requester,
        assignee=task.assignee,
        parent=task.parent,
        priority=task.priority,
        request=task.request,
        context=task.context,
        result=task.result,
        error=task.error,
        message_id=task.message_id,
        not_before=None if task.not_before == FOR_EVER else iso_or_none(task.not_before),
        created_at=iso(task.created_at),
        started_at=iso_or_none(task.started_at),
        ended_at=iso_or_none(task.ended_at),
        ended_by=task.ended_by,
    )


def rule_view(rule: Rule) -> RuleView:
    return RuleView(
        agent_id=rule.agent,
        target=rule.target,
        permission=rule.permission,
        requires_approval=rule.requires_approval,
    )


def approval_view(approval: Approval) -> ApprovalView:
    return ApprovalView(
        approval_id=approval.id,
        kind=approval.kind,
        agent_id=approval.agent,
        tool=approval.tool,
        arguments=dict(approval.arguments),
        digest=approval.digest,
        status=approval.status,
        created_at=iso(approval.created_at),
        expires_at=iso(approval.expires_at),
        answered_at=iso_or_none(approval.answered_at),
        answered_by=approval.answered_by,
        note=approval.note,
        used_at=iso_or_none(approval.used_at),
    )


def contact_response(told: Told) -> ContactResponse:
    return ContactResponse(
        status=told.status,
        text=told.text,
        agent_id=told.target,
        message_id=told.message_id,
        task=None if told.task is None else task_view(told.task),
        answer=None if told.answer is None else message_view(told.answer),
        approval=told.held,
    )
