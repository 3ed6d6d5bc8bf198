"""Tool calls over MCP, against an empty tool on the same SDK."""

from bench.calls import tool_call
from bench.children import Bare, HubChild
from bench.run import Run
from bench.table import Aim, Line, Pairs, in_turn, millis, per_second

CONNECTIONS = 8


def mcp(run: Run) -> list[Line]:
    sizes = run.sizes
    with Bare(run.place, "bench.bare_mcp") as bare, HubChild(run.place / "mcp") as hub:
        (_, token), *_ = hub.register(run.driver, 3)

        def load(port: int, connections: int, seconds: float) -> dict[str, float]:
            listing = tool_call(port, token, "list_agents", {})
            return run.driver.load(port, [[listing]], connections=connections, seconds=seconds)

        for port in (bare.port, hub.port):
            load(port, CONNECTIONS, sizes.warm_up)
        rates = Pairs(
            *in_turn(
                sizes.rounds,
                lambda: _rate(load(hub.port, CONNECTIONS, sizes.load)),
                lambda: _rate(load(bare.port, CONNECTIONS, sizes.load)),
            )
        )
        waits = Pairs(
            *in_turn(
                sizes.rounds,
                lambda: load(hub.port, 1, sizes.alone)["p50"],
                lambda: load(bare.port, 1, sizes.alone)["p50"],
            )
        )
    aim = Aim("at least", 0.6)
    return [
        Line(
            measure="mcp",
            what=f"MCP: list_agents, {CONNECTIONS} connections",
            figure=per_second(rates.figure, "calls"),
            against=f"{per_second(rates.against, 'calls')} of an empty tool, same SDK",
            ratio=rates.ratio,
            rounds=sizes.rounds,
            aim=str(aim),
            ok=aim.holds(rates.ratio),
            values={"calls": rates.figure, "empty_calls": rates.against},
        ),
        Line(
            measure="mcp",
            what="the same, p50, 1 connection",
            figure=millis(waits.figure),
            against=f"{millis(waits.against)} of an empty tool",
            ratio=waits.ratio,
            rounds=sizes.rounds,
            values={"p50": waits.figure, "empty_p50": waits.against},
        ),
    ]


def _rate(result: dict[str, float]) -> float:
    return result["answers"] / result["seconds"]
