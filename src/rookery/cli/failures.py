"""Errors as one clear sentence on stderr, and as an exit code."""

import sys
from difflib import get_close_matches
from typing import Any

from rookery.cli.text import visible
from rookery.domain.errors import InvalidRequest, RookeryError

INTERRUPTED = 130
BROKEN_PIPE = 141


def report(error: RookeryError, *, as_json: bool) -> int:
    """Tell the person, or the program, and return the exit code."""
    from rookery.wire.errors import ERRORS, error_response

    if as_json:
        from rookery.cli.desk import as_json as encoded

        print(encoded(error_response(error)), file=sys.stderr)
    else:
        _complain(error.message)
    known = ERRORS.get(error.code)
    return known.exit if known else 1


def report_usage(error: Any, *, as_json: bool) -> int:
    """For what the parser of the command line refuses: what is wrong, what was perhaps meant, where to look."""
    sentence = error.format_message().strip().rstrip(".")
    option, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if option and context is not None and sentence.startswith("No such option"):
        near = get_close_matches(option, [each for param in context.command.params for each in param.opts], n=1)
        sentence = f"No such option: {option}" + (f". Did you mean {near[0]}?" if near else ".")
    elif not sentence.endswith("?"):
        sentence += "."
    if as_json:
        return report(InvalidRequest(sentence), as_json=True)
    _complain(sentence)
    if context is not None:
        print(f"Try '{context.command_path} --help' for examples.", file=sys.stderr)
    return 2


def report_bug(error: Exception, *, as_json: bool) -> int:
    message = (
        f"Something unforeseen happened ({type(error).__name__}: {error}). This is a bug in rookery; "
        "ROOKERY_DEBUG=1 shows where."
    )
    return report(RookeryError(message), as_json=as_json)


def _complain(sentence: str) -> None:
    from rookery.cli.display import coloured

    mark = "\x1b[1;31mrook:\x1b[0m" if coloured(sys.stderr) else "rook:"
    print(mark, visible(sentence), file=sys.stderr)
