"""What every command finds on its desk: the hub, the caller's wishes, and a way to answer."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rookery.cli.text import safe_json

if TYPE_CHECKING:
    from rookery.client import AsyncClient, Client

PATIENCE = 3.0
"""Seconds for a hub that is just restarting; a person who waits longer wants to know why."""


@dataclass(slots=True)
class Desk:
    """`speaker` is the agent that the operator speaks as (`--as`)."""

    json: bool = False
    url: str | None = None
    token_file: Path | None = None
    data: Path | None = None
    speaker: str | None = None
    _client: "Client | None" = field(default=None, init=False)

    @property
    def hub(self) -> "Client":
        if self._client is None:
            from rookery.client import Client

            self._client = Client(self.url, token=self._token(), data=self.data, patience=PATIENCE)
        return self._client

    def async_hub(self) -> "AsyncClient":
        """For a command that runs an event loop; it closes the client itself."""
        from rookery.client import AsyncClient

        return AsyncClient(self.url, token=self._token(), data=self.data, patience=PATIENCE)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def answer(self, answer: Any, show: Callable[[], None]) -> None:
        """The hub's answer: as it is for programs, through `show` for people."""
        if self.json:
            print(as_json(answer), flush=True)
        else:
            show()

    def names(self) -> "Names":
        """Who is behind the ids. Only asked for people: programs get ids."""
        from rookery.domain.errors import RookeryError

        names = Names()
        with suppress(RookeryError):
            for agent in self.hub.agents().agents:
                names.learn(agent.agent_id, agent.name)
        return names

    def _token(self) -> str | None:
        if self.token_file is None:
            return None
        from rookery.domain.errors import InvalidRequest

        try:
            token = self.token_file.expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as exc:
            raise InvalidRequest(f"The token file {self.token_file} cannot be read: {exc}.") from exc
        if not token or not token.isascii() or len(token.split()) > 1:
            raise InvalidRequest(f"The token file {self.token_file} holds no token: it is one line of text.")
        return token


class Names:
    """Ids to names, as far as known; deleted agents keep their id."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {"broadcast": "everyone"}

    def learn(self, agent_id: str, name: str) -> None:
        self._names[agent_id] = name

    def of(self, agent_id: str) -> str:
        return self._names.get(agent_id, agent_id)


def as_json(answer: Any) -> str:
    import msgspec

    return safe_json(msgspec.json.encode(answer).decode())
