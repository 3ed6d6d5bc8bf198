"""When a call is repeated, and when it must not be: driven by hand, so that minutes take no time."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rookery.client import Directions, RookeryError, agents, contact, inbox, messages
from rookery.client.exchange import Answer, Lost, Pause, Reply, Request, Session, Steps
from rookery.domain.errors import (
    AskFailed,
    AskTimedOut,
    HubStopping,
    HubUnreachable,
    NameTaken,
    RateLimited,
    StorageFull,
)
from rookery.wire.errors import error_response

REFUSED = Lost("connection refused", arrived=False)
BROKEN = Lost("no answer in time", arrived=True)
SENT = {"ok": True, "message_id": "m1", "delivered": False, "queued": True, "timestamp": "t"}
NOTHING_OPEN = {"ok": True, "agent_id": "swift-fox", "message": None}
REGISTERED = {"ok": True, "agent_id": "a", "name": "a", "role": "worker", "token": "t", "message": "m"}


def ok(body: Any) -> Reply:
    return Reply(200, msgspec.json.encode(body))


def refusal(error: RookeryError, status: int) -> Reply:
    return Reply(status, msgspec.json.encode(error_response(error)))


class Network:
    """Answers each request with the next of the given answers; time passes only in pauses."""

    def __init__(self, *answers: Answer, known: bool = True, patience: float = 15.0) -> None:
        self.now = 0.0
        self.answers = list(answers)
        self.asked: list[Request] = []
        self.pauses: list[float] = []
        self.session = Session(
            Directions("http://127.0.0.1:1" if known else None, data=Path("/nowhere")),
            patience=patience,
            identity="swift-fox",
            clock=lambda: self.now,
            chance=lambda: 1.0,
        )

    def run(self, steps: Steps[Any]) -> Any:
        answer: Answer = None
        try:
            step = next(steps)
            while True:
                if isinstance(step, Pause):
                    self.pauses.append(step.seconds)
                    self.now += step.seconds
                    answer = None
                else:
                    self.asked.append(step)
                    answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                step = steps.send(answer)
        except StopIteration as end:
            return end.value


def test_a_send_is_repeated_with_the_same_key_until_an_answer_comes() -> None:
    network = Network(BROKEN, REFUSED, BROKEN, ok(SENT))
    assert network.run(messages.send(network.session, "builder", "hi")).message_id == "m1"
    keys = {msgspec.json.decode(request.call.content or b"")["idempotency_key"] for request in network.asked}
    assert len(network.asked) == 4
    assert len(keys) == 1


def test_two_sends_have_two_keys() -> None:
    network = Network(ok(SENT))
    for _ in range(2):
        network.run(messages.send(network.session, "builder", "hi"))
    first, second = (msgspec.json.decode(each.call.content or b"") for each in network.asked)
    assert first["idempotency_key"] != second["idempotency_key"]


def test_pauses_double_and_stay_below_a_limit() -> None:
    network = Network(REFUSED, patience=20.0)
    with pytest.raises(HubUnreachable):
        network.run(agents.agents(network.session))
    assert network.pauses[:6] == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6]
    assert max(network.pauses) == 2.0
    assert 17 < network.now <= 20


def test_pauses_are_spread_by_chance() -> None:
    network = Network(REFUSED, REFUSED, ok({"ok": True, "agents": [], "count": 0}))
    network.session.chance = lambda: 0.0
    network.run(agents.agents(network.session))
    assert network.pauses == [0.025, 0.05]


def test_a_hub_that_never_was_there_is_not_waited_for() -> None:
    network = Network(REFUSED, known=False)
    with pytest.raises(HubUnreachable, match="rook up"):
        network.run(agents.agents(network.session))
    assert network.pauses == []


def test_a_hub_that_was_there_is_waited_for_even_if_its_trace_is_gone() -> None:
    listing = ok({"ok": True, "agents": [], "count": 0})
    network = Network(listing, REFUSED, REFUSED, listing, known=False)
    network.run(agents.agents(network.session))
    network.run(agents.agents(network.session))
    assert len(network.pauses) == 2


@pytest.mark.parametrize(
    ("steps", "answer"),
    [
        (lambda s: agents.register(s, name="a"), REGISTERED),
        (inbox.claim, NOTHING_OPEN),
        (inbox.clear, {"ok": True, "agent_id": "a", "cleared": 0, "message": ""}),
        (lambda s: agents.new_token(s, "a"), {"ok": True, "agent_id": "a", "token": "t"}),
    ],
    ids=["register", "claim next", "clear all", "new token"],
)
def test_what_must_not_happen_twice_is_repeated_only_if_it_certainly_did_not_arrive(
    steps: Any, answer: Any
) -> None:
    network = Network(REFUSED, ok(answer))
    network.run(steps(network.session))
    assert len(network.asked) == 2
    network = Network(BROKEN, ok(answer))
    with pytest.raises(HubUnreachable):
        network.run(steps(network.session))
    assert len(network.asked) == 1


def test_a_claim_by_id_is_repeated() -> None:
    network = Network(BROKEN, ok(NOTHING_OPEN))
    network.run(inbox.claim(network.session, "m1"))
    assert len(network.asked) == 2


def test_a_rate_limit_is_waited_out_as_long_as_the_hub_says() -> None:
    network = Network(refusal(RateLimited(1500, "you"), 429), ok(REGISTERED))
    network.run(agents.register(network.session))
    assert network.pauses == [pytest.approx(1.505)]


def test_a_wait_beyond_the_patience_is_not_begun() -> None:
    network = Network(refusal(RateLimited(60_000, "you"), 429))
    with pytest.raises(RateLimited) as refused:
        network.run(messages.send(network.session, "builder", "hi"))
    assert refused.value.retry_after_ms == 60_000
    assert network.pauses == []


def test_a_full_disk_is_not_retried() -> None:
    network = Network(refusal(StorageFull("/data"), 507))
    with pytest.raises(StorageFull):
        network.run(messages.send(network.session, "builder", "hi"))
    assert len(network.asked) == 1


def test_a_refusal_comes_back_as_the_class_it_was_raised_with() -> None:
    network = Network(refusal(NameTaken("builder"), 409))
    with pytest.raises(NameTaken) as refused:
        network.run(agents.register(network.session, name="builder"))
    assert refused.value.code == "name_taken"
    assert refused.value.data == {"name": "builder"}
    assert "another agent" in refused.value.message


def test_a_refusal_that_this_version_does_not_know_is_still_told() -> None:
    body = {"ok": False, "error": {"code": "from_the_future", "message": "Not on Tuesdays.", "data": {}}}
    network = Network(Reply(418, msgspec.json.encode(body)))
    with pytest.raises(RookeryError, match="Not on Tuesdays"):
        network.run(agents.agents(network.session))


@pytest.mark.parametrize(
    "reply", [Reply(404, b"<html>"), Reply(200, b"<html>"), Reply(200, b"{}"), Reply(500, b"")]
)
def test_another_program_on_the_port_is_recognised(reply: Reply) -> None:
    network = Network(reply)
    with pytest.raises(HubUnreachable, match="no Rookery hub"):
        network.run(agents.agents(network.session))
    assert len(network.asked) == 1


def test_the_token_is_in_the_header_and_in_no_address() -> None:
    network = Network(ok(SENT))
    network.session.address = Directions("http://127.0.0.1:1", "rook_ag_secret").follow()
    network.run(messages.send(network.session, "builder", "hi"))
    (request,) = network.asked
    assert request.headers["Authorization"] == "Bearer rook_ag_secret"
    assert "secret" not in request.url


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_would_change_the_path_is_refused_here(name: str) -> None:
    network = Network(ok({}))
    with pytest.raises(RookeryError) as refused:
        network.run(agents.agent(network.session, name))
    assert refused.value.code == "invalid_request"
    assert network.asked == []


def test_names_are_quoted_in_the_path() -> None:
    network = Network(REFUSED, patience=0)
    with pytest.raises(HubUnreachable):
        network.run(agents.agent(network.session, "a/../b?c#d é"))
    assert network.asked[0].call.path == "/v1/agents/a%2F..%2Fb%3Fc%23d%20%C3%A9"


# -- calls that the hub holds ----------------------------------------------------------------------------

ANSWERED = {
    "ok": True, "status": "notified", "text": "t", "agent_id": "a", "message_id": "m", "task": None,
    "answer": None, "approval": None,
}  # fmt: skip


def test_a_question_is_repeated_under_its_own_key() -> None:
    network = Network(BROKEN, refusal(HubStopping(), 503), REFUSED, ok(ANSWERED))
    network.run(contact.ask(network.session, "builder", "how many?"))
    network.run(contact.ask(network.session, "builder", "how many?"))
    keys = [request.headers["Idempotency-Key"] for request in network.asked]
    assert len(keys) == 5
    assert len(set(keys[:4])) == 1
    assert keys[4] != keys[0]


def test_a_question_is_waited_for_as_long_as_it_may_take_and_some_more() -> None:
    network = Network(ok(ANSWERED))
    network.run(contact.ask(network.session, "builder", "how many?", timeout=90))
    network.run(contact.notify(network.session, "builder", "how many!"))
    assert [request.call.patient for request in network.asked] == [95.0, 0.0]


@pytest.mark.parametrize("first", [BROKEN, refusal(HubStopping(), 503)], ids=["broken off", "sent away"])
def test_a_hub_that_goes_away_with_the_question_is_waited_for_longer(first: Answer) -> None:
    network = Network(first, REFUSED, patience=3.0)
    with pytest.raises(HubUnreachable):
        network.run(contact.ask(network.session, "builder", "how many?", timeout=60))
    assert 60 < network.now <= 68


def test_a_hub_that_never_got_the_question_is_not_waited_for_any_longer() -> None:
    network = Network(REFUSED, patience=3.0)
    with pytest.raises(HubUnreachable):
        network.run(contact.ask(network.session, "builder", "how many?", timeout=60))
    assert network.now <= 3


@pytest.mark.parametrize(
    ("error", "status"),
    [(AskTimedOut("builder", 120), 504), (AskFailed("builder", "it crashed"), 502)],
    ids=["no answer in time", "no answer"],
)
def test_what_the_hub_says_of_an_agent_is_not_taken_for_trouble_on_the_way(
    error: RookeryError, status: int
) -> None:
    network = Network(refusal(error, status))
    with pytest.raises(type(error)):
        network.run(contact.ask(network.session, "builder", "how many?"))
    assert len(network.asked) == 1


@pytest.mark.parametrize("status", [502, 503, 504])
def test_trouble_on_the_way_is_tried_again(status: int) -> None:
    network = Network(Reply(status, b"<html>"), ok(ANSWERED))
    network.run(contact.ask(network.session, "builder", "how many?"))
    assert len(network.asked) == 2
