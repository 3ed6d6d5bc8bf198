"""Asking another agent, from the question to its answer, both over MCP; against what the SDK alone would take."""

from bench.calls import tool_call
from bench.children import Bare, Broken, Child, HubChild
from bench.run import Run
from bench.table import Line, Pairs, in_turn, millis, per_second

UNHURRIED = {
    "pacing_first_gap": 0.0001, "pacing_longest_gap": 0.0001, "pacing_most_in_window": 10_000_000,
    "trace_most_messages": 10_000_000, "trace_most_hops": 10_000_000,
}  # fmt: skip
"""Nothing that holds models back: it is the hub that is measured."""


def contact(run: Run) -> list[Line]:
    sizes = run.sizes
    with Bare(run.place, "bench.bare_mcp") as bare, HubChild(run.place / "contact", **UNHURRIED) as hub:
        (target, token), *askers = hub.register(run.driver, sizes.askers + 1)
        responder = Child("bench.responder", str(hub.port), token, log=run.place / "responder.log")
        with responder:
            responder.line()
            question = {"action": "ask", "agent": target, "message": "Is it ready?"}
            asks = [[tool_call(hub.port, own, "contact_agent", question)] for _, own in askers]
            empty = [[tool_call(bare.port, "", "empty", {})]]

            def asked(connections: int, seconds: float) -> dict[str, float]:
                before = hub.status(run.driver)["messages"]
                result = run.driver.load(hub.port, asks, connections=connections, seconds=seconds)
                said = hub.status(run.driver)["messages"] - before
                if said != 2 * result["answers"]:
                    raise Broken(f"{result['answers']} asks were answered, with {said} messages")
                return result

            def called(connections: int, seconds: float) -> dict[str, float]:
                return run.driver.load(bare.port, empty, connections=connections, seconds=seconds)

            asked(1, sizes.warm_up)
            called(1, sizes.warm_up)
            trips = Pairs(
                *in_turn(
                    sizes.rounds,
                    lambda: asked(1, sizes.alone)["p50"],
                    lambda: 2 * called(1, sizes.alone)["p50"],
                )
            )
            crowds = Pairs(
                *in_turn(
                    sizes.rounds,
                    lambda: _rate(asked(sizes.askers, sizes.load)),
                    lambda: _rate(called(sizes.askers, sizes.load)) / 2,
                )
            )
    return [
        Line(
            measure="contact",
            what="ask → answer, both over MCP, p50",
            figure=millis(trips.figure),
            against=f"{millis(trips.against)}, two calls of an empty tool",
            ratio=trips.ratio,
            rounds=sizes.rounds,
            values={"p50": trips.figure, "empty_p50": trips.against},
        ),
        Line(
            measure="contact",
            what=f"{sizes.askers} concurrent asks of one agent",
            figure=per_second(crowds.figure, "asks"),
            against=f"{per_second(crowds.against, 'pairs')} of calls of an empty tool",
            ratio=crowds.ratio,
            rounds=sizes.rounds,
            values={"asks": crowds.figure, "empty_pairs": crowds.against},
        ),
    ]


def _rate(result: dict[str, float]) -> float:
    return result["answers"] / result["seconds"]
