"""The one table: what was measured, against what, and whether the ratio is what we aim at."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Literal

Way = Literal["at least", "at most"]
_SIGNS: dict[Way, str] = {"at least": "≥", "at most": "≤"}
_HEADS = ("what", "figure", "against", "ratio", "aim", "ok?", "rounds")


@dataclass(frozen=True, slots=True)
class Aim:
    """A bound on the ratio, or on the figure itself in its own unit."""

    way: Way
    value: float
    unit: str = "x"

    def holds(self, value: float) -> bool:
        return value >= self.value if self.way == "at least" else value <= self.value

    def __str__(self) -> str:
        return f"{_SIGNS[self.way]} {self.value:g}{self.unit if self.unit == 'x' else ' ' + self.unit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`values` are the plain numbers behind the texts, for `--json`."""

    measure: str
    what: str
    figure: str
    against: str
    ratio: float | None
    rounds: int
    aim: str = ""
    ok: bool | None = None
    values: dict[str, float] = field(default_factory=dict[str, float])

    def cells(self) -> tuple[str, ...]:
        verdict = "" if self.ok is None else "yes" if self.ok else "NO"
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}x"
        return self.what, self.figure, self.against, ratio, self.aim, verdict, str(self.rounds)

    def as_json(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two things measured in the same rounds."""

    ours: Sequence[float]
    theirs: Sequence[float]

    @property
    def figure(self) -> float:
        return median(self.ours)

    @property
    def against(self) -> float:
        return median(self.theirs)

    @property
    def ratio(self) -> float:
        """The median of the rounds' own ratios: what drifts from round to round cancels out."""
        return median(a / b for a, b in zip(self.ours, self.theirs, strict=True))


def in_turn(rounds: int, *subjects: Callable[[], float]) -> list[list[float]]:
    """Measure each subject once a round, so that a disturbance of the machine meets all of them; every other
    round goes backwards, so that none is always the first."""
    found: list[list[float]] = [[] for _ in subjects]
    for number in range(rounds):
        order = list(enumerate(subjects))
        for which, subject in order if number % 2 == 0 else reversed(order):
            found[which].append(subject())
    return found


def rendered(lines: Sequence[Line]) -> str:
    rows = [_HEADS, *(line.cells() for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    ruled = [rows[0], tuple("-" * width for width in widths), *rows[1:]]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in ruled
    )


def millis(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


def per_second(rate: float, what: str) -> str:
    return f"{rate:,.0f} {what}/s"
