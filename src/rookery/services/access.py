"""Who may do what: tokens, the principal behind a request, and how fast a program may go."""

import hashlib
import math
import secrets
from dataclasses import dataclass

from rookery.domain.agents import Agent
from rookery.domain.errors import AgentNotFound, Forbidden, NotFound, RateLimited, SenderForged, Unauthorized
from rookery.domain.events import AccessRefused, TokenIssued, TokenRevoked
from rookery.domain.ids import OPERATOR
from rookery.domain.principals import THE_HUB, UNGUARDED_OPERATOR, Principal, Token
from rookery.ports import Clock, Store, Transaction

_CACHED_TOKENS = 10_000


@dataclass(frozen=True, slots=True)
class RateRules:
    """The plain limit of one agent token: `per_second` in the long run, `burst` at once."""

    per_second: float = 50.0
    burst: int = 500


class Access:
    def __init__(self, store: Store, clock: Clock, *, guarded: bool, rate: RateRules) -> None:
        self._store = store
        self._clock = clock
        self.guarded = guarded
        self._rate = rate
        self._known: dict[bytes, Principal] = {}
        self._forgotten = 0
        self._rested_at: dict[str, float] = {}

    # -- who is asking -------------------------------------------------------------------------------

    async def principal(self, secret: str | None) -> Principal:
        """The holder of the token. Without one: the operator where the hub runs unguarded, else refused.

        A token that is wrong is refused even on an unguarded hub: it is a mistake worth hearing about.
        """
        if secret is None:
            if self.guarded:
                raise Unauthorized(
                    "This hub wants a token: send 'Authorization: Bearer <token>'. `rook token show` prints yours."
                )
            return UNGUARDED_OPERATOR
        digest = token_digest(secret)
        known = self._known.get(digest)
        if known is not None:
            return known
        forgotten = self._forgotten
        token = await self._store.read(lambda tx: tx.tokens.by_digest(digest))
        if token is None or token.revoked_at is not None:
            raise Unauthorized(
                "This token is not valid here, or was revoked. `rook token show` prints the operator's; "
                "`rook token new <agent>` makes an agent a new one."
            )
        principal = Principal(token.holder, token.id)
        if len(self._known) >= _CACHED_TOKENS:
            self._known.clear()
        if self._forgotten == forgotten:  # else some token ended since the read, and it may be this one
            self._known[digest] = principal
        return principal

    async def adopt_operator_token(self, secret: str) -> None:
        """Make the secret of the data directory the one valid operator token."""
        digest = token_digest(secret)

        def work(tx: Transaction) -> None:
            now = self._clock.now()
            present = False
            for token in tx.tokens.held_by(OPERATOR):
                if token.digest == digest and token.revoked_at is None:
                    present = True
                elif token.revoked_at is None:
                    tx.tokens.revoke(token.id, now)
                    tx.journal.record(
                        TokenRevoked(token_id=token.id, holder=OPERATOR), at=now, by=THE_HUB, audience=()
                    )
            if not present:
                _add_token(tx, digest, OPERATOR, now, THE_HUB)

        # Also on a full disk: a hub that does not come up cannot be cleaned up.
        await self._store.write(work, frees=True)
        self.forget_tokens()

    async def revoke_all(self, by: Principal, holder: str) -> tuple[str, int]:
        """End every token of an agent. Its sockets are closed by the surfaces that hear of it."""
        require_operator(by, "revoke tokens")

        def work(tx: Transaction) -> tuple[str, int]:
            agent = agent_named(tx, holder)
            return agent.id, revoke_tokens(tx, agent.id, self._clock.now(), by)

        revoked = await self._store.write(work)
        self.forget_tokens()
        return revoked

    def forget_tokens(self) -> None:
        """Ask the store again at the next request: some token may have ended."""
        self._forgotten += 1
        self._known.clear()

    # -- how fast ------------------------------------------------------------------------------------

    def take_turn(self, principal: Principal) -> None:
        """Count one call against the agent's own limit. The operator has none.

        What is kept is the moment at which a whole burst would be free again; each call puts it off by one
        turn, and a call is too early when a burst less one could not bridge the time until then.
        """
        if not principal.is_agent:
            return
        now = self._clock.now()
        turn = 1000 / self._rate.per_second
        rested_at = max(self._rested_at.get(principal.id, 0.0), now)
        allowed_at = rested_at - (self._rate.burst - 1) * turn
        if now < allowed_at:
            raise RateLimited(math.ceil(allowed_at - now), f"agent {principal.id!r}")
        self._rested_at[principal.id] = rested_at + turn

    # -- the audit trail -----------------------------------------------------------------------------

    async def record_refusal(self, principal: Principal, action: str, reason: str) -> None:
        now = self._clock.now()
        fact = AccessRefused(action=action, reason=reason)
        await self._store.write(lambda tx: tx.journal.record(fact, at=now, by=principal, audience=()))


def token_digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def new_secret(holder: str) -> str:
    """256 random bits; the prefix tells a person, or a secret scanner, what leaked."""
    return f"rook_{'op' if holder == OPERATOR else 'ag'}_{secrets.token_urlsafe(32)}"


def new_token(tx: Transaction, holder: str, now: int, by: Principal) -> str:
    secret = new_secret(holder)
    _add_token(tx, token_digest(secret), holder, now, by)
    return secret


def revoke_tokens(tx: Transaction, holder: str, now: int, by: Principal) -> int:
    valid = [token for token in tx.tokens.held_by(holder) if token.revoked_at is None]
    for token in valid:
        tx.tokens.revoke(token.id, now)
        tx.journal.record(TokenRevoked(token_id=token.id, holder=holder), at=now, by=by, audience=())
    return len(valid)


def _add_token(tx: Transaction, digest: bytes, holder: str, now: int, by: Principal) -> None:
    token = Token(id=f"t-{secrets.token_hex(4)}", digest=digest, holder=holder, created_at=now)
    tx.tokens.add(token)
    tx.journal.record(TokenIssued(token_id=token.id, holder=holder), at=now, by=by, audience=())


# -- checks that the services share ----------------------------------------------------------------------


def require_operator(by: Principal, what: str) -> None:
    if not by.is_operator:
        raise Forbidden(f"Only the operator may {what}; use the operator's token (`rook token`).")


def agent_named(tx: Transaction, id_or_name: str) -> Agent:
    agent = tx.agents.find(id_or_name)
    if agent is None:
        raise AgentNotFound(id_or_name, [agent.name for agent in tx.agents.living()])
    return agent


def own_or_operated(tx: Transaction, by: Principal, id_or_name: str, what: str) -> Agent:
    """The agent, if the caller is that agent or the operator."""
    agent = agent_named(tx, id_or_name)
    if by.is_operator or by.id == agent.id:
        return agent
    raise Forbidden(f"Only {agent.name!r} itself and the operator may {what}.", agent=agent.name)


def inbox_owner(tx: Transaction, by: Principal, id_or_name: str) -> str:
    """The id whose inbox is meant. Somebody else's inbox does not exist for an agent."""
    if id_or_name == OPERATOR and by.is_operator:
        return OPERATOR
    agent = tx.agents.find(id_or_name)
    if agent is not None and (by.is_operator or by.id == agent.id):
        return agent.id
    if by.is_operator or (agent is None and id_or_name != OPERATOR):
        raise AgentNotFound(id_or_name, [agent.name for agent in tx.agents.living()])
    raise NotFound(f"There is no inbox of {id_or_name!r} that this token may open; open your own.")


def speaker(tx: Transaction, by: Principal, claimed: str | None) -> str:
    """The id that a message is from: the principal, and for the operator alone whoever it names."""
    if claimed is None or claimed == by.id:
        return by.id
    if by.is_operator:
        return agent_named(tx, claimed).id
    agent = tx.agents.find(claimed)
    if agent is not None and agent.id == by.id:
        return by.id
    raise SenderForged(by.id, claimed)
