"""`rook up`: what it prints, what it refuses, how it ends."""

import json
import signal
import socket
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.support.fixtures import HubFactory
from tests.support.hub_process import HubProcess
from tests.support.rook import Rook


def test_the_banner_says_where_what_and_what_next(shared_hub: HubProcess) -> None:
    said = shared_hub.output()
    for part in (
        shared_hub.url,
        str(shared_hub.data),
        "sqlite",
        "token; yours is in",
        "rook register",
        "rook send",
        "rook watch",
    ):
        assert part in said
    assert str(shared_hub.token) not in said


def test_without_tokens_the_banner_says_what_that_gives_up(open_hub: HubProcess) -> None:
    assert "everybody on this machine is the operator" in open_hub.output()
    assert httpx.get(f"{open_hub.url}/v1/agents").status_code == 200


def test_beyond_this_machine_the_banner_speaks_of_tls(hub_factory: HubFactory) -> None:
    hub = hub_factory(args=["--host", "0.0.0.0"])
    assert "TLS" in hub.output()
    assert "reverse proxy" in hub.output()


def test_a_second_hub_on_the_same_data_is_refused_with_the_address_of_the_first(
    rook: Rook, shared_hub: HubProcess
) -> None:
    done = rook.tried("up", "--port", "0")
    assert done.code == 7
    assert shared_hub.url in done.err
    assert str(shared_hub.pid) in done.err
    assert "--data" in done.err


def test_a_port_in_use_is_named_with_the_way_out(lonely: Rook) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = lonely.tried("up", "--port", str(port))
    assert done.code == 2
    assert str(port) in done.err
    assert "--port" in done.err


def test_a_hub_ends_cleanly_on_either_signal(hub: HubProcess) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        if not hub.running:
            hub.start()
        assert hub.process is not None
        hub.process.send_signal(number)
        assert hub.process.wait(15) == 0
        assert "everything it acknowledged is on disk" in hub.output()


def test_a_crashed_hub_leaves_no_obstacle(hub: HubProcess) -> None:
    hub.restart(crash=True)
    assert hub.running


def test_programs_get_one_line_of_json_when_the_hub_is_ready(hub_factory: HubFactory) -> None:
    hub = hub_factory(args=["--json"])
    told = json.loads(hub.output().splitlines()[0])
    assert told["url"] == hub.url
    assert told["pid"] == hub.pid


def test_settings_come_from_the_file_in_the_data_directory(tmp_path: Path, hub_factory: HubFactory) -> None:
    data = tmp_path / "with-file"
    data.mkdir()
    (data / "rookery.toml").write_text("max_body = 2048\n")
    hub = hub_factory(data=data)
    big = {"to_agent_id": "operator", "content": "x" * 3000}
    answer = httpx.post(f"{hub.url}/v1/agents/messages/send", json=big, headers=hub.headers)
    assert answer.json()["error"]["code"] == "too_large"


def test_data_that_cannot_be_written_is_said(lonely: Rook, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("I am a file")
    done = lonely.tried("up", "--port", "0", "--data", str(tmp_path / "file"))
    assert done.code == 7
    assert str(tmp_path / "file") in done.err


def test_a_handshake_that_is_refused_is_no_error_of_the_hubs(hub: HubProcess) -> None:
    with pytest.raises(InvalidStatus), connect(f"ws://127.0.0.1:{hub.port}/ws/agents", proxy=None):
        pass
    assert hub.stop() == 0
    assert "[error" not in hub.output()
