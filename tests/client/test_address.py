"""Finding the hub and the token for it."""

import json
from pathlib import Path

import pytest

from rookery.client import Directions, RookeryError
from rookery.client.address import checked_url


def a_hub_was_here(data: Path, url: str = "http://127.0.0.1:8311", auth: str = "token") -> Path:
    data.mkdir(parents=True, exist_ok=True)
    told = {"url": url, "pid": 1, "version": "0", "started_at": "", "auth": auth}
    (data / "hub.json").write_text(json.dumps(told))
    (data / "operator.token").write_text("rook_op_secret\n")
    return data


def test_arguments_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOKERY_URL", "http://10.0.0.1:1")
    monkeypatch.setenv("ROOKERY_TOKEN", "from-environment")
    address = Directions("http://10.0.0.2:2", "given").follow()
    assert (address.url, address.token, address.known) == ("http://10.0.0.2:2", "given", True)


def test_the_environment_wins_over_the_data_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROOKERY_DATA", str(a_hub_was_here(tmp_path / "data")))
    monkeypatch.setenv("ROOKERY_TOKEN", "from-environment")
    address = Directions().follow()
    assert (address.url, address.token) == ("http://127.0.0.1:8311", "from-environment")


def test_the_data_directory_names_the_hub_and_holds_its_token(tmp_path: Path) -> None:
    address = Directions(data=a_hub_was_here(tmp_path / "data")).follow()
    assert (address.url, address.token, address.known) == ("http://127.0.0.1:8311", "rook_op_secret", True)


def test_the_default_directory_is_the_users_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_DATA_HOME")
    a_hub_was_here(home / ".local" / "share" / "rookery")
    assert Directions().follow().url == "http://127.0.0.1:8311"


def test_without_a_trace_the_default_address_is_only_a_guess(tmp_path: Path) -> None:
    address = Directions(data=tmp_path).follow()
    assert (address.url, address.token, address.known) == ("http://127.0.0.1:8200", None, False)


@pytest.mark.parametrize(
    "elsewhere",
    ["http://192.0.2.1:8311", "https://127.0.0.1:8311", "http://127.0.0.1:9999", "http://evil.test:8311"],
)
def test_the_operator_token_goes_to_no_other_address_than_its_own_hub(elsewhere: str, tmp_path: Path) -> None:
    assert Directions(elsewhere, data=a_hub_was_here(tmp_path / "data")).follow().token is None


@pytest.mark.parametrize("same", ["http://localhost:8311", "http://[::1]:8311", "http://127.0.0.1:8311/"])
def test_another_name_of_the_same_place_is_the_same_hub(same: str, tmp_path: Path) -> None:
    assert Directions(same, data=a_hub_was_here(tmp_path / "data")).follow().token == "rook_op_secret"


def test_a_hub_without_tokens_is_sent_none(tmp_path: Path) -> None:
    assert Directions(data=a_hub_was_here(tmp_path / "data", auth="none")).follow().token is None


@pytest.mark.parametrize(
    "url",
    [
        "",
        "8200",
        "localhost:8200",
        "ftp://localhost",
        "http://",
        "http://h:99999",
        "http://u:p@h",
        "http://h/?q=1",
        "http://[::1",
        "http://h\x00",
    ],
)
def test_what_is_no_address_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(RookeryError, match=r"http://127\.0\.0\.1:8200") as refused:
        checked_url(url)
    assert refused.value.code == "invalid_request"


@pytest.mark.parametrize("token", ["two words", "tökn", "line\nbreak", "\x00"])
def test_what_is_no_token_is_refused_before_it_is_sent(token: str) -> None:
    with pytest.raises(RookeryError, match="no token"):
        Directions(token=token).follow()


def test_a_data_directory_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "hub.json").mkdir()
    with pytest.raises(RookeryError, match=str(tmp_path)) as refused:
        Directions(data=tmp_path).follow()
    assert refused.value.code == "storage_unavailable"


def test_a_half_written_trace_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / "hub.json").write_text('{"url": "http')
    assert not Directions(data=tmp_path).follow().known
