"""How a function becomes a command: with its examples, and with the options that all commands share."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Concatenate, ParamSpec

import typer

from rookery.cli.desk import Desk

P = ParamSpec("P")
Function = Callable[Concatenate[Desk, P], None]

AgentName = "AGENT"

_JSON = Annotated[bool, typer.Option("--json", help="Print the hub's answer as JSON.", show_default=False)]
_URL = Annotated[str | None, typer.Option("--url", metavar="URL", help="The hub's address.", show_default=False)]
_TOKEN_FILE = Annotated[
    Path | None,
    typer.Option("--token-file", metavar="FILE", help="Read the token from this file.", show_default=False),
]
_DATA = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="The hub's data directory.", show_default=False),
]


def agent_names(incomplete: str) -> list[str]:
    from rookery.cli.completion import agent_names

    return agent_names(incomplete)


Agent = Annotated[
    str, typer.Argument(metavar=AgentName, help="An agent's id or name.", autocompletion=agent_names)
]
OptionalAgent = Annotated[
    str | None,
    typer.Argument(
        metavar=AgentName, help="An agent's id or name.", autocompletion=agent_names, show_default=False
    ),
]
_AS = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar=AgentName,
        help="Speak as this agent (operator).",
        autocompletion=agent_names,
        show_default=False,
    ),
]

_SHARED: dict[str, tuple[Any, object]] = {
    "json": (_JSON, False),
    "url": (_URL, None),
    "token_file": (_TOKEN_FILE, None),
    "data": (_DATA, None),
    "speaker": (_AS, None),
}


def command(
    app: typer.Typer, name: str | None = None, *, examples: str, hub: bool = True, speaks: bool = False
) -> Callable[[Function[P]], Function[P]]:
    """`hub` adds the options that say where the hub is, `speaks` adds `--as`; `--json` is on every command.

    The first line of the docstring is what `rook --help` says of the command.
    """
    wanted = ["json", *(["url", "token_file", "data"] if hub else []), *(["speaker"] if speaks else [])]

    def register(function: Function[P]) -> Function[P]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        shared = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for key, (annotation, default) in _SHARED.items()
            if key in wanted and key not in {parameter.name for parameter in own}
        ]

        def run(**given: Any) -> None:
            desk = Desk(**{key: given.pop(key) for key in [each.name for each in shared]})
            try:
                function(desk, **given)  # pyright: ignore[reportCallIssue] - Typer builds these from the signature
            finally:
                desk.close()

        keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        run.__dict__["__signature__"] = inspect.Signature([*keyword, *shared])
        run.__annotations__ = {each.name: each.annotation for each in [*keyword, *shared]}
        run.__doc__ = function.__doc__
        said = name or function.__name__.replace("_", "-")
        app.command(said, epilog=_epilog(examples))(run)
        return function

    return register


def _epilog(examples: str) -> str:
    lines = [line.strip() for line in examples.strip().splitlines()]
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
