"""Asks: questions that somebody waits for the answer to."""

from dataclasses import dataclass, replace
from typing import Literal

AskState = Literal["open", "answered", "failed", "timed_out", "abandoned"]

DEEPEST = 3
"""Questions within questions: whoever answers at this depth may not ask in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """`message_id` is the question. `depth` is that of whoever answers it. It ends once, and stays as it ended:
    `answer_id` is the message that answered, `error` why none could."""

    message_id: str
    asker: str
    target: str
    depth: int
    asked_at: int
    deadline: int
    state: AskState = "open"
    answer_id: str | None = None
    error: str | None = None
    ended_at: int | None = None

    @property
    def open(self) -> bool:
        return self.state == "open"

    @property
    def patience(self) -> int:
        """Whole seconds that the asker was willing to wait."""
        return max(1, round((self.deadline - self.asked_at) / 1000))

    def answered(self, at: int, answer_id: str) -> "Ask":
        return replace(self, state="answered", answer_id=answer_id, ended_at=at)

    def failed(self, at: int, error: str) -> "Ask":
        return replace(self, state="failed", error=error, ended_at=at)

    def timed_out(self, at: int) -> "Ask":
        return replace(self, state="timed_out", ended_at=at)

    def abandoned(self, at: int) -> "Ask":
        return replace(self, state="abandoned", ended_at=at)
