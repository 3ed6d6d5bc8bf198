"""What happens in channels: they are founded, filled, talked in, left and archived."""

from dataclasses import replace

from hypothesis.stateful import precondition, rule

from rookery.domain.channels import Channel
from rookery.domain.errors import Conflict, Forbidden, RookeryError
from rookery.domain.ids import OPERATOR
from rookery.services.messaging import Receipt
from rookery.testing.stores.traffic import Traffic
from rookery.testing.stores.world import THE_OPERATOR, picks

MOST_CHANNELS = 3


class ChannelTraffic(Traffic):
    @precondition(lambda self: len(self.model.channels) < MOST_CHANNELS)
    @rule(creator=picks, invited=picks)
    def a_channel_is_created(self, creator: int, invited: int) -> None:
        by, guest = self.speaker(creator), self.agent(invited)
        name = f"room-{len(self.model.channels)}"
        channel = self.run(self.hub.channels.create(by, f"#{name.upper()}", members=[guest.name]))
        founders = [party for party in (by.id, guest.id) if party != OPERATOR]
        expected = Channel(
            name=name, members=tuple(dict.fromkeys(founders)), created_by=by.id, created_at=self.now()
        )
        assert channel == expected
        self.model.channels[name] = expected

    @precondition(lambda self: self.model.channels)
    @rule(which=picks, who=picks)
    def an_agent_joins(self, which: int, who: int) -> None:
        channel, agent = self.channel(which), self.agent(who)
        found = self.refusal(self.hub.channels.join(self.principal(agent.id), channel.name))
        if channel.archived_at is not None:
            assert found is Conflict
        else:
            self.became(found, channel.joined(agent.id))

    @precondition(lambda self: self.model.channels)
    @rule(which=picks, who=picks)
    def an_agent_leaves(self, which: int, who: int) -> None:
        channel, agent = self.channel(which), self.agent(who)
        found = self.refusal(self.hub.channels.leave(THE_OPERATOR, channel.address, agent.name))
        self.became(found, channel.left(agent.id))

    @precondition(lambda self: self.model.channels)
    @rule(which=picks, seriously=picks)
    def a_channel_is_archived(self, which: int, seriously: int) -> None:
        if seriously % 4:
            return  # else most channels would be archived, and silent, for most of a history
        channel = self.channel(which)
        found = self.refusal(self.hub.channels.archive(THE_OPERATOR, channel.name))
        self.became(found, channel.archived(self.now()))

    @precondition(lambda self: self.model.channels)
    @rule(which=picks, sender=picks, mentioned=picks)
    def somebody_speaks_in_a_channel(self, which: int, sender: int, mentioned: int) -> None:
        channel, by, called = self.channel(which), self.speaker(sender), self.agent(mentioned)
        draft = self.draft(channel.address)
        name, whom = (OPERATOR, OPERATOR) if mentioned % 5 == 4 else (called.name, called.id)
        outcome = self.refusal(
            self.hub.messaging.send(by, replace(draft, content=f"@{name.upper()}: {draft.content}"))
        )
        if channel.archived_at is not None:
            assert outcome is Conflict
        elif by.id not in (OPERATOR, *channel.members):
            assert outcome is Forbidden
        else:
            assert isinstance(outcome, Receipt)
            heard = whom != by.id and whom in (OPERATOR, *channel.members)
            self.accepted(outcome, by.id, [whom] if heard else [])

    def channel(self, pick: int) -> Channel:
        channels = list(self.model.channels.values())
        return channels[pick % len(channels)]

    def became(self, found: Channel | type[RookeryError], expected: Channel) -> None:
        assert found == expected
        self.model.channels[expected.name] = expected
