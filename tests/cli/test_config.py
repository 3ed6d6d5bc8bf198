"""Settings: each layer wins over the one before it, and whatever is wrong is named with its place."""

from dataclasses import fields
from pathlib import Path

import pytest

from rookery.config import Settings, allowed, descriptions, load
from rookery.domain.errors import InvalidRequest
from tests.support.rook import Rook


def a_file(directory: Path, text: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "rookery.toml"
    path.write_text(text)
    return path


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = a_file(tmp_path, "port = 1001\nhost = '127.0.0.2'\nlog_level = 'debug'\n")
    loaded = load(
        flags={"port": 1003, "auth": None},
        environ={"ROOKERY_PORT": "1002", "ROOKERY_HOST": "127.0.0.3"},
        directory=tmp_path,
    )
    settings, sources = loaded.settings, loaded.sources
    assert (settings.port, settings.host, settings.log_level, settings.auth) == (
        1003,
        "127.0.0.3",
        "debug",
        "token",
    )
    assert (sources["port"], sources["host"]) == ("flag", "ROOKERY_HOST")
    assert (sources["log_level"], sources["auth"]) == (str(file), "default")


def test_the_file_of_the_current_directory_comes_before_that_of_the_data(tmp_path: Path) -> None:
    a_file(tmp_path / "data", "port = 1001\n")
    environ = {"ROOKERY_DATA": str(tmp_path / "data")}
    assert load(environ=environ, directory=tmp_path).settings.port == 1001
    a_file(tmp_path, "port = 1002\n")
    assert load(environ=environ, directory=tmp_path).settings.port == 1002
    other = tmp_path / "other.toml"
    other.write_text("port = 1003\n")
    assert load(environ=environ, directory=tmp_path, file=other).settings.port == 1003
    assert load(environ=environ | {"ROOKERY_CONFIG": str(other)}, directory=tmp_path).settings.port == 1003


def test_every_setting_can_come_from_every_layer(tmp_path: Path) -> None:
    defaults = Settings()
    for field in fields(Settings):
        value = getattr(defaults, field.name)
        text = ",".join(value) if isinstance(value, tuple) else str(value)
        loaded = load(environ={f"ROOKERY_{field.name.upper()}": text or "localhost:1"}, directory=tmp_path)
        assert loaded.sources[field.name] == f"ROOKERY_{field.name.upper()}"
        assert descriptions()[field.name].endswith(".")
        assert allowed(field.name)


def test_lists_and_paths_are_read_from_both(tmp_path: Path) -> None:
    a_file(tmp_path, "allowed_hosts = ['hub.test:443']\ndata = 'below'\n")
    settings = load(environ={}, directory=tmp_path).settings
    assert settings.allowed_hosts == ("hub.test:443",)
    assert settings.data == tmp_path / "below"
    environ = {"ROOKERY_ALLOWED_HOSTS": "a.test:1, b.test:2,", "ROOKERY_DATA": "~/there"}
    settings = load(environ=environ, directory=tmp_path).settings
    assert settings.allowed_hosts == ("a.test:1", "b.test:2")
    assert settings.data == Path("~/there").expanduser()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 1", "no setting 'prot'. Did you mean port"),
        ("port = '8200'", "port is '8200'; it must be a whole number from 0 up to 65535"),
        ("port = 65536", "65535"),
        ("port = true", "port"),
        ("store = 'cloud'", "'sqlite' or 'maildir'"),
        ("allowed_hosts = 'one'", "a list of texts"),
        ("sweep_every = 0", "above 0"),
        ("sweep_every = nan", "above 0"),
        ("[hub]\nport = 1", "no setting 'hub'"),
        ("port = ", "not TOML"),
        ("host = ''", "not empty"),
    ],
)
def test_what_is_wrong_in_the_file_is_named_with_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    path = a_file(tmp_path, text)
    with pytest.raises(InvalidRequest) as refused:
        load(environ={}, directory=tmp_path)
    assert said in refused.value.message
    assert str(path) in refused.value.message


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("ROOKERY_PROT", "1", "Did you mean ROOKERY_PORT?"),
        ("ROOKERY_PORT", "many", "ROOKERY_PORT is 'many'; it must be a whole number"),
        ("ROOKERY_AUTH", "off", "'token' or 'none'"),
        ("ROOKERY_CONFIG", "/nowhere.toml", "/nowhere.toml"),
    ],
)
def test_what_is_wrong_in_the_environment_is_named_with_the_variable(
    tmp_path: Path, variable: str, text: str, said: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        load(environ={variable: text}, directory=tmp_path)
    assert said in refused.value.message


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "127.0.0.1.evil.test", "hub.test"])
def test_no_tokens_means_this_machine_only(host: str) -> None:
    with pytest.raises(InvalidRequest, match="--auth token"):
        load(flags={"auth": "none", "host": host}, environ={})


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_no_tokens_are_needed_on_a_loopback(host: str) -> None:
    assert load(flags={"auth": "none", "host": host}, environ={}).settings.auth == "none"


def test_the_command_shows_each_setting_and_its_source(lonely: Rook, tmp_path: Path) -> None:
    a_file(tmp_path, "port = 1001\n")
    said = lonely("config", ROOKERY_LOG_LEVEL="debug").out
    rows = {line.split()[0]: line.split()[1:] for line in said.splitlines()[1:] if line}
    assert rows["port"] == ["1001", str(tmp_path / "rookery.toml")]
    assert rows["log_level"] == ["debug", "ROOKERY_LOG_LEVEL"]
    assert rows["auth"] == ["token", "default"]
    told = lonely("config", "--json").json
    assert told["settings"]["port"] == {"value": 1001, "source": str(tmp_path / "rookery.toml")}
    assert set(told["settings"]) == {field.name for field in fields(Settings)}
    assert "a whole number" in lonely("config", "--explain").out


def test_the_page_about_settings_says_of_each_what_the_code_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    for field in fields(Settings):
        value = getattr(Settings(), field.name)
        default = "~/.local/share/rookery" if field.name == "data" else value or "none"
        meaning = descriptions()[field.name]
        assert f"| `{field.name}` | {default} | {allowed(field.name).replace(chr(39), '`')} | {meaning} |" in page


def test_the_settings_of_the_hub_do_not_disturb_clients(lonely: Rook) -> None:
    done = lonely.tried("agents", ROOKERY_PORT="many", ROOKERY_URL="http://127.0.0.1:9")
    assert done.code == 8
