"""The command `rook`: its parts, and what happens when one of them fails."""

import os
import sys
from typing import Annotated

import typer

from rookery.cli import (
    agents,
    approvals,
    channel,
    chat,
    connect,
    contact,
    doctor,
    effective,
    inbox,
    mcp,
    messages,
    overview,
    rules,
    tasks,
    token,
    transfer,
    up,
    upkeep,
    watch,
)
from rookery.cli.failures import BROKEN_PIPE, INTERRUPTED, report, report_bug, report_usage
from rookery.domain.errors import RookeryError

_UsageError: type[Exception] = typer.BadParameter.__bases__[0]

HELP = """A switchboard for AI coding agents: they get an address, an inbox and a way to be heard."""
EPILOG = """\b
Start here:
  rook up                        start a hub (leave it running)
  rook register --name builder   give an agent an address and a token
  rook send builder "hello"      write to it
  rook ask builder "how is it?"  ask, and wait for the answer
  rook chat builder              talk with it
  rook watch                     see everything as it happens

\b
Exit codes: 0 done, 2 wrong usage, 3 not found, 4 conflict, 5 not allowed, 6 too fast or too busy,
7 storage trouble, 8 no hub, 130 interrupted, 1 anything else.
"""

app = typer.Typer(
    name="rook",
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from rookery import __version__

        print(f"rook {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


for part in (
    up,
    overview,
    agents,
    messages,
    contact,
    chat,
    channel,
    inbox,
    tasks,
    approvals,
    rules,
    watch,
    mcp,
    connect,
    token,
    doctor,
    upkeep,
    transfer,
    effective,
):
    app.add_typer(part.commands)


def run() -> int:
    """Carry out the command line and return the exit code. Tracebacks are for ROOKERY_DEBUG."""
    as_json = "--json" in sys.argv
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    try:
        code = app(standalone_mode=False, prog_name="rook")
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except RookeryError as error:
        return report(error, as_json=as_json)
    except _UsageError as error:
        return _usage(error, as_json)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # the last line of defence: a person never gets a traceback unasked
        if os.environ.get("ROOKERY_DEBUG"):
            raise
        return report_bug(error, as_json=as_json)


def _usage(error: Exception, as_json: bool) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error)
        return 2
    return report_usage(error, as_json=as_json)
