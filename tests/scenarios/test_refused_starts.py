"""A hub that must not start says why in one sentence, and touches nothing."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.scenarios.disks import Disk, disk  # noqa: F401 - a fixture
from tests.scenarios.switchboard import PATIENCE, Agent, Switchboard
from tests.support.hub_process import HubProcess

STORAGE, USAGE = 7, 2
"""Exit codes."""
DATABASE = "rookery.db"


def refusal(data: Path, *args: str, exit_code: int) -> str:
    """The one sentence with which `rook up` ends."""
    hub = HubProcess(data)
    done = subprocess.run(
        [sys.executable, "-m", "rookery.cli", "up", "--data", str(data), "--port", "0", *args],
        env=hub.environment(), capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == exit_code, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("rook: ")
    return lines[0].removeprefix("rook: ")


@contextmanager
def behind_its_back(data: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(data / DATABASE)) as connection, connection:
        yield connection


async def one_message(board: Switchboard) -> tuple[Agent, Agent, str]:
    ann, bob = await board.register_many("ann", "bob")
    return ann, bob, (await board.send(ann, bob, "as it was written"))["message_id"]


# -- the place -------------------------------------------------------------------------------------------


def test_a_data_directory_that_cannot_be_written_is_refused(disk: Disk) -> None:  # noqa: F811
    with HubProcess(disk.place) as hub:
        hub.stop()
    disk.make_read_only()

    sentence = refusal(disk.place, exit_code=STORAGE)

    assert str(disk.place) in sentence
    assert "--data" in sentence


def test_a_data_directory_that_cannot_be_made_is_refused(disk: Disk) -> None:  # noqa: F811
    disk.make_read_only()
    sentence = refusal(disk.place / "new", exit_code=STORAGE)
    assert str(disk.place / "new") in sentence
    assert "Read-only file system" in sentence


def test_a_data_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    assert str(tmp_path / "data") in refusal(tmp_path / "data", exit_code=STORAGE)


async def test_a_second_hub_on_the_same_directory_is_refused_and_the_first_goes_on(board: Switchboard) -> None:
    ann, bob, _ = await one_message(board)

    sentence = refusal(board.hub.data, exit_code=STORAGE)

    assert str(board.hub.data) in sentence
    assert f"process {board.hub.pid}" in sentence
    await board.send(ann, bob, "still here")
    assert len(await board.inbox(bob)) == 2


async def test_a_second_hub_is_refused_even_when_the_first_does_not_answer(board: Switchboard) -> None:
    _, bob, _ = await one_message(board)
    os.kill(board.hub.pid, signal.SIGSTOP)
    try:
        sentence = refusal(board.hub.data, exit_code=STORAGE)
    finally:
        os.kill(board.hub.pid, signal.SIGCONT)
    assert f"in use by process {board.hub.pid}" in sentence
    assert len(await board.inbox(bob)) == 1


# -- what lies there -------------------------------------------------------------------------------------


def test_data_that_a_newer_version_wrote_is_refused(hub: HubProcess) -> None:
    hub.stop()
    with behind_its_back(hub.data) as connection:
        (known,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute(f"PRAGMA user_version = {known + 1}")

    sentence = refusal(hub.data, exit_code=STORAGE)

    assert f"schema version {known + 1}, written by a newer rookery" in sentence
    assert "Upgrade rookery" in sentence


def test_a_file_that_is_no_database_is_refused(hub: HubProcess) -> None:
    hub.stop()
    for file in hub.data.glob(f"{DATABASE}*"):
        file.unlink()
    (hub.data / DATABASE).write_bytes(b"something else " * 1000)
    assert "is damaged" in refusal(hub.data, exit_code=STORAGE)


async def test_a_hub_whose_log_lost_acknowledged_writes_is_refused_until_the_loss_is_accepted(
    board: Switchboard,
) -> None:
    ann, bob, _ = await one_message(board)
    kept = await cut_log(board, ann, bob)

    sentence = refusal(board.hub.data, exit_code=STORAGE)

    assert "was acknowledged up to position" in sentence
    assert "rook index rebuild" in sentence
    rebuild_index(board.hub)
    board.hub.start()
    assert len(await board.inbox(bob)) < kept
    await board.send(ann, bob, "life goes on")


async def cut_log(board: Switchboard, ann: Agent, bob: Agent) -> int:
    """Cut the log of a hub that was killed with its newest writes in there alone.

    A reader that still looks at an old state keeps them there. Returns how many messages were acknowledged.
    """
    database = board.hub.data / DATABASE
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        (acknowledged,) = reader.execute("SELECT count(*) FROM messages").fetchone()
        for _ in range(50):
            await board.send(ann, bob, "x" * 5_000)
            acknowledged += 1
        board.hub.kill9()
    log = database.with_name(f"{DATABASE}-wal")
    os.truncate(log, log.stat().st_size // 2)
    return acknowledged


def rebuild_index(hub: HubProcess) -> None:
    command = [sys.executable, "-m", "rookery.cli", "index", "rebuild", "--data", str(hub.data)]
    subprocess.run(command, env=hub.environment(), check=True, capture_output=True, timeout=PATIENCE)


# -- the door --------------------------------------------------------------------------------------------


def test_a_port_that_another_program_has_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        sentence = refusal(tmp_path / "data", "--port", str(port), exit_code=USAGE)
    assert f"127.0.0.1:{port}" in sentence
    assert "--port" in sentence


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_no_tokens_are_refused_on_an_address_that_others_can_reach(tmp_path: Path, host: str) -> None:
    sentence = refusal(tmp_path / "data", "--auth", "none", "--host", host, exit_code=USAGE)
    assert host in sentence
    assert "every caller the operator" in sentence
    assert not (tmp_path / "data").exists()
