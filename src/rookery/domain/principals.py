"""Who is asking. Authority comes from the token alone, never from what a request says of itself."""

from dataclasses import dataclass

from rookery.domain.ids import HUB, OPERATOR


@dataclass(frozen=True, slots=True)
class Principal:
    """`id` is an agent's id, `operator` or `hub`; `token_id` names the token in the audit trail."""

    id: str
    token_id: str

    @property
    def is_operator(self) -> bool:
        return self.id == OPERATOR

    @property
    def is_agent(self) -> bool:
        return self.id not in (OPERATOR, HUB)


THE_HUB = Principal(HUB, "hub")
BY_HAND = Principal(OPERATOR, "by-hand")
"""Whoever moves files in the data directory, where the operator alone can write."""
UNGUARDED_OPERATOR = Principal(OPERATOR, "auth-none")
"""Everybody who calls without a token while the hub runs with `--auth none`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """`digest` is the SHA-256 of the secret; the secret itself is stored nowhere in the hub."""

    id: str
    digest: bytes
    holder: str
    created_at: int
    revoked_at: int | None = None
