"""A hub that many tests share: quick, and proof that none of them wore it down."""

from collections.abc import Iterator

import httpx
import pytest

from tests.surfaces.served import Member, Served, ServedInThread, registered


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    # Nobody answers here: a made-up question must not keep a test waiting.
    with ServedInThread(tmp_path_factory.mktemp("shared") / "data", ask_patience=0.1) as hub:
        yield hub
        with hub.blocking_client() as http:
            assert http.get("/healthz").json()["ok"] is True


@pytest.fixture
def operator(shared: Served) -> Iterator[httpx.Client]:
    with shared.blocking_client() as http:
        yield http


@pytest.fixture(scope="module")
def one(shared: Served) -> Member:
    with shared.blocking_client() as http:
        return registered(http, "one")


@pytest.fixture(scope="module")
def other(shared: Served) -> Member:
    with shared.blocking_client() as http:
        return registered(http, "other")
