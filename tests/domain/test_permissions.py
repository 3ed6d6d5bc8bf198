"""Who may contact whom: every combination of rules, mode and hierarchy, against the order written down again."""

from dataclasses import dataclass
from itertools import permutations, product
from typing import get_args

import pytest

from rookery.domain.agents import Agent, Mode
from rookery.domain.permissions import ANYBODY, Rule, Verdict, related, verdict

Allowed = str  # "none", "plain", "with approval"
ALLOWED: tuple[Allowed, ...] = ("none", "plain", "with approval")
MODES: tuple[Mode, ...] = get_args(Mode)

TARGET = Agent(id="owl", name="target")
HIERARCHIES: dict[str, tuple[Agent, Agent, bool]] = {
    "the target is my manager": (Agent(id="fox", name="me", manager="owl"), TARGET, True),
    "the target reports to me": (Agent(id="fox", name="me"), Agent(id="owl", name="target", manager="fox"), True),
    "unrelated": (Agent(id="fox", name="me"), TARGET, False),
    "the same manager": (
        Agent(id="fox", name="me", manager="boss"),
        Agent(id="owl", name="target", manager="boss"),
        False,
    ),
    "my manager's manager": (
        Agent(id="fox", name="me", manager="boss"),
        Agent(id="owl", name="target"),
        False,
    ),
}


@dataclass(frozen=True)
class Case:
    deny_target: bool
    allow_target: Allowed
    deny_all: bool
    allow_all: Allowed
    mode: Mode
    hierarchy: str

    def rules(self) -> list[Rule]:
        found: list[Rule] = []
        for target, denied, allowed in (
            ("owl", self.deny_target, self.allow_target),
            (ANYBODY, self.deny_all, self.allow_all),
        ):
            if denied:
                found.append(Rule(agent="fox", target=target, permission="deny"))
            if allowed != "none":
                asks = allowed == "with approval"
                found.append(Rule(agent="fox", target=target, permission="allow", requires_approval=asks))
        return found

    def wanted(self) -> Verdict:
        """The order, as one reads it: the first line that applies counts."""
        steps: list[tuple[bool, Verdict]] = [
            (self.deny_target, "blocked"),
            (self.allow_target == "with approval", "needs_approval"),
            (self.allow_target == "plain", "allowed"),
            (self.deny_all, "blocked"),
            (self.allow_all == "with approval", "needs_approval"),
            (self.allow_all == "plain", "allowed"),
            (True, "allowed"),
        ]
        by_rules: Verdict = next(judged for applies, judged in steps if applies)
        if HIERARCHIES[self.hierarchy][2]:
            return "allowed"
        if by_rules == "allowed" and self.mode in ("supervised", "strict"):
            return "needs_approval"
        return by_rules


CASES = [Case(*each) for each in product((False, True), ALLOWED, (False, True), ALLOWED, MODES, HIERARCHIES)]


def test_the_table_is_complete() -> None:
    assert len(set(CASES)) == 2 * 3 * 2 * 3 * 3 * 5
    assert {case.wanted() for case in CASES} == set(get_args(Verdict))


@pytest.mark.parametrize("hierarchy", HIERARCHIES)
@pytest.mark.parametrize("mode", MODES)
def test_every_combination_is_judged_as_it_is_written(mode: Mode, hierarchy: str) -> None:
    for case in CASES:
        if (case.mode, case.hierarchy) != (mode, hierarchy):
            continue
        me, target, _ = HIERARCHIES[hierarchy]
        found = verdict(case.rules(), target.id, mode, related=related(me, target))
        assert found == case.wanted(), case


def test_it_does_not_matter_in_which_order_the_rules_were_made() -> None:
    for case in CASES:
        found = {verdict(order, "owl", case.mode, related=False) for order in permutations(case.rules())}
        assert len(found) == 1, case


@pytest.mark.parametrize("mode", MODES)
def test_rules_about_others_change_nothing(mode: Mode) -> None:
    others = [
        Rule(agent="fox", target="owl-2", permission="deny"),
        Rule(agent="fox", target="ow", permission="deny"),
        Rule(agent="fox", target="OWL", permission="allow", requires_approval=True),
    ]
    assert verdict(others, "owl", mode, related=False) == verdict([], "owl", mode, related=False)


@pytest.mark.parametrize("name", HIERARCHIES)
def test_a_manager_and_its_direct_report_are_related_in_both_directions_and_nobody_else(name: str) -> None:
    me, target, wanted = HIERARCHIES[name]
    assert related(me, target) is related(target, me) is wanted


def test_two_without_a_manager_are_not_related() -> None:
    assert not related(Agent(id="fox", name="a"), Agent(id="owl", name="b"))
