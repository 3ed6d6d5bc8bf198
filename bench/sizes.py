"""How much is measured: enough to trust (full), to look (quick), or only to know that it runs (smoke)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """`few` and `many` are the stored messages between which growth is measured. Times are in seconds.

    `judged` is false where the figures are too small to mean anything.
    """

    rounds: int
    warm_up: float
    load: float
    alone: float
    listing: float
    pushes: int
    few: int
    many: int
    some: int
    maildir_few: int
    maildir_many: int
    listeners: int
    broadcasts: int
    starts: int
    askers: int
    judged: bool = True


FULL = Sizes(
    rounds=7, warm_up=1.0, load=2.0, alone=1.0, listing=0.7, pushes=400, few=10_000, many=1_000_000,
    some=100_000, maildir_few=1_000, maildir_many=100_000, listeners=1_000, broadcasts=10, starts=5,
    askers=200,
)  # fmt: skip
QUICK = Sizes(
    rounds=5, warm_up=0.5, load=1.0, alone=0.5, listing=0.4, pushes=200, few=2_000, many=50_000,
    some=20_000, maildir_few=500, maildir_many=5_000, listeners=300, broadcasts=5, starts=3,
    askers=200,
)  # fmt: skip
SMOKE = Sizes(
    rounds=2, warm_up=0.05, load=0.15, alone=0.1, listing=0.1, pushes=20, few=200, many=2_000,
    some=1_000, maildir_few=50, maildir_many=200, listeners=20, broadcasts=2, starts=1, askers=10,
    judged=False,
)  # fmt: skip
