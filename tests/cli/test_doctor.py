"""`rook doctor`: what works here, and the exit code that says whether a hub can run."""

import os
import socket
from pathlib import Path

from tests.support.hub_process import HubProcess
from tests.support.rook import Rook


def checks(rook: Rook, *words: str, **env: str) -> tuple[int, dict[str, dict[str, str]]]:
    done = rook.tried("doctor", "--json", *words, **env)
    return done.code, {check["name"]: check for check in done.json["checks"]}


def test_all_is_well_beside_a_running_hub(rook: Rook, shared_hub: HubProcess) -> None:
    code, found = checks(rook)
    assert code == 0
    assert found["hub"]["state"] == "ok"
    assert shared_hub.url in found["hub"]["detail"]
    assert "FTS5" in found["sqlite"]["detail"]
    said = rook("doctor").out
    assert "A hub can run here." in said


def test_on_a_fresh_machine_all_is_well_and_nothing_is_made(lonely: Rook, tmp_path: Path) -> None:
    code, found = checks(lonely, ROOKERY_PORT="0")
    assert code == 0
    assert found["hub"]["state"] == "missing"
    assert "rook up" in found["hub"]["detail"]
    assert not (tmp_path / "data").exists()


def test_programs_that_are_missing_come_with_what_to_install(lonely: Rook, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    tmux = tmp_path / "bin" / "tmux"
    tmux.write_text("#!/bin/sh\necho tmux 9.9\n")
    tmux.chmod(0o755)
    code, found = checks(lonely, PATH=str(tmp_path / "bin"), ROOKERY_PORT="0")
    assert code == 0
    assert found["tmux"]["state"] == "ok"
    assert "tmux 9.9" in found["tmux"]["detail"]
    for name in ("claude", "codex", "node", "prosody", "psql"):
        assert found[name]["state"] == "missing"
        assert "install" in found[name]["detail"] or "https://" in found[name]["detail"]


def test_a_taken_port_and_an_unwritable_place_are_in_the_way(lonely: Rook, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, found = checks(lonely, ROOKERY_PORT=str(taken.getsockname()[1]))
    assert code == 1
    assert "--port" in found["port"]["detail"]
    (tmp_path / "file").write_text("")
    code, found = checks(lonely, "--data", str(tmp_path / "file"), ROOKERY_PORT="0")
    assert code == 1
    assert found["data directory"]["state"] == "failed"


def test_wrong_settings_are_in_the_way(lonely: Rook) -> None:
    code, found = checks(lonely, ROOKERY_PORT="many")
    assert code == 1
    assert "ROOKERY_PORT" in found["settings"]["detail"]


def test_a_crashed_hub_is_noticed_and_its_data_checked(hub: HubProcess, tmp_path: Path) -> None:
    hub.kill9()
    rook = Rook(hub.environment(), tmp_path)
    code, found = checks(rook, ROOKERY_PORT="0")
    assert code == 0
    assert found["hub"]["state"] == "warning"
    assert found["store"]["state"] == "ok"
    (hub.data / "rookery.db").write_bytes(os.urandom(8192))
    code, found = checks(rook, ROOKERY_PORT="0")
    assert code == 1
    assert found["store"]["state"] == "failed"
