"""What the hub answers, made from what it knows."""

from typing import Any

import msgspec

from rookery.domain.agents import Agent
from rookery.domain.channels import Channel
from rookery.domain.deliveries import Delivery
from rookery.domain.messages import Message
from rookery.ports import InboxItem, InboxStats, QueueStats
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
