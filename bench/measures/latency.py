"""How long one send takes when nothing else happens, against the one thing it cannot do without."""

from bench.children import CONTENT, HubChild
from bench.raw_sqlite import durable_commit
from bench.run import Caller, Run
from bench.table import Aim, Line, Pairs, in_turn, millis


def latency(run: Run) -> list[Line]:
    sizes = run.sizes
    with HubChild(run.place / "latency") as hub:
        caller = Caller(run, hub)
        caller.send(1, sizes.warm_up)
        durable_commit(run.place, sizes.warm_up, CONTENT)
        pairs = Pairs(
            *in_turn(
                sizes.rounds,
                lambda: caller.send(1, sizes.alone)["p50"],
                lambda: durable_commit(run.place, sizes.alone, CONTENT),
            )
        )
    caller.check()
    aim = Aim("at most", 3.0)
    return [
        Line(
            measure="latency",
            what="p50 of a send, 1 connection",
            figure=millis(pairs.figure),
            against=f"{millis(pairs.against)}, one raw durable commit",
            ratio=pairs.ratio,
            rounds=sizes.rounds,
            aim=str(aim),
            ok=aim.holds(pairs.ratio),
            values={"p50": pairs.figure, "commit": pairs.against},
        )
    ]
