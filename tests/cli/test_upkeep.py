"""Keeping the data: rebuild, prune, take it out and put it in again, with a hub and without."""

import json
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery import Client
from tests.support.fixtures import HubFactory
from tests.support.hub_process import HubProcess
from tests.support.rook import Rook


@pytest.fixture
def rook(hub: HubProcess, tmp_path: Path) -> Rook:
    return Rook(hub.environment(), tmp_path)


@pytest.fixture
def operator(hub: HubProcess) -> Iterator[Client]:
    with Client(data=hub.data) as client:
        yield client


def a_finished_message(operator: Client) -> str:
    one, two = operator.register(name="alpha"), operator.register(name="beta")
    message_id = one.send(two.id, "the marzipan report").message_id
    two.complete(message_id, result="filed")
    return message_id


def test_an_export_made_by_the_hub_fills_a_new_one(
    rook: Rook, hub: HubProcess, operator: Client, tmp_path: Path
) -> None:
    message_id = a_finished_message(operator)
    backup = tmp_path / "backup.jsonl"
    assert "Wrote" in rook("export", str(backup)).out
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert str(hub.token) not in backup.read_text()
    assert rook.tried("export", str(backup)).code == 2
    rook("export", str(backup), "--force")
    loaded = rook("import", str(backup), "--data", str(tmp_path / "copy"), "--json").json
    assert loaded["records"] == len(backup.read_text().splitlines()) - 1  # the first line is about the rest
    with HubProcess(tmp_path / "copy") as copy, Client(data=copy.data) as other:
        assert other.message(message_id).message.content == "the marzipan report"
        assert [agent.name for agent in other.agents().agents] == ["alpha", "beta"]
    again = rook.tried("import", str(backup), "--data", str(tmp_path / "copy"))
    assert again.code != 0
    assert "holds data already" in again.err


def test_without_a_hub_the_files_are_exported_all_the_same(rook: Rook, hub: HubProcess, operator: Client) -> None:
    a_finished_message(operator)
    live = rook("export").out
    hub.stop()
    offline = rook("export", "-").out
    assert "the marzipan report" in offline
    assert live.splitlines() == offline.splitlines()[: len(live.splitlines())]
    assert all(json.loads(line)["record"] for line in offline.splitlines())


def test_an_import_comes_through_a_pipe_and_is_all_or_nothing(
    rook: Rook, hub: HubProcess, operator: Client, tmp_path: Path
) -> None:
    a_finished_message(operator)
    exported = rook("export").out
    assert rook.tried("import", "-", text=exported).code == 7  # this hub is running
    for cut in (exported[:-20], exported[: exported[:-1].rindex("\n") + 1], "", "{}\n", "[]\n", "no JSON\n"):
        broken = rook.tried("import", "-", "--data", "copy", text=cut)
        assert (broken.code, broken.out) == (2, ""), cut
    rook("import", "-", "--data", "copy", text=exported)


def test_old_finished_messages_are_pruned_by_the_hub_and_without_it(
    rook: Rook, hub: HubProcess, operator: Client
) -> None:
    first = a_finished_message(operator)
    operator.send("alpha", "still open")
    assert "Removed 0 messages." in rook("prune", "--older-than", "1h", "--yes").out
    refused = rook.tried("prune", "--older-than", "0s")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert rook("prune", "--older-than", "0s", "--folder", "dead", "--yes", "--json").json["pruned"] == 0
    assert rook("prune", "--older-than", "0s", "--yes", "--json").json["pruned"] == 1
    second = operator.send("beta", "another").message_id
    operator.complete(second, agent="beta")
    hub.stop()
    assert "Removed 1 message." in rook("prune", "--older-than", "0s", "--yes").out
    hub.start()
    assert operator.search("marzipan").count == 0
    assert operator.search("still open").count == 1
    assert rook.tried("read", first).code == 3


def test_the_index_is_made_anew_only_while_the_hub_is_stopped(
    rook: Rook, hub: HubProcess, operator: Client
) -> None:
    a_finished_message(operator)
    refused = rook.tried("index", "rebuild")
    assert (refused.code, "Stop it" in refused.err) == (7, True)
    hub.stop()
    assert "Checked 1 message" in rook("index", "rebuild").out
    assert rook("index", "rebuild", "--json").json["damaged"] == []
    hub.start()
    assert operator.search("marzipan").count == 1


def test_a_damaged_message_is_reported_by_the_rebuild(rook: Rook, hub: HubProcess, operator: Client) -> None:
    message_id = a_finished_message(operator)
    hub.stop()
    with sqlite3.connect(hub.data / "rookery.db") as database:
        database.execute("UPDATE messages SET content = 'forged'")
    database.close()
    done = rook.tried("index", "rebuild")
    assert done.code == 7
    assert "cannot be trusted" in done.err
    assert message_id in rook.tried("index", "rebuild", "--json").out


def test_each_store_is_recognised_by_its_data_and_not_mistaken_for_the_other(
    hub_factory: HubFactory, tmp_path: Path
) -> None:
    hub = hub_factory(store="maildir")
    rook = Rook(hub.environment(), tmp_path)
    with Client(data=hub.data) as operator:
        message_id = a_finished_message(operator)
    hub.stop()
    assert "Checked 1 message" in rook("index", "rebuild").out
    refused = rook.tried("up", "--port", "0", "--store", "sqlite")
    assert (refused.code, "maildir" in refused.err) == (2, True)
    exported = rook("export").out
    rook("import", "-", "--data", "as-sqlite", "--store", "sqlite", text=exported)
    assert (tmp_path / "as-sqlite" / "rookery.db").exists()
    assert message_id in rook("export", "--data", "as-sqlite").out
    assert rook("prune", "--older-than", "0s", "--yes", "--json").json["pruned"] == 1
    assert not (hub.data / "rookery.db").exists()


def test_data_that_is_not_there_is_not_made_by_looking_for_it(lonely: Rook, tmp_path: Path) -> None:
    for words in (("export",), ("index", "rebuild"), ("prune", "--older-than", "1d", "--yes")):
        done = lonely.tried(*words)
        assert (done.code, "--data" in done.err) == (3, True)
    assert not (tmp_path / "data").exists()
