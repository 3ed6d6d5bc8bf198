"""`rook connect`: one entry in somebody else's configuration, and nothing else."""

import json
import tomllib
from pathlib import Path

import pytest

from rookery.cli.entries import connecting, place_of, undoing
from rookery.domain.errors import InvalidRequest
from tests.support.rook import Rook

COMMAND = ["rook", "mcp", "--name", "builder"]
CLAUDE = {"numStartups": 3, "mcpServers": {"other": {"command": "x"}}, "näme": "ü"}
CODEX = """\
# mine
model = "gpt"

[mcp_servers.other]
command = "x"

[profiles.fast]
model = "mini"
"""


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_claude_gets_its_entry_and_keeps_everything_else(tmp_path: Path) -> None:
    path = written(tmp_path / ".claude.json", json.dumps(CLAUDE))
    connecting("claude", path, COMMAND).make()
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["mcpServers"].pop("rookery") == {
        "type": "stdio", "command": "rook", "args": ["mcp", "--name", "builder"],
    }  # fmt: skip
    assert found == CLAUDE


def test_codex_gets_its_entry_and_every_other_line_stays_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path / "config.toml", CODEX)
    connecting("codex", path, COMMAND).make()
    text = path.read_text()
    assert text.startswith(CODEX)
    assert tomllib.loads(text)["mcp_servers"]["rookery"] == {
        "command": "rook", "args": ["mcp", "--name", "builder"],
        "default_tools_approval_mode": "approve", "tool_timeout_sec": 900,
        "env_vars": ["ROOKERY_DATA", "ROOKERY_URL", "ROOKERY_TOKEN", "ROOKERY_AGENT", "XDG_DATA_HOME"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("program", "before"), [("claude", json.dumps(CLAUDE, indent=2) + "\n"), ("codex", CODEX)]
)
def test_what_was_connected_can_be_undone_without_a_trace(tmp_path: Path, program: str, before: str) -> None:
    path = written(tmp_path / "settings", before)
    connecting(program, path, COMMAND).make()  # type: ignore[arg-type]
    undoing(program, path).make()  # type: ignore[arg-type]
    after = path.read_text(encoding="utf-8")
    if program == "codex":
        assert after == before
    else:
        assert json.loads(after) == json.loads(before)


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_a_file_that_held_nothing_else_goes_with_its_entry(tmp_path: Path, program: str) -> None:
    path = tmp_path / "deep" / "settings"
    connecting(program, path, COMMAND).make()  # type: ignore[arg-type]
    assert path.stat().st_mode & 0o777 == 0o600
    undoing(program, path).make()  # type: ignore[arg-type]
    assert not path.exists()


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_connecting_twice_changes_nothing_and_another_command_replaces_the_first(
    tmp_path: Path, program: str
) -> None:
    path = tmp_path / "settings"
    connecting(program, path, COMMAND).make()  # type: ignore[arg-type]
    assert not connecting(program, path, COMMAND).needed  # type: ignore[arg-type]
    other = connecting(program, path, ["rook", "mcp"])  # type: ignore[arg-type]
    assert other.needed
    other.make()
    assert "builder" not in path.read_text()
    assert path.read_text().count("rookery") == 1


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_undoing_where_nothing_is_changes_nothing(tmp_path: Path, program: str) -> None:
    assert not undoing(program, tmp_path / "settings").needed  # type: ignore[arg-type]
    path = written(tmp_path / "settings", '{"a": 1}' if program == "claude" else "a = 1\n")
    assert not undoing(program, path).needed  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("claude", "{"), ("claude", "[]"), ("claude", '{"mcpServers": []}'), ("codex", "a ="),
        ("codex", 'mcp_servers = "x"'), ("codex", 'mcp_servers = { rookery = { command = "x" } }'),
    ],
)  # fmt: skip
def test_a_file_that_is_not_understood_is_left_alone(tmp_path: Path, program: str, text: str) -> None:
    path = written(tmp_path / "settings", text)
    with pytest.raises(InvalidRequest, match="left as it is"):
        connecting(program, path, COMMAND)  # type: ignore[arg-type]
    assert path.read_text() == text


def test_a_table_that_only_looks_like_ours_inside_a_text_is_not_cut(tmp_path: Path) -> None:
    text = 'note = """\n[mcp_servers.rookery]\ncommand = "x"\n"""\n'
    path = written(tmp_path / "config.toml", text)
    connecting("codex", path, COMMAND).make()
    assert path.read_text().startswith(text)
    with pytest.raises(InvalidRequest, match="left as it is"):
        undoing("codex", path)


def test_a_linked_file_is_changed_where_it_lies_and_keeps_its_mode(tmp_path: Path) -> None:
    real = written(tmp_path / "dotfiles" / "claude.json", "{}")
    real.chmod(0o640)
    link = tmp_path / ".claude.json"
    link.symlink_to(real)
    connecting("claude", link, COMMAND).make()
    assert link.is_symlink()
    assert "rookery" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in real.parent.iterdir()] == ["claude.json"]


def test_each_program_has_its_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert place_of("claude", project=None) == tmp_path / ".claude.json"
    assert place_of("codex", project=None) == tmp_path / ".codex" / "config.toml"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "c"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "x"))
    assert place_of("claude", project=None) == tmp_path / "c" / ".claude.json"
    assert place_of("codex", project=None) == tmp_path / "x" / "config.toml"
    assert place_of("claude", project=tmp_path) == tmp_path / ".mcp.json"
    assert place_of("codex", project=tmp_path) == tmp_path / ".codex" / "config.toml"


def test_the_change_is_shown_and_made_and_holds_no_secret(lonely: Rook, home: Path, tmp_path: Path) -> None:
    done = lonely("connect", "claude", "--yes")
    assert '+    "rookery": {' in done.out
    assert "rook_" not in (home / ".claude.json").read_text()
    project = lonely("connect", "claude", "--project", "--yes", "--json")
    assert project.json == {
        "program": "claude", "file": str(tmp_path / ".mcp.json"), "changed": True, "connected": True,
    }  # fmt: skip
    entry = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["rookery"]
    assert entry == {"type": "stdio", "command": "rook", "args": ["mcp", "--kind", "claude-code"]}
    undone = lonely("connect", "claude", "--undo", "--yes")
    assert undone.out.endswith("the entry is out.\n")


def test_without_a_yes_and_without_a_person_nothing_is_written(lonely: Rook, home: Path) -> None:
    refused = lonely.tried("connect", "codex")
    assert refused.code == 2
    assert "say --yes" in refused.err
    assert not (home / ".codex").exists()
