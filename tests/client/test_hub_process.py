"""The fixture that other suites stand on."""

import signal

import httpx
import psutil
import pytest

from tests.support.fixtures import HubFactory
from tests.support.hub_process import HubProcess


def test_a_hub_answers_on_a_free_port_with_its_own_token(hub: HubProcess) -> None:
    answer = httpx.get(f"{hub.url}/v1/status", headers=hub.headers)
    assert answer.json()["ok"] is True
    assert hub.port != 0
    assert str(hub.port) in hub.url
    assert "is up" in hub.output()


def test_a_stopped_hub_ends_cleanly_and_leaves_no_trace_of_running(hub: HubProcess) -> None:
    assert hub.stop() == 0
    assert not (hub.data / "hub.json").exists()
    assert hub.stop() == 0


def test_a_restart_keeps_the_port_and_the_token(hub: HubProcess) -> None:
    before = (hub.url, hub.token)
    hub.restart()
    assert (hub.url, hub.token) == before


def test_a_crash_leaves_the_trace_behind_and_the_next_start_replaces_it(hub: HubProcess) -> None:
    pid = hub.pid
    hub.kill9()
    assert (hub.data / "hub.json").exists()
    assert hub.process is not None
    assert hub.process.returncode == -signal.SIGKILL
    hub.start()
    assert hub.pid != pid


def test_a_hub_that_cannot_start_fails_with_what_it_printed(hub_factory: HubFactory) -> None:
    first = hub_factory()
    with pytest.raises(AssertionError, match=f"--port|{first.port}"):
        hub_factory(port=first.port)


def test_nothing_is_left_when_the_block_ends(hub_factory: HubFactory, tmp_path: object) -> None:
    hub = hub_factory()
    with hub:
        pid = hub.pid
    assert not psutil.pid_exists(pid)
