"""Where the hub is, and the token for it: told, else found in the data directory."""

import os
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from rookery.wire.discovery import HubFile, default_data_directory, operator_token, running_hub
from rookery.wire.errors import ErrorBody, RookeryError, error_from

DEFAULT_URL = "http://127.0.0.1:8200"


@dataclass(frozen=True, slots=True)
class Address:
    """`known` is False when nobody named a hub and none left a trace: the default address is a guess."""

    url: str
    token: str | None
    known: bool = True

    @property
    def local(self) -> bool:
        """Whether it is on this machine, where no proxy belongs in between."""
        return _is_loopback(urlsplit(self.url).hostname or "")

    def socket_url(self) -> str:
        return "ws" + self.url.removeprefix("http") + "/ws/agents"


@dataclass(frozen=True, slots=True)
class Directions:
    """What the caller said. Each part that is None is looked for: in `ROOKERY_URL` and `ROOKERY_TOKEN`, then
    in the data directory.

    The operator token of a data directory is given to that directory's own hub alone, never to another
    address: a wrong `ROOKERY_URL` must not leak it.
    """

    url: str | None = None
    token: str | None = None
    data: Path | None = None

    def directory(self) -> Path:
        return self.data or default_data_directory()

    def follow(self) -> Address:
        """Look again each time: a hub that restarts may come back on another port."""
        told = self.url or os.environ.get("ROOKERY_URL")
        token = self.token or os.environ.get("ROOKERY_TOKEN") or None
        hub = self._trace()
        url = checked_url(told or (hub.url if hub else DEFAULT_URL))
        if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
            raise _refusal("invalid_request", "The token is no token: it is one word of plain letters and signs.")
        if token is None and hub is not None and hub.auth != "none" and _same_place(url, hub.url):
            token = operator_token(self.directory())
        return Address(url, token, known=told is not None or hub is not None)

    def _trace(self) -> HubFile | None:
        try:
            return running_hub(self.directory())
        except OSError as exc:
            message = f"The data directory {self.directory()} cannot be read: {exc.strerror}."
            raise _refusal("storage_unavailable", message) from exc


def checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        complete = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        surplus = parts.query or parts.fragment or parts.username or parts.password or not url.isprintable()
    except ValueError:
        complete = surplus = False
    if not complete or surplus:
        raise _refusal("invalid_request", f"{url!r} is no address of a hub; one looks like {DEFAULT_URL}.")
    return url.rstrip("/")


def _refusal(code: str, message: str) -> RookeryError:
    return error_from(ErrorBody(code, message, {}))


def _same_place(one: str, other: str) -> bool:
    first, second = urlsplit(one), urlsplit(other)
    if (first.scheme, first.port) != (second.scheme, second.port):
        return False
    hosts = (first.hostname or "", second.hostname or "")
    return hosts[0] == hosts[1] or all(_is_loopback(host) for host in hosts)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
