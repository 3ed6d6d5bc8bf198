"""One broadcast to everybody who listens."""

from statistics import median

from bench.children import Bare, HubChild, sends
from bench.hub import raise_file_limit
from bench.run import Run
from bench.table import Line, Pairs, in_turn, per_second

_FILES_BESIDES = 200


def fanout(run: Run) -> list[Line]:
    sizes = run.sizes
    listeners = min(sizes.listeners, raise_file_limit() // 2 - _FILES_BESIDES)
    with Bare(run.place) as bare, HubChild(run.place / "fanout") as hub:
        tokens = [token for _, token in hub.register(run.driver, listeners)]
        run.driver.do("listen", port=hub.port, tokens=tokens)
        run.driver.do("listen", port=bare.port, tokens=[""] * listeners)
        busy: list[float] = []

        def rate(port: int, token: str, broadcasts: int) -> float:
            run.settle(hub)
            asks = [ask.decode() for ask in sends(port, token, ["broadcast"] * broadcasts)]
            result = run.driver.do("fan_out", port=port, requests=asks)
            busy.append(result["busy"])
            return result["deliveries"] / result["seconds"]

        rate(hub.port, hub.token, 1)
        rate(bare.port, "", 1)
        pairs = Pairs(
            *in_turn(
                sizes.rounds,
                lambda: rate(hub.port, hub.token, sizes.broadcasts),
                lambda: rate(bare.port, "", sizes.broadcasts),
            )
        )
    return [
        Line(
            measure="fanout",
            what=f"broadcast to {listeners:,} sockets",
            figure=per_second(pairs.figure, "deliveries"),
            against=f"{per_second(pairs.against, 'frames')}, same stack, nothing stored",
            ratio=pairs.ratio,
            rounds=sizes.rounds,
            values={"deliveries": pairs.figure, "frames": pairs.against, "client_busy": median(busy)},
        )
    ]
