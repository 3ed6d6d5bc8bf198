"""Commands about agents: who is there, who comes, who goes."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rookery.cli.commands import Agent, OptionalAgent, command
from rookery.cli.desk import Desk
from rookery.cli.display import Cell, hint, say, show_facts, show_table
from rookery.cli.times import ago, clock, seconds
from rookery.domain.agents import Kind, Mode, Role, Status
from rookery.domain.errors import InvalidRequest

if TYPE_CHECKING:
    from rookery.wire.responses import AgentView, RegisterResponse

commands = typer.Typer()

_COLOURS = {"working": "green", "idle": "cyan", "offline": "dim"}


@command(
    commands,
    examples="""
    rook agents
    rook agents --json | jq -r '.agents[].name'
    """,
)
def agents(desk: Desk) -> None:
    """List the agents."""
    answer = desk.hub.agents()
    desk.answer(answer, lambda: _show_agents(answer.agents))


@command(
    commands,
    examples="""
    rook register --name builder --role worker --project .
    rook register --model claude-opus --save-token ~/builder.token
    """,
)
def register(
    desk: Desk,
    name: Annotated[str | None, typer.Option(help="Its name; a taken one is refused.")] = None,
    model: Annotated[str | None, typer.Option(help="Its model; names the agent if --name does not.")] = None,
    role: Annotated[Role | None, typer.Option(help="What it is in a team.", show_default="worker")] = None,
    kind: Annotated[Kind | None, typer.Option(help="Which make of program.", show_default="external")] = None,
    project: Annotated[str | None, typer.Option(metavar="DIR", help="Where it works.")] = None,
    manager: Annotated[str | None, typer.Option(metavar="AGENT", help="Whom it answers to.")] = None,
    mode: Annotated[Mode | None, typer.Option(help="How freely it acts.", show_default="autonomous")] = None,
    save_token: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write its token to this file, for your eyes only, and not here."),
    ] = None,
) -> None:
    """Register an agent and get its token.

    The token is told this once. The agent calls the hub with that token, for example in ROOKERY_TOKEN.
    """
    from rookery.client.agents import register as registration

    target = _new_private_file(save_token) if save_token else None
    where = os.path.abspath(project) if project else None  # noqa: PTH100 - keeps a link in the path as it is
    try:
        answer = desk.hub.run(
            registration(
                desk.hub.session, name=name, model_name=model, role=role, kind=kind, project=where,
                manager=manager, mode=mode,
            )
        )  # fmt: skip
    except BaseException:
        if save_token and target is not None:
            os.close(target)
            save_token.unlink()
        raise
    if target is not None:
        with os.fdopen(target, "w", encoding="ascii") as file:
            file.write(f"{answer.token}\n")
        answer.token = None
    desk.answer(answer, lambda: _show_registered(answer, save_token))


@command(
    commands,
    examples="""
    rook rename swift-fox builder
    """,
)
def rename(
    desk: Desk, agent: Agent, name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")]
) -> None:
    """Give an agent another name; its id stays."""
    answer = desk.hub.rename(name, agent=agent)
    desk.answer(answer, lambda: say(f"{answer.agent.agent_id} is now called {answer.agent.name}."))


@command(
    commands,
    examples="""
    rook delete builder
    rook delete builder --yes
    """,
)
def delete(
    desk: Desk,
    agent: Agent,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.", show_default=False)] = False,
) -> None:
    """Delete an agent.

    Its tokens end and what waits for it is dead. Its id stays taken, and its messages stay where they are.
    """
    known = desk.hub.agent(agent).agent
    confirm(yes, f"Delete {known.name} ({known.agent_id})?")
    answer = desk.hub.delete(known.agent_id)
    desk.answer(answer, lambda: say(f"{known.name} is gone."))


@command(
    commands,
    speaks=True,
    examples="""
    rook heartbeat builder --status working
    ROOKERY_TOKEN=... rook heartbeat
    """,
)
def heartbeat(
    desk: Desk,
    agent: OptionalAgent = None,
    status: Annotated[Status | None, typer.Option(help="What it is doing.", show_default=False)] = None,
) -> None:
    """Give a sign of life: it keeps an agent online."""
    answer = desk.hub.heartbeat(agent or desk.speaker, status=status)
    desk.answer(answer, lambda: say(f"{answer.agent_id} is {answer.status}, {answer.unread_count} unread."))


@command(
    commands,
    examples="""
    rook sleep builder 2h
    rook sleep builder 30m --json
    """,
)
def sleep(
    desk: Desk, agent: Agent, duration: Annotated[str, typer.Argument(metavar="DURATION", help="E.g. 30m or 2h.")]
) -> None:
    """Put an agent to sleep.

    Work that is handed over to it waits until then; a question wakes it.
    """
    answer = desk.hub.sleep(agent, seconds(duration, "DURATION"))
    until = answer.agent.sleeping_until
    desk.answer(answer, lambda: say(f"{answer.agent.name} sleeps until {clock(until or '?')}."))


@command(
    commands,
    examples="""
    rook wake builder
    """,
)
def wake(desk: Desk, agent: Agent) -> None:
    """Wake an agent; what was put off is handed to it."""
    answer = desk.hub.wake(agent)
    desk.answer(answer, lambda: say(f"{answer.agent.name} is {answer.agent.status}."))


def confirm(yes: bool, question: str) -> None:
    """Ask a person. Where nobody can answer, silence is no consent."""
    import sys

    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidRequest(f"{question} There is nobody to ask here; say --yes if you mean it.")
    if not typer.confirm(question, err=True):
        hint("Nothing was done.")
        raise typer.Exit(1)


def _new_private_file(path: Path) -> int:
    try:
        return os.open(path.expanduser(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as exc:
        raise InvalidRequest(f"{path} cannot be written: {exc.strerror}. Nothing was registered.") from exc


def _show_agents(agents: list["AgentView"]) -> None:
    if not agents:
        say("No agent is registered yet. `rook register --name builder` makes one.")
        return
    show_table(
        ["name", "id", "status", "role", "kind", "model", "project", "last active"],
        [
            [
                Cell(agent.name, "bold"),
                agent.agent_id,
                Cell(_status(agent), _COLOURS.get(agent.status, "yellow")),
                agent.role,
                agent.kind,
                agent.model_name or "-",
                agent.project or "-",
                ago(agent.last_active),
            ]
            for agent in agents
        ],
    )


def _status(agent: "AgentView") -> str:
    return f"sleeping until {clock(agent.sleeping_until)}" if agent.sleeping_until else agent.status


def _show_registered(answer: "RegisterResponse", saved: Path | None) -> None:
    kept = f"in {saved}" if saved else answer.token or "the one that was used"
    show_facts([("name", answer.name), ("id", answer.agent_id), ("role", answer.role), ("token", kept)])
    if answer.token:
        hint("The token is shown this once. Give it to the agent: export ROOKERY_TOKEN=...")
