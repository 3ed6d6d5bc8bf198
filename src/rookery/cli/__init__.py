"""`rook`: a client of the hub for people, and the one who starts it."""


def main() -> None:
    """The entry point. Everything else is imported late: `rook --help` should feel instant."""
    try:
        from rookery.cli.app import run

        code = run()
    except KeyboardInterrupt:  # a quick Ctrl-C comes while things are still being imported
        code = 130
    raise SystemExit(code)
