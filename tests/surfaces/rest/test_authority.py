"""Who may call what: every route with every kind of token."""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from rookery.logs import configure_logs
from rookery.wire.errors import ERRORS
from rookery.wire.routes import BY_NAME, ROUTES
from tests.surfaces.served import Member, Served, ServedInThread, bearer, registered

CALLERS = ("nobody", "stranger", "owner", "other", "operator")
"""Without a token; with a wrong one; the agent that the call is about; another agent; the operator."""

EVERYBODY = (200, 200, 200, 200, 200)
ANY_TOKEN = (401, 401, 200, 200, 200)
OWNER_SEES = (401, 401, 200, 404, 200)
"""For another agent it does not exist."""
OWNER_ACTS = (401, 401, 200, 403, 200)
"""Another agent may know of it, and must leave it alone."""
NOT_FOR_ME = (401, 401, 200, 200, 400)
"""What agents do for themselves: the operator has to say whom it means."""
OPERATOR_ONLY = (401, 401, 403, 403, 200)

MATRIX = {
    "register_agent": ANY_TOKEN,
    "list_agents": ANY_TOKEN,
    "get_agent": ANY_TOKEN,
    "update_agent": OWNER_ACTS,
    "put_agent": OWNER_ACTS,
    "delete_agent": OWNER_ACTS,
    "heartbeat": OWNER_ACTS,
    "new_token": OPERATOR_ONLY,
    "revoke_tokens": OPERATOR_ONLY,
    "send_message": ANY_TOKEN,
    "queue_stats": ANY_TOKEN,
    "test_broadcast": ANY_TOKEN,
    "list_inbox": OWNER_SEES,
    "clear_inbox": OWNER_SEES,
    "unread_count": OWNER_SEES,
    "inbox_stats": OWNER_SEES,
    "claim_next": OWNER_SEES,
    "mark_read": OWNER_SEES,
    "read_message": OWNER_SEES,
    "claim_message": OWNER_SEES,
    "complete_message": OWNER_SEES,
    "get_message": OWNER_SEES,
    "get_thread": OWNER_SEES,
    "search": ANY_TOKEN,
    "create_channel": ANY_TOKEN,
    "list_channels": ANY_TOKEN,
    "get_channel": ANY_TOKEN,
    "channel_history": OWNER_ACTS,
    "join_channel": NOT_FOR_ME,
    "leave_channel": NOT_FOR_ME,
    "archive_channel": OWNER_ACTS,
    "contact": ANY_TOKEN,
    "list_asks": ANY_TOKEN,
    "conversation": ANY_TOKEN,
    "sleep": OWNER_ACTS,
    "wake": OWNER_ACTS,
    "list_tasks": ANY_TOKEN,
    "get_task": OWNER_SEES,
    "complete_task": OWNER_SEES,
    "cancel_task": OWNER_SEES,
    "list_rules": ANY_TOKEN,
    "set_rule": OPERATOR_ONLY,
    "remove_rule": OPERATOR_ONLY,
    "list_approvals": ANY_TOKEN,
    "get_approval": OWNER_SEES,
    "answer_approval": OPERATOR_ONLY,
    "events": ANY_TOKEN,
    "named_agents": ANY_TOKEN,
    "named_broadcast": ANY_TOKEN,
    "named_send": ANY_TOKEN,
    "named_update": OWNER_ACTS,
    "status": ANY_TOKEN,
    "prune": OPERATOR_ONLY,
    "export": OPERATOR_ONLY,
    "healthz": EVERYBODY,
    "metrics": ANY_TOKEN,
    "openapi": EVERYBODY,
    "docs": EVERYBODY,
    "front": EVERYBODY,
}


def test_every_route_is_in_the_matrix() -> None:
    assert set(MATRIX) == {route.name for route in ROUTES}


@dataclass
class World:
    """Two agents that nobody else knows, a third to write to, a message from the third to the first, and a channel
    of the first. The first was given a task by the third and gave it one, and something of its own waits for the
    operator."""

    hub: Served
    owner: Member
    other: Member
    third: Member
    message_id: str
    channel: str
    given: str
    taken: str
    approval: str

    def headers(self, caller: str) -> dict[str, str]:
        return {
            "nobody": {},
            "stranger": bearer("rook_ag_" + "x" * 43),
            "owner": self.owner.headers,
            "other": self.other.headers,
            "operator": self.hub.operator,
        }[caller]

    def call(self, http: httpx.Client, name: str, caller: str) -> httpx.Response:
        route = BY_NAME[name]
        target = self.third.id if name == "named_send" else self.owner.id
        path = route.path.replace("{agent}", target).replace("{message_id}", self.message_id)
        path = path.replace("{channel}", self.channel).replace("{approval}", self.approval)
        path = path.replace("{task}", self.given if name == "cancel_task" else self.taken)
        bodies: dict[str, Any] = {
            "send_message": {"to_agent_id": self.third.id, "content": "hello"},
            "mark_read": {"message_ids": [self.message_id]},
            "create_channel": {"name": f"{self.channel}-{caller}"},
            "named_broadcast": {"message": "hello"},
            "named_send": {"message": "hello"},
            "prune": {"older_than_seconds": 1e6},
            "contact": {"action": "notify", "agent": self.third.id, "message": "hello"},
            "sleep": {"seconds": 60},
            "set_rule": {"agent": self.owner.id, "target": self.third.id, "permission": "allow"},
            "answer_approval": {"decision": "deny"},
        }
        body = bodies.get(name, {}) if route.body is not None else None
        queries = {
            "search": {"q": "hello"},
            "remove_rule": {"agent": self.owner.id, "target": self.third.id},
        }
        query = queries.get(name, {})
        return http.request(route.method, path, json=body, params=query, headers=self.headers(caller))


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with ServedInThread(tmp_path_factory.mktemp("authority") / "data") as hub:
        yield hub


@pytest.fixture
def http(hub: Served) -> Iterator[httpx.Client]:
    with hub.blocking_client(headers={}) as http:
        yield http


@pytest.fixture
def world(hub: Served) -> Iterator[World]:
    with hub.blocking_client() as operator:
        owner, other, third = [registered(operator) for _ in range(3)]
        body = {"to_agent_id": owner.id, "content": "hello"}
        sent = operator.post("/v1/agents/messages/send", json=body, headers=third.headers).json()
        made = operator.post("/v1/channels", json={"name": f"c-{owner.id}"}, headers=owner.headers)
        assert made.status_code == 200, made.text
        taken, given = order(operator, third, owner), order(operator, owner, third)
        about = {"agent": owner.id, "target": third.id}
        rule = about | {"permission": "allow", "requires_approval": True}
        assert operator.put("/v1/permissions", json=rule).status_code == 200
        said = {"to_agent_id": third.id, "content": "may I?"}
        held = operator.post("/v1/agents/messages/send", json=said, headers=owner.headers).json()["held"]
        assert operator.delete("/v1/permissions", params=about).json()["removed"] is True
        yield World(hub, owner, other, third, sent["message_id"], f"c-{owner.id}", given, taken, held)


def order(http: httpx.Client, by: Member, to: Member) -> str:
    body = {"action": "delegate", "agent": to.id, "message": "hello"}
    return http.post("/v1/contact", json=body, headers=by.headers).json()["task"]["task_id"]


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("name", MATRIX)
def test_each_caller_gets_what_it_may_have(http: httpx.Client, world: World, name: str, caller: str) -> None:
    wanted = MATRIX[name][CALLERS.index(caller)]
    answer = world.call(http, name, caller)
    assert answer.status_code == wanted, answer.text
    if wanted == 200:
        return
    code = answer.json()["error"]["code"]
    assert (ERRORS[code].http, answer.json()["ok"]) == (wanted, False)
    assert code in BY_NAME[name].error_codes()
    if wanted == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
    if wanted == 403:
        last = http.get("/v1/events", params={"limit": 1}, headers=world.hub.operator).json()
        while last["more"]:
            after = {"after": last["position"], "limit": 1000}
            last = http.get("/v1/events", params=after, headers=world.hub.operator).json()
        refused = [e for e in last["events"] if e["type"] == "access_refused" and e["action"] == name][-1]
        assert refused["actor"] == (world.owner.id if caller == "owner" else world.other.id)
        assert refused["actor_token"].startswith("t-")


# -- how a token is said ---------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["Bearer {}", "bearer {}", "BEARER {}", "Bearer   {}"])
def test_a_token_is_said_in_the_authorization_header(http: httpx.Client, world: World, header: str) -> None:
    answer = http.get("/v1/agents", headers={"Authorization": header.format(world.owner.token)})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "header",
    ["{}", "Basic {}", "Token {}", "Bearer", "Bearer{}", "Bearer {}x", "Bearer x{}", "Bearer {} {}",
     "Bearer \xff", "", "Bearer rook_ag_"],
)  # fmt: skip
def test_anything_else_in_it_is_401(http: httpx.Client, world: World, header: str) -> None:
    value = header.format(world.owner.token, world.owner.token).encode("latin-1")
    answer = http.get("/v1/agents", headers=[(b"Authorization", value)])
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized")


@pytest.mark.parametrize("parameter", ["token", "access_token", "authorization", "api_key"])
def test_a_token_in_the_address_is_not_even_looked_at(http: httpx.Client, world: World, parameter: str) -> None:
    assert http.get("/v1/agents", params={parameter: world.owner.token}).status_code == 401
    named = http.get("/v1/agents", params={parameter: world.owner.token}, headers=world.owner.headers)
    assert named.status_code == 400
    assert world.owner.token not in named.text


def test_a_cookie_is_no_token(http: httpx.Client, world: World) -> None:
    cookie = {"Cookie": f"token={world.owner.token}; Authorization=Bearer {world.owner.token}"}
    assert http.get("/v1/agents", headers=cookie).status_code == 401


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_authorization_headers_none_is_taken(http: httpx.Client, world: World, order: int) -> None:
    both = [("Authorization", f"Bearer {token}") for token in (world.owner.token, "wrong")][::order]
    answer = http.get("/v1/agents", headers=both)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")


# -- tokens stay where they are --------------------------------------------------------------------------


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    """What the hub says on stderr when it is told to say everything."""
    root, own = (
        logging.getLogger(),
        [logging.getLogger(name) for name in ("httpx", "httpcore", "websockets.client")],
    )
    before = [(logger, logger.level) for logger in (root, logging.getLogger("uvicorn"), *own)]
    handlers = root.handlers[:]
    configure_logs("debug")
    for logger in own:
        logger.setLevel(logging.WARNING)  # the test's own connections
    yield capsys
    root.handlers[:] = handlers
    for logger, level in before:
        logger.setLevel(level)


def test_no_token_is_in_any_answer_but_the_one_that_made_it_nor_in_the_log(
    hub: Served, http: httpx.Client, world: World, log: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger("rookery").debug("the log is on")
    secrets = [hub.operator_token, world.owner.token, world.other.token, world.third.token]
    said: list[tuple[str, str]] = []
    last = ("revoke_tokens", "new_token", "delete_agent")
    for caller in CALLERS:
        for name in sorted(MATRIX, key=lambda each: each in last):
            if name in last and caller in ("owner", "operator"):
                continue
            answer = world.call(http, name, caller)
            if name not in ("register_agent", "new_token"):
                said.append((f"{name} for {caller}", f"{answer.headers} {answer.text}"))
    end = hub.hub.relay.position
    with connect(
        f"ws://{hub.host}/ws/agents?after=0", additional_headers=hub.operator, proxy=None, max_size=None
    ) as socket:
        position = 0
        while position < end:
            frame = str(socket.recv(timeout=20))
            said.append(("a frame", frame))
            position = json.loads(frame)["position"]
    written = log.readouterr().err
    assert "the log is on" in written
    said.append(("the log", written))
    assert len(said) > 150
    for where, text in said:
        for secret in secrets:
            assert secret not in text, where
            assert secret.removeprefix("rook_ag_").removeprefix("rook_op_") not in text, where
        assert "rook_ag_" not in text, where
