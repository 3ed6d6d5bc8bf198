"""From a send to the receiver's own WebSocket."""

from statistics import median

from bench.children import CONTENT, HubChild
from bench.raw_sqlite import durable_commit
from bench.run import Caller, Run
from bench.table import Line, Pairs, in_turn, millis


def push(run: Run) -> list[Line]:
    sizes = run.sizes
    waits: list[float] = []
    with HubChild(run.place / "push") as hub:
        caller = Caller(run, hub)
        each = max(10, sizes.pushes // sizes.rounds)

        def pushed() -> float:
            found = caller.push(each, warm_up=each // 10)
            waits.extend(found)
            return median(found)

        pairs = Pairs(*in_turn(sizes.rounds, pushed, lambda: durable_commit(run.place, sizes.alone / 2, CONTENT)))
    caller.check()
    p99 = sorted(waits)[len(waits) * 99 // 100]
    return [
        Line(
            measure="push",
            what="send → WebSocket push, p50",
            figure=millis(pairs.figure),
            against=f"{millis(pairs.against)}, one raw durable commit",
            ratio=pairs.ratio,
            rounds=sizes.rounds,
            values={"p50": pairs.figure, "commit": pairs.against},
        ),
        Line(
            measure="push",
            what="send → WebSocket push, p99",
            figure=millis(p99),
            against=f"{millis(pairs.against)}, the same",
            ratio=p99 / pairs.against,
            rounds=sizes.rounds,
            values={"p99": p99, "commit": pairs.against},
        ),
    ]
