"""Channels: named places where several agents read along."""

import re
from dataclasses import dataclass, replace

from rookery.domain.errors import Conflict, NameRefused

_SHAPE = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_CONVERSATION = "channel:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """`name` is without its `#` and never changes; `members` are agents, in the order they joined.

    An archived channel can be read by those who were in it, and nobody writes to it any more. Its name stays
    taken, for its history does.
    """

    name: str
    topic: str | None = None
    members: tuple[str, ...] = ()
    created_by: str
    created_at: int
    archived_at: int | None = None

    @property
    def address(self) -> str:
        return f"#{self.name}"

    @property
    def conversation(self) -> str:
        return f"{_CONVERSATION}{self.name}"

    def joined(self, member: str) -> "Channel":
        self._check_open()
        return self if member in self.members else replace(self, members=(*self.members, member))

    def left(self, member: str) -> "Channel":
        """Also from an archived one: whoever goes need not stay for its history."""
        return replace(self, members=tuple(each for each in self.members if each != member))

    def archived(self, at: int) -> "Channel":
        return self if self.archived_at is not None else replace(self, archived_at=at)

    def _check_open(self) -> None:
        if self.archived_at is not None:
            raise Conflict(f"{self.address} is archived: it can be read, and takes no members.", channel=self.name)


def channel_name(said: str) -> str:
    """`#Build` and `build` are one channel."""
    return said.removeprefix("#").lower()


def checked_channel_name(said: str) -> str:
    name = channel_name(said)
    if not _SHAPE.fullmatch(name):
        raise NameRefused(
            f"{said[:80]!r} is not a name for a channel: use 1 to 64 of the letters a-z, digits, '.', '_' and '-',"
            " beginning with a letter or digit.",
            name=said[:80],
        )
    return name


def channel_of(conversation: str) -> str | None:
    """The name of the channel whose conversation this is; None when it is of another kind."""
    return conversation.removeprefix(_CONVERSATION) if conversation.startswith(_CONVERSATION) else None
