"""Conversations: where messages get their order."""

from rookery.domain.ids import BROADCAST


def direct_conversation(one: str, other: str) -> str:
    """The conversation of exactly two parties, the same whoever speaks first."""
    first, second = sorted((one, other))
    return f"dm:{first}:{second}"


def broadcast_conversation() -> str:
    return BROADCAST
