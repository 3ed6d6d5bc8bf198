"""What must be true of the repository itself: its files, its lock, its layers."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Both are put together from parts, so that this file does not match itself.
MACHINE_PATH = re.compile(r"(?<![\w.$~*<>{}-])/(?:work|root|farm)/")
REGISTRY_HOST = re.compile(
    "|".join(
        re.escape(".".join(labels))
        for labels in (
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("npmjs", "org"),
            ("yarnpkg", "com"),
            ("deb", "debian", "org"),
            ("security", "debian", "org"),
            ("archive", "ubuntu", "com"),
            ("security", "ubuntu", "com"),
            ("alpinelinux", "org"),
            ("crates", "io"),
        )
    ),
    re.IGNORECASE,
)

LOCKED_PACKAGE = re.compile(
    r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)==[\w.!+]+(?: ; [^\\#]+?)?(?: --hash=sha256:[0-9a-f]{64})+"
)
MADE_BY_TOOLS = {".git", ".venv", ".venv-lock", "__pycache__", "build", "dist", "node_modules"}


def files() -> Iterator[Path]:
    """Every file that is, or is about to be, part of the repository."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        names = ""
    if names:
        yield from (path for name in names.split("\0") if name and (path := ROOT / name).is_file())
        return
    for folder, subfolders, here in os.walk(ROOT):
        subfolders[:] = [
            name for name in subfolders if name not in MADE_BY_TOOLS and not name.endswith(("_cache", ".egg-info"))
        ]
        yield from (Path(folder, name) for name in here)


def lines_matching(pattern: re.Pattern[str]) -> list[str]:
    found: list[str] = []
    for path in files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # not a text file
        found += [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
            for number, line in enumerate(text.splitlines(), start=1)
            if pattern.search(line)
        ]
    return found


def locked_packages() -> list[str]:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return re.sub(r" \\\n\s+", " ", text).splitlines()


def test_the_repository_is_not_empty() -> None:
    assert Path(__file__) in set(files())


def test_no_file_names_a_path_of_one_machine() -> None:
    assert lines_matching(MACHINE_PATH) == []


def test_no_file_names_a_package_registry() -> None:
    assert lines_matching(REGISTRY_HOST) == []


def test_the_lock_holds_exact_versions_with_hashes_and_nothing_else() -> None:
    assert [line for line in locked_packages() if not LOCKED_PACKAGE.fullmatch(line)] == []


def test_the_lock_covers_every_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = chain(project["dependencies"], *project["optional-dependencies"].values())
    names = {re.split(r"[^A-Za-z0-9-]", requirement, maxsplit=1)[0].lower() for requirement in declared}
    locked = {line.partition("==")[0] for line in locked_packages()}
    assert names - {project["name"]} <= locked


def test_imports_keep_to_the_architecture() -> None:
    lint_imports = Path(sys.executable).with_name("lint-imports")
    lint = subprocess.run([lint_imports, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert lint.returncode == 0, lint.stdout + lint.stderr


def test_the_licence_is_mit() -> None:
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert licence.startswith("MIT License\n")
    assert "Permission is hereby granted, free of charge" in licence


def test_the_readme_says_how_to_start_and_how_to_test() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make up" in readme
    assert "make test" in readme
