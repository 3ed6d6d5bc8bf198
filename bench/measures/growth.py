"""What a send costs when much is stored already, against when little is."""

from bench.children import HubChild
from bench.filling import AGENTS
from bench.run import Caller, Run
from bench.table import Aim, Line, Pairs, in_turn, millis

CONNECTIONS = 32
_RECIPIENTS = [f"bench-{number}" for number in range(1, AGENTS + 1)]


def growth(run: Run) -> list[Line]:
    return _growth(run, "sqlite", run.sizes.many, run.sizes.few, Aim("at most", 1.2))


def maildir(run: Run) -> list[Line]:
    return _growth(run, "maildir", run.sizes.maildir_many, run.sizes.maildir_few, Aim("at most", 1.3))


def _growth(run: Run, kind: str, more: int, less: int, aim: Aim) -> list[Line]:
    sizes = run.sizes
    large, small = run.stores.filled(kind, more), run.stores.filled(kind, less)
    with HubChild(large, store=kind) as many, HubChild(small, store=kind) as few:
        to_many, to_few = Caller(run, many, to=_RECIPIENTS), Caller(run, few, to=_RECIPIENTS)
        for caller in (to_many, to_few):
            caller.send(CONNECTIONS, sizes.warm_up)

        def cost(caller: Caller) -> float:
            run.settle(many, few)
            result = caller.send(CONNECTIONS, sizes.alone)
            return result["seconds"] / result["answers"]

        def alone(caller: Caller) -> float:
            run.settle(many, few)
            return caller.send(1, sizes.alone / 2)["p50"]

        crowd = Pairs(*in_turn(sizes.rounds, lambda: cost(to_many), lambda: cost(to_few)))
        single = Pairs(*in_turn(sizes.rounds, lambda: alone(to_many), lambda: alone(to_few)))
    to_many.check(kind)
    to_few.check(kind)
    return [
        Line(
            measure="growth" if kind == "sqlite" else kind,
            what=f"{kind}: {what}, {more:,} stored",
            figure=millis(pairs.figure),
            against=f"{millis(pairs.against)} at {less:,}",
            ratio=pairs.ratio,
            rounds=sizes.rounds,
            aim=str(aim),
            ok=aim.holds(pairs.ratio),
            values={"many": pairs.figure, "few": pairs.against},
        )
        for what, pairs in ((f"time per send, {CONNECTIONS} connections", crowd), ("p50 of a send", single))
    ]
