"""Handlers for channels."""

from rookery.surfaces.rest.call import Call
from rookery.wire import requests as ask
from rookery.wire import responses as answer
from rookery.wire.views import channel_view, message_view


async def create_channel(call: Call) -> answer.ChannelResponse:
    body: ask.ChannelRequest = call.body
    channel = await call.hub.channels.create(
        call.principal, body.name, topic=body.topic, members=body.members or (), creator=call.acting_as
    )
    return answer.ChannelResponse(channel=channel_view(channel))


async def list_channels(call: Call) -> answer.ChannelsResponse:
    channels = [channel_view(channel) for channel in await call.hub.channels.all()]
    return answer.ChannelsResponse(channels=channels, count=len(channels))


async def get_channel(call: Call) -> answer.ChannelResponse:
    return answer.ChannelResponse(channel=channel_view(await call.hub.channels.get(call.path["channel"])))


async def channel_history(call: Call) -> answer.HistoryResponse:
    query: ask.HistoryQuery = call.query
    channel, said = await call.hub.channels.history(
        call.principal, call.path["channel"], before=query.before, limit=query.limit
    )
    messages = [message_view(message) for message in said]
    return answer.HistoryResponse(channel=channel.address, messages=messages, count=len(messages))


async def join_channel(call: Call) -> answer.ChannelResponse:
    channel = await call.hub.channels.join(call.principal, call.path["channel"], _whom(call))
    return answer.ChannelResponse(channel=channel_view(channel))


async def leave_channel(call: Call) -> answer.ChannelResponse:
    channel = await call.hub.channels.leave(call.principal, call.path["channel"], _whom(call))
    return answer.ChannelResponse(channel=channel_view(channel))


async def archive_channel(call: Call) -> answer.ChannelResponse:
    channel = await call.hub.channels.archive(call.principal, call.path["channel"])
    return answer.ChannelResponse(channel=channel_view(channel))


def _whom(call: Call) -> str | None:
    body: ask.MemberRequest = call.body
    return body.agent_id or call.acting_as
