"""Who a program that was started without a token is: an agent of its own, the same one each time.

The token is kept in the data directory. A seat that is taken, by another session of the same name, is left alone:
the next one has a number.
"""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rookery.client import Client
from rookery.client.agents import register
from rookery.domain.agents import Kind
from rookery.domain.errors import InvalidRequest, RookeryError
from rookery.domain.names import checked_name, suggested_name

if TYPE_CHECKING:
    from rookery.wire.responses import RegisterResponse

_MOST_SEATS = 1000


class Seat:
    """`token` is None until `sit_down`, and new after a seat whose agent is gone was taken anew."""

    def __init__(self, client: Client, name: str, kind: Kind, file: int) -> None:
        self._client = client
        self._kind: Kind = kind
        self._file = file
        self.name = name
        self.token: str | None = None

    def sit_down(self, *, afresh: bool = False) -> str:
        """The token of this seat's agent: the one that is kept, or that of a new agent."""
        kept = "" if afresh else os.pread(self._file, 1024, 0).decode("ascii", "replace").strip()
        if kept and self._resumed(kept):
            self.token = kept
            return kept
        made = self._registered()
        if made.token is None:
            raise InvalidRequest("Agents are made with the operator's token; an agent's own was given.")
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{made.token}\n".encode("ascii"), 0)
        self.token = made.token
        return made.token

    def _registered(self) -> "RegisterResponse":
        session, here = self._client.session, str(Path.cwd())
        try:
            return self._client.run(register(session, name=self.name, kind=self._kind, project=here))
        except RookeryError as refused:
            if refused.code != "name_taken":
                raise
        # Somebody else has the name. A model's name is numbered by the hub.
        return self._client.run(register(session, model_name=self.name, kind=self._kind, project=here))

    def _resumed(self, token: str) -> bool:
        with Client(self._client.session.address.url, token=token) as own:
            try:
                own.run(register(own.session, project=str(Path.cwd())))
            except RookeryError as refused:
                if refused.code == "unauthorized":
                    return False
                raise
        return True


@contextmanager
def seat(client: Client, data: Path, wanted: str, kind: Kind) -> Generator[Seat]:
    """The first free seat of that name, held until the end of the context."""
    name = checked_name(suggested_name(wanted) or "agent")
    directory = data / "seats"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in range(1, _MOST_SEATS):
        label = name if number == 1 else f"{name}-{number}"
        file = os.open(directory / f"{label.casefold()}.token", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            continue
        try:
            yield Seat(client, label, kind, file)
        finally:
            os.close(file)
        return
    raise InvalidRequest(
        f"{_MOST_SEATS} sessions called {name!r} are at work; end some, or choose another --name."
    )
