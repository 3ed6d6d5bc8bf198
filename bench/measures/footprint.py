"""What a hub costs before it does anything: memory, and the time until it answers."""

from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.calls import request
from bench.children import Bare, HubChild
from bench.run import Run
from bench.table import Aim, Line, Pairs, in_turn

_MEGABYTE = 1 << 20


def footprint(run: Run) -> list[Line]:
    sizes = run.sizes
    filled = run.stores.filled("sqlite", sizes.some)
    memory: dict[str, list[float]] = {"empty": [], "filled": [], "bare": []}
    numbers = count(1)

    def start(which: str) -> float:
        began = perf_counter()
        child = _started(run, which, filled if which == "filled" else run.place / f"start-{next(numbers)}")
        with child:
            run.driver.call(child.port, [request("GET", "/healthz", child.port)])
            took = perf_counter() - began
            run.settle(child)
            memory[which].append(child.rss())
        return took

    if sizes.judged:  # the first start of each reads files that the later ones find in memory
        for which in memory:
            start(which)
    empty, bare, full = in_turn(
        sizes.starts, lambda: start("empty"), lambda: start("bare"), lambda: start("filled")
    )
    aim = Aim("at most", 2.0, "s")
    fresh, with_messages = Pairs(empty, bare), Pairs(full, empty)
    resident = {which: median(found) / _MEGABYTE for which, found in memory.items()}
    return [
        _memory("memory of an idle hub", resident["empty"], resident["bare"], "the stack alone", sizes.starts),
        _memory(
            f"the same with {sizes.some:,} stored", resident["filled"], resident["empty"], "empty", sizes.starts
        ),
        _start_up("start-up of a fresh hub", fresh, "the stack alone", aim, sizes.starts),
        _start_up(f"the same with {sizes.some:,} stored", with_messages, "empty", aim, sizes.starts),
    ]


def _started(run: Run, which: str, data: Path) -> "Bare | HubChild":
    return Bare(run.place) if which == "bare" else HubChild(data)


def _memory(what: str, ours: float, theirs: float, against: str, rounds: int) -> Line:
    return Line(
        measure="footprint",
        what=what,
        figure=f"{ours:.0f} MB",
        against=f"{theirs:.0f} MB, {against}",
        ratio=ours / theirs,
        rounds=rounds,
        values={"megabytes": ours, "against": theirs},
    )


def _start_up(what: str, pairs: Pairs, against: str, aim: Aim, rounds: int) -> Line:
    return Line(
        measure="footprint",
        what=what,
        figure=f"{pairs.figure:.2f} s",
        against=f"{pairs.against:.2f} s, {against}",
        ratio=pairs.ratio,
        rounds=rounds,
        aim=str(aim),
        ok=aim.holds(pairs.figure),
        values={"seconds": pairs.figure, "against": pairs.against},
    )
