"""Calls about channels. To say something there is to `send` to its address, such as `#build`."""

from collections.abc import Sequence

from rookery.client.call import call_of
from rookery.client.exchange import Session, Steps, exchange
from rookery.wire import requests as ask
from rookery.wire import responses as answer


def channels(session: Session) -> Steps[answer.ChannelsResponse]:
    """All channels, in order of creation; archived ones too."""
    return (yield from exchange(session, call_of("list_channels", answer.ChannelsResponse)))


def channel(session: Session, name: str) -> Steps[answer.ChannelResponse]:
    """One channel and who is in it."""
    call = call_of("get_channel", answer.ChannelResponse, places={"channel": _bare(name)})
    return (yield from exchange(session, call))


def create_channel(
    session: Session, name: str, *, topic: str | None = None, members: Sequence[str] = ()
) -> Steps[answer.ChannelResponse]:
    """A new channel, with these agents in it and with the agent that creates it."""
    wanted = ask.ChannelRequest(name=name, topic=topic, members=list(members))
    return (yield from exchange(session, call_of("create_channel", answer.ChannelResponse, body=wanted)))


def join_channel(session: Session, name: str, agent: str | None = None) -> Steps[answer.ChannelResponse]:
    """Join a channel, or bring another agent into one's own."""
    return (yield from _change(session, "join_channel", name, agent))


def leave_channel(session: Session, name: str, agent: str | None = None) -> Steps[answer.ChannelResponse]:
    """Leave a channel; the operator may send any agent away."""
    return (yield from _change(session, "leave_channel", name, agent))


def archive_channel(session: Session, name: str) -> Steps[answer.ChannelResponse]:
    """End a channel; its members can still read it."""
    places = {"channel": _bare(name)}
    call = call_of("archive_channel", answer.ChannelResponse, places=places, repeatable=True)
    return (yield from exchange(session, call))


def history(
    session: Session, channel: str, *, before: int | None = None, limit: int = 50
) -> Steps[answer.HistoryResponse]:
    """What was said in a channel, oldest first: the newest page, or the one before a `seq`."""
    query = {"before": before, "limit": limit}
    call = call_of("channel_history", answer.HistoryResponse, places={"channel": _bare(channel)}, query=query)
    return (yield from exchange(session, call))


def _change(session: Session, route: str, name: str, agent: str | None) -> Steps[answer.ChannelResponse]:
    member = ask.MemberRequest(agent_id=agent)
    places = {"channel": _bare(name)}
    call = call_of(route, answer.ChannelResponse, places=places, body=member, repeatable=True)
    return (yield from exchange(session, call))


def _bare(name: str) -> str:
    return name.removeprefix("#")
