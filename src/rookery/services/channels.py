"""Channels: who is in them, and what was said there. To say something is to send to `#name`."""

from collections.abc import Sequence

from rookery.domain.channels import Channel, channel_name, checked_channel_name
from rookery.domain.errors import ChannelNotFound, Conflict, Forbidden, InvalidRequest
from rookery.domain.events import (
    EVERYONE,
    ChannelArchived,
    ChannelCreated,
    ChannelJoined,
    ChannelLeft,
)
from rookery.domain.ids import OPERATOR
from rookery.domain.messages import Message
from rookery.domain.names import same_name
from rookery.domain.principals import Principal
from rookery.ports import Clock, Store, Transaction
from rookery.services.access import agent_named, own_or_operated, speaker


class Channels:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    # -- looking -------------------------------------------------------------------------------------

    async def all(self) -> Sequence[Channel]:
        """Everybody may know which channels there are, archived ones too, and who is in them."""
        return await self._store.read(lambda tx: tx.channels.all())

    async def get(self, name: str) -> Channel:
        return await self._store.read(lambda tx: channel_named(tx, name))

    async def history(
        self, by: Principal, name: str, *, before: int | None = None, limit: int = 50
    ) -> tuple[Channel, Sequence[Message]]:
        """The newest messages below a number, oldest first. For members and the operator."""

        def look(tx: Transaction) -> tuple[Channel, Sequence[Message]]:
            channel = channel_named(tx, name)
            require_member(channel, by.id)
            return channel, tx.messages.history(channel.conversation, before=before, limit=limit)

        return await self._store.read(look)

    # -- changing ------------------------------------------------------------------------------------

    async def create(
        self,
        by: Principal,
        name: str,
        *,
        topic: str | None = None,
        members: Sequence[str] = (),
        creator: str | None = None,
    ) -> Channel:
        """An agent that creates a channel is its first member. Raises Conflict when there is one of that name."""

        def work(tx: Transaction) -> Channel:
            checked = checked_channel_name(name)
            earlier = tx.channels.get(checked)
            if earlier is not None:
                state = "archived, and its name stays taken" if earlier.archived_at else "there already; join it"
                raise Conflict(f"{earlier.address} is {state}.", channel=checked)
            now = self._clock.now()
            founder = speaker(tx, by, creator)
            first = () if founder == OPERATOR else (founder,)
            invited = (agent_named(tx, member).id for member in members)
            channel = Channel(
                name=checked,
                topic=topic,
                members=tuple(dict.fromkeys((*first, *invited))),
                created_by=founder,
                created_at=now,
            )
            tx.channels.put(channel)
            tx.journal.record(ChannelCreated(channel=channel), at=now, by=by, audience=EVERYONE)
            return channel

        return await self._store.write(work)

    async def join(self, by: Principal, name: str, agent: str | None = None) -> Channel:
        """Agents join by themselves; whoever is in a channel, and the operator, may bring others. Joining again
        changes nothing."""

        def work(tx: Transaction) -> Channel:
            channel = channel_named(tx, name)
            member = _whom(tx, by, agent)
            if member != by.id:
                require_member(channel, by.id)
            after = channel.joined(member)
            return self._changed(tx, by, channel, after, ChannelJoined(channel=channel.name, member=member))

        return await self._store.write(work)

    async def leave(self, by: Principal, name: str, agent: str | None = None) -> Channel:
        """Agents leave by themselves; the operator may send any away. Leaving again changes nothing."""

        def work(tx: Transaction) -> Channel:
            channel = channel_named(tx, name)
            member = _whom(tx, by, agent)
            own_or_operated(tx, by, member, "take it out of a channel")
            after = channel.left(member)
            return self._changed(tx, by, channel, after, ChannelLeft(channel=channel.name, member=member))

        return await self._store.write(work)

    async def archive(self, by: Principal, name: str) -> Channel:
        """Nobody writes there any more. For whoever created it, and the operator."""

        def work(tx: Transaction) -> Channel:
            channel = channel_named(tx, name)
            if not by.is_operator and by.id != channel.created_by:
                raise Forbidden(f"Only who created {channel.address} and the operator may archive it.")
            now = self._clock.now()
            fact = ChannelArchived(channel=channel.name, at=now)
            return self._changed(tx, by, channel, channel.archived(now), fact)

        return await self._store.write(work)

    def _changed(
        self,
        tx: Transaction,
        by: Principal,
        before: Channel,
        after: Channel,
        fact: ChannelJoined | ChannelLeft | ChannelArchived,
    ) -> Channel:
        if after != before:
            tx.channels.put(after)
            tx.journal.record(fact, at=self._clock.now(), by=by, audience=EVERYONE)
        return after


def _whom(tx: Transaction, by: Principal, agent: str | None) -> str:
    if agent is not None:
        return agent_named(tx, agent).id
    if by.is_operator:
        raise InvalidRequest("The operator reads and writes in every channel; name the agent that you mean.")
    return by.id


# -- checks that the services share ----------------------------------------------------------------------


def channel_named(tx: Transaction, said: str) -> Channel:
    channel = tx.channels.get(channel_name(said))
    if channel is None:
        known = [each.address for each in tx.channels.all() if each.archived_at is None]
        raise ChannelNotFound(said, known)
    return channel


def open_channel(tx: Transaction, said: str) -> Channel:
    """One that can be written to."""
    channel = channel_named(tx, said)
    if channel.archived_at is not None:
        raise Conflict(
            f"{channel.address} is archived: it can be read and takes no messages.", channel=channel.name
        )
    return channel


def require_member(channel: Channel, party: str) -> None:
    if party != OPERATOR and party not in channel.members:
        raise Forbidden(f"You are not in {channel.address}; join it first.", channel=channel.name)


def callable_in(tx: Transaction, channel: Channel) -> dict[str, str]:
    """Whom a mention there can mean: members by name or id, and the operator."""
    ids = {OPERATOR: OPERATOR}
    for member in channel.members:
        agent = tx.agents.get(member)
        if agent is not None and agent.living:
            ids[same_name(agent.id)] = agent.id
            ids[same_name(agent.name)] = agent.id
    return ids


def leave_all(tx: Transaction, agent_id: str, by: Principal, now: int) -> None:
    """An agent that is gone is a member of nothing."""
    for channel in tx.channels.all():
        if agent_id in channel.members:
            tx.channels.put(channel.left(agent_id))
            fact = ChannelLeft(channel=channel.name, member=agent_id)
            tx.journal.record(fact, at=now, by=by, audience=EVERYONE)
