"""HTTP by hand, for what no client library would send."""

import socket
from typing import Any

import httpx
import msgspec

from tests.surfaces.served import PATIENCE, Served


def exchange(hub: Served, *pieces: bytes, half_close: bool = False) -> httpx.Response | None:
    """Write the pieces, read one answer; None when the hub hung up without one."""
    with socket.create_connection(("127.0.0.1", hub.port), timeout=PATIENCE) as connection:
        for piece in pieces:
            try:
                connection.sendall(piece)
            except (BrokenPipeError, ConnectionResetError):
                break  # it has heard enough
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        return _answer(connection)


def _answer(connection: socket.socket) -> httpx.Response | None:
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = _received(connection)
        if not chunk:
            return None
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.split(b"\r\n")
    headers = [
        (name.lower().strip(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)
    ]
    length = int(dict(headers).get(b"content-length", b"0"))
    while len(body) < length and (chunk := _received(connection)):
        body += chunk
    return httpx.Response(int(status.split()[1]), headers=headers, content=body)


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65536)
    except ConnectionResetError:
        return b""


def request(hub: Served, method: bytes, target: bytes, body: bytes = b"", **headers: bytes | None) -> bytes:
    """The bytes of a request by the operator. A header that is None is left out."""
    found: dict[str, bytes | None] = {
        "Host": hub.host.encode(),
        "Authorization": f"Bearer {hub.operator_token}".encode(),
    }
    if body:
        found |= {"Content-Type": b"application/json", "Content-Length": b"%d" % len(body)}
    found |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [b"%s: %s" % (name.encode(), value) for name, value in found.items() if value is not None]
    return b"\r\n".join([b"%s %s HTTP/1.1" % (method, target), *lines, b"", b""]) + body


def refused(answer: httpx.Response | None, *statuses: int) -> dict[str, Any]:
    """The error of a refusal; fails the test when the answer is anything else."""
    assert answer is not None, "the hub hung up"
    assert answer.status_code in statuses, answer.text
    assert answer.headers["content-type"] == "application/json"
    told = msgspec.json.decode(answer.content)
    assert set(told) == {"ok", "error"}
    assert told["ok"] is False
    assert set(told["error"]) == {"code", "message", "data"}
    assert told["error"]["message"]
    return told["error"]
