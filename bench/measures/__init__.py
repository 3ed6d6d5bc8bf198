"""The measures, one file each. Each has a name for `--only`, the stores it wants filled, and a function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.measures.contact import contact
from bench.measures.fanout import fanout
from bench.measures.footprint import footprint
from bench.measures.growth import growth, maildir
from bench.measures.latency import latency
from bench.measures.listing import listing
from bench.measures.mcp import mcp
from bench.measures.push import push
from bench.measures.throughput import throughput
from bench.run import Run, has_maildir
from bench.sizes import Sizes
from bench.stores import Filled
from bench.table import Line


@dataclass(frozen=True, slots=True)
class Measure:
    name: str
    take: Callable[[Run], list[Line]]
    needs: Callable[[Sizes], Sequence[Filled]] = lambda _: ()


def measures() -> list[Measure]:
    """In the order of the table."""
    found = [
        Measure("throughput", throughput),
        Measure("latency", latency),
        Measure("push", push),
        Measure("listing", listing, lambda sizes: [("sqlite", sizes.few), ("sqlite", sizes.many)]),
        Measure("growth", growth, lambda sizes: [("sqlite", sizes.few), ("sqlite", sizes.many)]),
    ]
    if has_maildir():
        found.append(
            Measure(
                "maildir",
                maildir,
                lambda sizes: [("maildir", sizes.maildir_few), ("maildir", sizes.maildir_many)],
            )
        )
    found += [
        Measure("fanout", fanout),
        Measure("mcp", mcp),
        Measure("contact", contact),
        Measure("footprint", footprint, lambda sizes: [("sqlite", sizes.some)]),
    ]
    return found
