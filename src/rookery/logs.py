"""Logs that a person can read on a terminal, and a file can hold."""

import logging
import sys

import structlog


def configure_logs(level: str) -> None:
    """Everything that logs, libraries too, in one shape on stderr; colours only on a terminal."""
    stamp = structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_log_level, stamp],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                # Plain, because the other formatters print the variables too, and those hold tokens and texts.
                structlog.dev.ConsoleRenderer(
                    colors=sys.stderr.isatty(),
                    pad_event_to=0,
                    exception_formatter=structlog.dev.plain_traceback,
                ),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # A socket that comes or goes is no news; the server's own faults are.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    for library in ("watchfiles", "mcp"):
        logging.getLogger(library).setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").addFilter(_no_refused_handshake)


def _no_refused_handshake(record: logging.LogRecord) -> bool:
    """The server takes a handshake that we answered with a refusal for one that we forgot."""
    return record.getMessage() != "ASGI callable returned without completing handshake."
