"""Commands about tokens. A secret is printed only when somebody asks for it, and never taken from a flag."""

import stat
from pathlib import Path
from typing import Annotated

import typer

from rookery.cli.commands import Agent, command
from rookery.cli.desk import Desk
from rookery.cli.display import hint, say, show_facts
from rookery.domain.errors import NotFound
from rookery.wire.discovery import TOKEN_FILE, default_data_directory, operator_token

commands = typer.Typer()
_token = typer.Typer(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\b\nExamples:\n  rook token\n  rook token show\n  rook token new builder",
)
commands.add_typer(_token, name="token")

DataDirectory = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The hub's data directory.", show_default=False)
]


@_token.callback()
def token(
    context: typer.Context,
    data: DataDirectory = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.", show_default=False)] = False,
) -> None:
    """Say where the operator's token is; renew an agent's."""
    if context.invoked_subcommand is not None:
        return
    path = _path(data)
    known = path.is_file()
    mode = stat.filemode(path.stat().st_mode) if known else None
    desk = Desk(json=json)
    facts = [("operator token", str(path)), ("mode", mode or "not there yet: `rook up` makes it")]
    desk.answer({"ok": True, "path": str(path), "exists": known, "mode": mode}, lambda: show_facts(facts))
    if known and not json:
        hint("`rook token show` prints it.")


@command(
    _token,
    hub=False,
    examples="""
    rook token show
    curl -H "Authorization: Bearer $(rook token show)" http://127.0.0.1:8200/v1/agents
    """,
)
def show(desk: Desk, data: DataDirectory = None) -> None:
    """Print the operator's token."""
    path = _path(data)
    secret = operator_token(path.parent)
    if secret is None:
        raise NotFound(f"There is no operator token in {path.parent}; `rook up` makes one when it first starts.")
    desk.answer({"ok": True, "path": str(path), "token": secret}, lambda: say(secret))


@command(
    _token,
    examples="""
    rook token new builder
    """,
)
def new(desk: Desk, agent: Agent) -> None:
    """End an agent's tokens and print a new one."""
    answer = desk.hub.new_token(agent)
    desk.answer(answer, lambda: say(answer.token))
    if not desk.json:
        hint("It is shown this once. Give it to the agent: export ROOKERY_TOKEN=...")


@command(
    _token,
    examples="""
    rook token revoke builder
    """,
)
def revoke(desk: Desk, agent: Agent) -> None:
    """End an agent's tokens: it is shut out until it gets a new one."""
    answer = desk.hub.revoke_tokens(agent)
    number = f"{answer.revoked} token{'' if answer.revoked == 1 else 's'}"
    desk.answer(answer, lambda: say(f"Ended {number} of {answer.agent_id}."))


def _path(data: Path | None) -> Path:
    return (data.expanduser() if data else default_data_directory()) / TOKEN_FILE
