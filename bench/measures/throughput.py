"""Durable sends a second, against a server that keeps nothing and against SQLite that serves nobody."""

from statistics import median

from bench.children import Bare, HubChild, sends
from bench.raw_sqlite import GroupCommits
from bench.run import Caller, Run
from bench.table import Aim, Line, Pairs, in_turn, per_second

CONNECTIONS = 32
_MOST_ROWS_OF = 20_000


def throughput(run: Run) -> list[Line]:
    sizes = run.sizes
    with Bare(run.place) as bare, HubChild(run.place / "throughput") as hub:
        caller = Caller(run, hub)
        to_bare = [sends(bare.port, "rook_ag_" + "x" * 43, ["swift-fox", "calm-owl"])]
        run.driver.load(bare.port, to_bare, connections=CONNECTIONS, seconds=sizes.warm_up)
        caller.send(CONNECTIONS, sizes.warm_up)
        busy: list[float] = []
        before = hub.counters(run.driver)

        def hub_rate() -> float:
            result = caller.send(CONNECTIONS, sizes.load)
            busy.append(result["busy"])
            run.settle(hub)
            return result["answers"] / result["seconds"]

        def bare_rate() -> float:
            result = run.driver.load(bare.port, to_bare, connections=CONNECTIONS, seconds=sizes.load)
            busy.append(result["busy"])
            return result["answers"] / result["seconds"]

        ours, theirs = in_turn(sizes.rounds, hub_rate, bare_rate)
        after = hub.counters(run.driver)
        group = _grown(before, after, "rookery_store_works_total") / _grown(
            before, after, "rookery_store_commits_total"
        )
        raw = GroupCommits(hub.data / "rookery.db", _MOST_ROWS_OF)
        ours_again, in_groups = in_turn(
            min(3, sizes.rounds), hub_rate, lambda: raw.rate(run.place, max(1, round(group)))
        )
    caller.check()
    alone, grouped = Pairs(ours, theirs), Pairs(ours_again, in_groups)
    aim = Aim("at least", 0.40)
    return [
        Line(
            measure="throughput",
            what=f"durable REST sends, {CONNECTIONS} connections",
            figure=per_second(alone.figure, "sends"),
            against=f"{per_second(alone.against, 'no-op POSTs')}, same stack",
            ratio=alone.ratio,
            rounds=sizes.rounds,
            aim=str(aim),
            ok=aim.holds(alone.ratio),
            values={"sends": alone.figure, "no_op_posts": alone.against, "client_busy": median(busy)},
        ),
        Line(
            measure="throughput",
            what="the same",
            figure=per_second(grouped.figure, "sends"),
            against=f"{per_second(grouped.against, 'messages')}, raw SQLite in groups of {group:.0f}",
            ratio=grouped.ratio,
            rounds=len(in_groups),
            values={"sends": grouped.figure, "raw_messages": grouped.against, "group": group},
        ),
    ]


def _grown(before: dict[str, float], after: dict[str, float], name: str) -> float:
    return max(1.0, after[name] - before[name])
