"""The hub against its own OpenAPI document: Schemathesis with all of its checks finds nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, StopReason, events, from_schema

from rookery.wire.routes import ROUTES
from tests.surfaces.served import Served, ServedInThread, registered

EXAMPLES = 12
"""For each operation, besides those of the coverage phase, which are many more."""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    # Most of those who are asked here are no programs: nobody answers.
    with ServedInThread(tmp_path_factory.mktemp("contract") / "data", ask_patience=0.05, ask_grace=0.05) as hub:
        yield hub


def known(hub: Served) -> dict[str, list[str]]:
    """Agents, messages, channels, tasks and approvals that are there, so that more than refusals is seen. Some of
    each will end."""
    with hub.blocking_client() as http:
        agents = [registered(http, f"agent-{n}") for n in range(40)]
        send = "/v1/agents/messages/send"
        messages = [
            http.post(send, json={"to_agent_id": agent.id, "content": "walnut"}).json()["message_id"]
            for agent in agents
        ]
        channels = [f"channel-{n}" for n in range(40)]
        for channel in channels:
            http.post("/v1/channels", json={"name": channel, "members": [agent.id for agent in agents[:3]]})
            http.post(send, json={"to_agent_id": f"#{channel}", "content": "walnut"})
        order = {"action": "delegate", "message": "walnut"}
        tasks = [
            http.post("/v1/contact", json=order | {"agent": agent.id}).json()["task"]["task_id"]
            for agent in agents
        ]
        careful = registered(http, "careful", mode="supervised").headers
        approvals = [
            http.post(send, json={"to_agent_id": agent.id, "content": "walnut"}, headers=careful).json()["held"]
            for agent in agents
        ]
    return {
        "agents": [agent.name for agent in agents], "messages": messages, "channels": channels, "tasks": tasks,
        "approvals": approvals,
    }  # fmt: skip


def configuration(hub: Served, tmp_path: Path) -> SchemathesisConfig:
    words = known(hub)
    return SchemathesisConfig.from_dict(
        {
            "seed": 20261116,
            "continue-on-failure": True,
            "cache": {"enabled": False, "directory": str(tmp_path)},
            "base-url": hub.url,
            "headers": hub.operator,
            "checks": {"enabled": True},
            "operations": [
                {
                    "include-operation-id": "contact",
                    # A question that nobody answers is no failure of the hub.
                    "checks": {"not_a_server_error": {"expected-statuses": ["2xx", "4xx", "502", "504"]}},
                }
            ],
            "phases": {"enabled": True, "stateful": {"max-steps": 4}},
            "generation": {"mode": "all", "max-examples": EXAMPLES, "database": "none"},
            "dictionaries": {
                "agents": {"values": words["agents"]},
                "messages": {"values": words["messages"]},
                "channels": {"values": words["channels"]},
                "tasks": {"values": words["tasks"]},
                "approvals": {"values": words["approvals"]},
                "positions": {"values": [0, 1, LAST_POSITION]},
                # A test does not wait for a minute.
                "waits": {"values": [0, 0.01]},
            },
            "parameters": {
                "path.agent": {"dictionary": "agents", "probability": 0.6},
                "path.message_id": {"dictionary": "messages", "probability": 0.6},
                "path.channel": {"dictionary": "channels", "probability": 0.6},
                "path.task": {"dictionary": "tasks", "probability": 0.6},
                "path.approval": {"dictionary": "approvals", "probability": 0.6},
                "body.agent": {"dictionary": "agents", "probability": 0.6},
                "body.target": {"dictionary": "agents", "probability": 0.6},
                "query.target": {"dictionary": "agents", "probability": 0.6},
                "query.after": {"dictionary": "positions"},
                "query.wait": {"dictionary": "waits"},
            },
        }
    )


LAST_POSITION = 50
"""The hub has certainly come to this one."""


def makes_sense(context: Any, case: Any) -> bool:
    """What a schema cannot say. Each of these is refused, and each refusal has a test of its own."""
    body, query = (each if isinstance(each, dict) else {} for each in (case.body, case.query))
    if LAST_POSITION < number(query.get("after")) <= 2**62:
        return False  # a position is one that the journal has come to
    if 0.1 < number(query.get("wait")) <= 60:
        return False  # this one is not refused, but it would keep the test waiting
    if body.get("idempotency_key") is not None and "Idempotency-Key" in (case.headers or {}):
        return False  # two places for one key
    if odd(body.get("metadata")):
        return False  # the limits of texts and numbers hold at any depth
    if case.operation.path.endswith(("/join", "/leave")) and body.get("agent_id") is None:
        return False  # the operator is in every channel, and has to say whom it means
    if case.operation.path == "/v1/permissions" and case.method == "PUT":
        denied_with_approval = body.get("permission") == "deny" and body.get("requires_approval") is True
        return not denied_with_approval and body.get("agent") != body.get("target")  # a rule is about two
    target = body.get("to_agent_id", body.get("agent", (case.path_parameters or {}).get("agent")))
    sender = body.get("from_agent_id", body.get("sender"))
    return target is None or sender is None or target != sender  # nobody writes to itself


def number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0.0


def odd(value: Any) -> bool:
    match value:
        case str():
            return "\0" in value
        case int():
            return not -(2**63) <= value < 2**63
        case {**members}:
            return any(odd(key) or odd(member) for key, member in members.items())
        case [*members]:
            return any(map(odd, members))
        case _:
            return False


def test_schemathesis_finds_nothing(hub: Served, tmp_path: Path) -> None:
    document = httpx.get(f"{hub.url}/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document, config=configuration(hub, tmp_path))
    schema.hook("filter_case")(makes_sense)
    found: list[str] = []
    tested: set[str] = set()
    finished = None
    for event in from_schema(schema).execute():
        match event:
            case events.ScenarioFinished(recorder=recorder):
                tested |= {node.value.operation.label for node in recorder.cases.values()}
                found += [
                    f"{check.name}: {check.failure_info.failure}\n{check.failure_info.code_sample}"
                    for checks in recorder.checks.values()
                    for check in checks
                    if check.status == Status.FAILURE and check.failure_info
                ]
            case events.NonFatalError() | events.FatalError():
                found.append(repr(event))
            case events.EngineFinished():
                finished = event.stop_reason
            case _:
                pass
    assert not found, "\n\n".join(found[:20])
    assert finished == StopReason.COMPLETED
    assert tested == {f"{route.method} {route.path}" for route in ROUTES}
