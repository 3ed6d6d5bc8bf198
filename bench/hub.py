"""A hub in a process of its own, for `bench.children.HubChild`. Settings come as JSON in the first argument."""

import os
import resource
import signal
import sys
import threading
from pathlib import Path

import msgspec

from rookery.bootstrap import serve
from rookery.config import Settings
from rookery.wire.discovery import HubFile


def main() -> None:
    raise_file_limit()
    stop_with_parent()
    given = msgspec.json.decode(sys.argv[1])
    serve(Settings(**given | {"data": Path(given["data"])}), on_ready=_say_where)


def _say_where(hub: HubFile) -> None:
    print(hub.url.rpartition(":")[2], flush=True)


def raise_file_limit() -> int:
    """As many open files as the system lets us have. Returns how many."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def stop_with_parent() -> None:
    """Standard input ends when the benchmark does, even if it is killed: then we go too."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    main()
