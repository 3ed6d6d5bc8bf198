"""Fifty unread messages, from a large store and from a small one."""

from bench.calls import request
from bench.children import HubChild
from bench.filling import AGENTS
from bench.run import Run
from bench.table import Aim, Line, Pairs, in_turn, millis

_PAGE = 50


def listing(run: Run) -> list[Line]:
    sizes = run.sizes
    large, small = run.stores.filled("sqlite", sizes.many), run.stores.filled("sqlite", sizes.few)
    with HubChild(large) as many, HubChild(small) as few:
        agents = _with_a_full_page(run, many, few)
        for hub in (many, few):
            run.driver.load(hub.port, _lists(hub, agents), connections=1, seconds=sizes.warm_up)
            run.settle(hub)

        def p50(hub: HubChild) -> float:
            return run.driver.load(hub.port, _lists(hub, agents), connections=1, seconds=sizes.listing)["p50"]

        pairs = Pairs(*in_turn(sizes.rounds, lambda: p50(many), lambda: p50(few)))
    aim = Aim("at most", 1.5)
    return [
        Line(
            measure="listing",
            what=f"{_PAGE} unread of {sizes.many:,} stored, p50",
            figure=millis(pairs.figure),
            against=f"{millis(pairs.against)} of {sizes.few:,}",
            ratio=pairs.ratio,
            rounds=sizes.rounds,
            aim=str(aim),
            ok=aim.holds(pairs.ratio),
            values={"many": pairs.figure, "few": pairs.against},
        )
    ]


def _lists(hub: HubChild, agents: list[str]) -> list[list[bytes]]:
    paths = [f"/v1/agents/messages/{agent}?limit={_PAGE}&mark_read=false" for agent in agents]
    return [[request("GET", path, hub.port, hub.token) for path in paths]]


def _with_a_full_page(run: Run, *hubs: HubChild) -> list[str]:
    """Inboxes from which every hub gives a whole page; all of them when the stores are too small for that."""
    names = [f"bench-{number}" for number in range(1, AGENTS + 1)]
    full = set(names)
    for hub in hubs:
        answers = run.driver.call(hub.port, _lists(hub, names)[0])
        full &= {name for name, answer in zip(names, answers, strict=True) if answer["count"] == _PAGE}
    return sorted(full) or names
