"""Everything that can be refused: its code, its data, its way out."""

import re

import pytest

from rookery.domain import errors
from rookery.domain.errors import RookeryError

SAMPLES: list[RookeryError] = [
    errors.SenderForged("fox", "owl"),
    errors.HostRefused("evil.example"),
    errors.OriginRefused("https://evil.example"),
    errors.AgentNotFound("ghost", ["fox", "owl"]),
    errors.AgentNotFound("ghost"),
    errors.ChannelNotFound("#ghost", ["#build", "#ops"]),
    errors.ChannelNotFound("#ghost"),
    errors.MessageNotFound("m1"),
    errors.MethodNotAllowed("PUT", "/v1/agents", ["GET", "POST"]),
    errors.NameTaken("builder"),
    errors.AlreadyClaimed("m1", "fox"),
    errors.AlreadyCompleted("m1", "done"),
    errors.IdempotencyConflict("k1"),
    errors.TooLarge("The body", 1_048_576),
    errors.UnsupportedMediaType("text/plain"),
    errors.RateLimited(1_500, "fox to owl"),
    errors.Overloaded("writes waiting"),
    errors.StorageFull("the data directory"),
    errors.TaskNotFound("task-7"),
    errors.ApprovalNotFound("k3m9"),
    errors.ApprovalAnsweredAlready("k3m9", "denied"),
    errors.ApprovalChanged("k3m9"),
    errors.NotPermitted("builder"),
    errors.TooDeep(3),
]

TO_THE_LETTER: dict[RookeryError, str] = {
    errors.TaskEndedAlready("task-7", "failed"): "task-7 is already failed; nothing is left to do on it.",
    errors.AgentUnavailable("builder"): (
        "agent unavailable: builder is offline. Use 'notify' to leave a message for it."
    ),
    errors.AskFailed("builder", "the tests are red."): "builder failed to respond: the tests are red.",
    errors.AskTimedOut("builder", 120): (
        "builder did not respond within 120 seconds. Consider using 'delegate' for async processing."
    ),
    errors.TooDeep(3): (
        "Maximum agent communication depth (3) reached. Use 'delegate' for async to avoid nesting."
    ),
    errors.TraceStopped("m1"): (
        "The operator stopped this exchange between agents; do something else, or wait until you are written to."
    ),
    errors.HubStopping(): ("The hub is stopping; what you wait for goes on when it is back. Ask again then."),
}
"""Sentences that models are told in just these words, or that have nothing to name."""


def every_error() -> list[type[RookeryError]]:
    found: list[type[RookeryError]] = []
    waiting = [RookeryError]
    while waiting:
        kind = waiting.pop()
        found.append(kind)
        waiting += kind.__subclasses__()
    return [kind for kind in found if kind.__module__ == errors.__name__]


def words_its_own_message(kind: type[RookeryError]) -> bool:
    return "__init__" in vars(kind) and kind is not RookeryError


def test_every_error_that_words_its_own_message_has_a_sample_here() -> None:
    sampled = {type(sample) for sample in (*SAMPLES, *TO_THE_LETTER)}
    assert sampled == {kind for kind in every_error() if words_its_own_message(kind)}


@pytest.mark.parametrize("kind", every_error())
def test_every_error_has_a_code_of_its_own(kind: type[RookeryError]) -> None:
    assert "code" in vars(kind)
    assert re.fullmatch("[a-z]+(_[a-z]+)*", kind.code)


def test_no_two_errors_share_a_code() -> None:
    codes = [kind.code for kind in every_error()]
    assert sorted(codes) == sorted(set(codes))


@pytest.mark.parametrize("sample", SAMPLES, ids=repr)
def test_a_message_names_the_trouble_and_then_the_way_out(sample: RookeryError) -> None:
    trouble, way_out = re.split(r"[;:.] ", sample.message, maxsplit=1)
    assert trouble[0].isupper() or trouble.startswith("/")
    assert len(way_out.split()) >= 3
    assert way_out.endswith(".")


@pytest.mark.parametrize("sample", SAMPLES, ids=repr)
def test_a_message_names_the_thing_it_is_about(sample: RookeryError) -> None:
    named = [value for value in sample.data.values() if isinstance(value, str | int)]
    assert any(re.search(re.escape(f"{value:,}" if isinstance(value, int) else value), sample.message)
               or str(value) in sample.message for value in named) or "PUT" in sample.message  # fmt: skip


@pytest.mark.parametrize(("sample", "message"), TO_THE_LETTER.items(), ids=lambda each: type(each).__name__)
def test_a_sentence_that_is_told_in_just_these_words(sample: RookeryError, message: str) -> None:
    assert str(sample) == sample.message == message


def test_the_message_is_what_the_exception_says() -> None:
    error = errors.Forbidden("You may not.", reason="rule")
    assert str(error) == error.message == "You may not."
    assert error.data == {"reason": "rule"}


def test_data_is_kept_for_programs() -> None:
    assert errors.AgentNotFound("ghost", ["fox"]).data == {"agent": "ghost", "available": ["fox"]}
    assert errors.ChannelNotFound("#ghost", ["#build"]).data == {"channel": "#ghost", "available": ["#build"]}
    assert errors.RateLimited(1_500, "fox").data == {"retry_after_ms": 1_500}
    assert errors.RateLimited(1_500, "fox").retry_after_ms == 1_500
    assert errors.Overloaded("writes", 20).data == {"retry_after_ms": 20}
    assert errors.TooLarge("It", 10).data == {"limit": 10}
    assert errors.TaskNotFound("task-7").data == {"task": "task-7"}
    assert errors.TaskEndedAlready("task-7", "failed").data == {"task": "task-7", "status": "failed"}
    assert errors.ApprovalNotFound("k3m9").data == {"approval": "k3m9"}
    assert errors.ApprovalAnsweredAlready("k3m9", "used").data == {"approval": "k3m9", "status": "used"}
    assert errors.ApprovalChanged("k3m9").data == {"approval": "k3m9"}
    assert errors.NotPermitted("fox").data == {"agent": "fox"}
    assert errors.TooDeep(3).data == {"depth": 3}
    assert errors.AgentUnavailable("fox").data == {"agent": "fox"}
    assert errors.AskFailed("fox", "it broke.").data == {"agent": "fox"}
    assert errors.AskTimedOut("fox", 120).data == {"agent": "fox", "seconds": 120}
    assert errors.TraceStopped("m1").data == {"trace": "m1"}
    assert errors.HubStopping().data == {}


def test_what_may_not_be_seen_is_caught_as_not_found() -> None:
    assert issubclass(errors.AgentNotFound, errors.NotFound)
    assert issubclass(errors.ChannelNotFound, errors.NotFound)
    assert issubclass(errors.MessageNotFound, errors.NotFound)
    assert issubclass(errors.TaskNotFound, errors.NotFound)
    assert issubclass(errors.ApprovalNotFound, errors.NotFound)


def test_a_refusal_to_speak_as_another_is_a_kind_of_forbidden() -> None:
    assert issubclass(errors.SenderForged, errors.Forbidden)


def test_what_a_rule_of_the_operators_forbids_is_a_kind_of_forbidden() -> None:
    assert issubclass(errors.NotPermitted, errors.Forbidden)


@pytest.mark.parametrize(
    "kind",
    [errors.TaskEndedAlready, errors.ApprovalAnsweredAlready, errors.ApprovalChanged, errors.TooDeep,
     errors.AgentUnavailable, errors.TraceStopped],
)  # fmt: skip
def test_what_cannot_be_done_as_things_stand_is_a_kind_of_conflict(kind: type[RookeryError]) -> None:
    assert issubclass(kind, errors.Conflict)
