"""What holds for every test: a home of its own, and nothing left running behind it."""

import itertools
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import settings

pytest.register_assert_rewrite("rookery.testing")

# Derandomised, so that a change is never refused for an example that its author could not have met;
# `--hypothesis-profile=thorough` is for hunting.
settings.register_profile("quick", max_examples=100, derandomize=True, deadline=None, print_blob=False)
settings.register_profile("thorough", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile("quick")

XDG = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME")
GRACE = 2.0
"""Seconds in which what a test has stopped must be gone."""

_homes = itertools.count()


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """Fail a test that leaves a thread or a child process behind. What fixtures of a wider scope started
    was there before the test, and may stay."""
    threads, children = set(threading.enumerate()), set(_children())
    yield
    deadline = time.monotonic() + GRACE
    left = [thread for thread in threading.enumerate() if thread not in threads and not _of_the_tools(thread)]
    for thread in left:
        thread.join(max(0.0, deadline - time.monotonic()))
    left_threads = [thread.name for thread in left if thread.is_alive()]
    orphans = [child for child in _children() if child not in children and not _is_tracker(child)]
    _, orphans = psutil.wait_procs(orphans, timeout=max(0.0, deadline - time.monotonic()))
    left_children = [_described(orphan) for orphan in orphans]
    for orphan in orphans:
        orphan.kill()  # so that the tests after this one are not disturbed
    if left_threads or left_children:
        pytest.fail(f"left running: threads {left_threads}, processes {left_children}")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory; the user's own, and the ROOKERY_* settings, are out of reach of every test."""
    home = tmp_path_factory.getbasetemp() / f"home-{next(_homes)}"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for name in XDG:
        monkeypatch.setenv(name, str(home / name.lower()))
    for name in [name for name in os.environ if name.startswith("ROOKERY_")]:
        monkeypatch.delenv(name)
    return home


def _children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def _of_the_tools(thread: threading.Thread) -> bool:
    return thread.name.startswith(("pytest_timeout", "execnet", "pydevd"))


def _is_tracker(child: psutil.Process) -> bool:
    """Python's own: started at the first use of multiprocessing, kept until the end."""
    try:
        return any("multiprocessing.resource_tracker" in word for word in child.cmdline())
    except psutil.Error:
        return True  # gone meanwhile


def _described(child: psutil.Process) -> str:
    try:
        return f"{child.pid} {' '.join(child.cmdline())[:120]} ({child.status()})"
    except psutil.Error:
        return str(child.pid)
