"""Tokens in SQL: hashes only."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from rookery.domain.principals import Token
from rookery.stores.tables.changes import Changes, token_record

_BY_ID = "SELECT id, digest, holder, created_at, revoked_at FROM tokens WHERE id = ?"
_BY_DIGEST = "SELECT id, digest, holder, created_at, revoked_at FROM tokens WHERE digest = ?"
_HELD_BY = "SELECT id, digest, holder, created_at, revoked_at FROM tokens WHERE holder = ? ORDER BY rid"
_ADD = "INSERT INTO tokens (id, digest, holder, created_at, revoked_at) VALUES (?, ?, ?, ?, ?)"
_REVOKE = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"


class TokenTable:
    def __init__(self, connection: sqlite3.Connection, changes: Changes | None) -> None:
        self._connection = connection
        self._changes = changes

    def by_digest(self, digest: bytes) -> Token | None:
        row = self._connection.execute(_BY_DIGEST, (digest,)).fetchone()
        return None if row is None else token_from(row)

    def held_by(self, holder: str) -> Sequence[Token]:
        return [token_from(row) for row in self._connection.execute(_HELD_BY, (holder,))]

    def add(self, token: Token) -> None:
        self._connection.execute(_ADD, (token.id, token.digest, token.holder, token.created_at, token.revoked_at))
        if self._changes is not None:
            self._changes.append(token_record(token))

    def revoke(self, token_id: str, at: int) -> None:
        """Only the first revocation counts."""
        self._connection.execute(_REVOKE, (at, token_id))
        if self._changes is not None:
            row = self._connection.execute(_BY_ID, (token_id,)).fetchone()
            if row is not None:
                self._changes.append(token_record(token_from(row)))


def token_from(row: tuple[Any, ...]) -> Token:
    return Token(id=row[0], digest=row[1], holder=row[2], created_at=row[3], revoked_at=row[4])
