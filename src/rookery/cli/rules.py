"""Commands about who may contact whom."""

from typing import TYPE_CHECKING, Annotated

import typer

from rookery.cli.commands import Agent, OptionalAgent, agent_names, command
from rookery.cli.desk import Desk, Names
from rookery.cli.display import Cell, hint, say, show_table
from rookery.domain.errors import InvalidRequest
from rookery.domain.permissions import ANYBODY

if TYPE_CHECKING:
    from rookery.wire.contact import RuleView

commands = typer.Typer()

Target = Annotated[
    str,
    typer.Argument(metavar="TARGET", help="An agent's id or name, or '*' for any.", autocompletion=agent_names),
]


@command(
    commands,
    examples="""
    rook allow builder tester
    rook allow builder '*' --ask
    """,
)
def allow(
    desk: Desk,
    agent: Agent,
    target: Target,
    ask: Annotated[bool, typer.Option("--ask", help="You approve each time.", show_default=False)] = False,
) -> None:
    """Let an agent contact another."""
    answer = desk.hub.allow(agent, target, requires_approval=ask)
    desk.answer(answer, lambda: _show_rule(answer.rule, desk.names()))


@command(
    commands,
    examples="""
    rook forbid builder tester
    rook forbid builder '*'
    """,
)
def forbid(desk: Desk, agent: Agent, target: Target) -> None:
    """Keep an agent from contacting another."""
    answer = desk.hub.forbid(agent, target)
    desk.answer(answer, lambda: _show_rule(answer.rule, desk.names()))


@command(
    commands,
    examples="""
    rook rules
    rook rules builder
    rook rules builder --remove tester
    """,
)
def rules(
    desk: Desk,
    agent: OptionalAgent = None,
    remove: Annotated[
        str | None,
        typer.Option(metavar="TARGET", help="Take away the agent's rule about this one.", show_default=False),
    ] = None,
) -> None:
    """List who may contact whom, or take a rule away."""
    if remove is not None:
        if agent is None:
            raise InvalidRequest(f"Say whose rule, as in: rook rules builder --remove {remove!r}.")
        removed = desk.hub.remove_rule(agent, remove)
        desk.answer(removed, lambda: say("The rule is gone." if removed.removed else "There was no such rule."))
        return
    answer = desk.hub.rules(agent)
    desk.answer(answer, lambda: _show_rules(answer.rules, desk.names()))


def ruling(agent: str, target: str, permission: str, requires_approval: bool, names: Names) -> str:
    """A rule as a sentence without its full stop."""
    whom = "anybody" if target == ANYBODY else names.of(target)
    if permission == "deny":
        return f"{names.of(agent)} may not contact {whom}"
    return f"{names.of(agent)} may contact {whom}{', with approval each time' if requires_approval else ''}"


def _show_rule(rule: "RuleView", names: Names) -> None:
    say(ruling(rule.agent_id, rule.target, rule.permission, rule.requires_approval, names) + ".")


def _show_rules(rules: "list[RuleView]", names: Names) -> None:
    if not rules:
        say("There are no rules: autonomous agents contact whom they like.")
        hint("Make one: rook forbid AGENT TARGET, or rook allow AGENT TARGET --ask")
        return
    show_table(
        ["agent", "target", "rule"],
        [
            [
                Cell(names.of(rule.agent_id), "bold"),
                "anybody" if rule.target == ANYBODY else names.of(rule.target),
                _verdict(rule),
            ]
            for rule in rules
        ],
    )


def _verdict(rule: "RuleView") -> Cell:
    if rule.permission == "deny":
        return Cell("forbidden", "red")
    return Cell("with approval", "yellow") if rule.requires_approval else Cell("allowed", "green")
