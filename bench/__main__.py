"""Run the measures and print the table. `--smoke` only shows that all of it runs; it judges nothing."""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from bench import sizes
from bench.children import Broken, Driver, end_all
from bench.measures import Measure, measures
from bench.run import Run
from bench.stores import Stores
from bench.table import Line, rendered
from bench.workplace import NotOnDisk, surroundings, workplace

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    known = measures()
    options = _parser([measure.name for measure in known]).parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    chosen = [measure for measure in known if not options.only or measure.name in options.only]
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - began:5.0f} s] {text}", file=sys.stderr, flush=True)

    try:
        with workplace() as place:
            header = surroundings(place)
            lines = _taken(chosen, options.size, place, say)
    except KeyboardInterrupt:
        say("interrupted")
        return _INTERRUPTED
    except (Broken, NotOnDisk) as failure:
        say(f"FAILED: {failure}")
        return 1
    print(f"{header}\n\n{rendered(lines)}")
    if options.json is not None:
        told = {"surroundings": header, "lines": [line.as_json() for line in lines]}
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(told)) + b"\n")
    return 0


def _taken(chosen: Sequence[Measure], size: sizes.Sizes, place: Path, say: Callable[[str], None]) -> list[Line]:
    try:
        stores = Stores(place, say)
        stores.make([filled for measure in chosen for filled in measure.needs(size)])
        lines: list[Line] = []
        with Driver(place) as driver:
            run = Run(place, size, driver, stores, say)
            for measure in chosen:
                say(f"measuring {measure.name}")
                lines += measure.take(run)
        say("done")
        return lines if size.judged else [replace(line, ok=None) for line in lines]
    finally:
        end_all()


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument(
        "--smoke", dest="size", action="store_const", const=sizes.SMOKE, help="tiny sizes: does it run?"
    )
    amount.add_argument(
        "--quick", dest="size", action="store_const", const=sizes.QUICK, help="smaller stores, fewer rounds"
    )
    parser.add_argument("--only", action="append", choices=names, help="this measure alone; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.set_defaults(size=sizes.FULL)
    return parser


if __name__ == "__main__":
    sys.exit(main())
