"""Failures: one clear sentence on stderr, an exit code of their own, never a traceback."""

import json
import subprocess
from pathlib import Path

import pytest

from rookery import Client
from tests.support.hub_process import HubProcess
from tests.support.rook import ROOK, Rook

NOWHERE = "http://127.0.0.1:9"


def test_no_hub_is_exit_8_and_says_how_to_start_one(lonely: Rook) -> None:
    done = lonely.tried("agents", ROOKERY_URL=NOWHERE)
    assert (done.code, done.out) == (8, "")
    assert done.err.startswith("rook: ")
    assert "`rook up`" in done.err
    assert len(done.err.splitlines()) == 1


def test_a_failure_is_json_for_programs(rook: Rook) -> None:
    done = rook.tried("send", "nobody-at-all", "hi", "--json")
    assert (done.code, done.out) == (3, "")
    told = json.loads(done.err)
    assert told["ok"] is False
    assert told["error"]["code"] == "agent_not_found"
    usage = rook.tried("send", "--json")
    assert json.loads(usage.err)["error"]["code"] == "invalid_request"
    assert usage.code == 2


def test_each_kind_of_refusal_has_its_exit_code(rook: Rook, shared_hub: HubProcess) -> None:
    with Client(data=shared_hub.data) as operator:
        name = operator.register().name
    assert rook.tried("register", "--name", name).code == 4
    assert rook.tried("register", "--name", "operator").code == 2
    assert rook.tried("read", "01k9z4v7q8r2s3t4v5w6x7y8z9").code == 3
    assert rook.tried("agents", ROOKERY_TOKEN="rook_ag_wrong").code == 5
    assert rook.tried("send", name, "x", "--as", "nobody-at-all").code == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("send", "x", "y", "--priority", "loud"), "priority"),
        (("send", "x", "y", "--ttl", "soon"), "--ttl"),
        (("inbox", "--limit", "0"), "limit"),
        (("inbox", "--limit", "many"), "limit"),
        (("inbox", "--folder", "trash"), "folder"),
        (("agents", "surplus"), "surplus"),
        (("read",), "MESSAGE_ID"),
        (("prune",), "--older-than"),
        (("prune", "--older-than", "30d", "--folder", "trash", "--yes"), "new, cur, done or dead"),
        (("agents", "--url", "localhost:8200"), "address of a hub"),
        (("agents", "--token-file", "missing"), "missing"),
        (("send", "x", ""), "empty"),
        (("up", "--port", "99999"), "port"),
        (("up", "--port", "http"), "port"),
        (("up", "--store", "cloud"), "store"),
        (("up", "--auth", "none", "--host", "0.0.0.0"), "--auth token"),
        (("up", "--config", "missing.toml"), "missing.toml"),
        (("watch", "--since", "yesterday"), "--since"),
        (("import", "missing.jsonl"), "missing.jsonl"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_exit_2_and_names_what_is_wrong(words: tuple[str, ...], said: str, lonely: Rook) -> None:
    done = lonely.tried(*words)
    assert done.code == 2
    assert said in done.err
    assert done.out == ""


@pytest.mark.parametrize("content", [b"\xff\xfe", b""], ids=["not UTF-8", "nothing"])
def test_what_is_no_text_is_not_sent(content: bytes, lonely: Rook) -> None:
    done = lonely.tried("send", "x", text=content)
    assert done.code == 2


def test_a_token_file_with_more_than_a_token_is_refused(rook: Rook, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("two words\n")
    done = rook.tried("agents", "--token-file", "t")
    assert (done.code, "holds no token" in done.err) == (2, True)


def test_a_reader_that_has_seen_enough_is_no_error(rook: Rook, shared_hub: HubProcess) -> None:
    with Client(data=shared_hub.data) as operator:
        target = operator.register()
        for _ in range(20):
            operator.send(target.id, "x" * 20_000)
    command = f"{ROOK} inbox {target.id} | head -c 8"
    done = subprocess.run(["bash", "-c", command], env=dict(rook.env), capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


def test_a_bug_is_owned_up_to_without_a_traceback(lonely: Rook, tmp_path: Path) -> None:
    # A data directory that is a file: nothing foresees it at this place.
    (tmp_path / "file").write_text("")
    done = lonely.tried("token", "--data", "file/below")
    assert "Traceback" not in done.err
    done = lonely.tried("status", ROOKERY_DATA=str(tmp_path / "file"), ROOKERY_URL=NOWHERE)
    assert done.code == 8


def test_words_of_the_hub_in_an_error_are_made_safe(rook: Rook) -> None:
    done = rook.tried("send", "nob\x1b[31mody", "hi")
    assert "\x1b" not in done.err
    assert done.code in (2, 3)
