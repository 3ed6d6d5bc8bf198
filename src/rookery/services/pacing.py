"""The back-off of directed pairs, as it is kept in the store."""

from rookery.domain.ids import OPERATOR
from rookery.domain.pacing import PacingRules, after_accepting, after_withdrawing, wait_before
from rookery.ports import Transaction


class Pacer:
    def __init__(self, rules: PacingRules) -> None:
        self._rules = rules

    def step(self, tx: Transaction, sender: str, target: str, now: int) -> int:
        """Count the message against its pair, unless it comes too early: then the wait in milliseconds. The
        operator is never limited."""
        if sender == OPERATOR:
            return 0
        pace = tx.pacing.get(sender, target)
        wait = wait_before(pace, now, self._rules)
        if not wait:
            tx.pacing.put(sender, target, after_accepting(pace, now, self._rules))
        return wait

    def step_back(self, tx: Transaction, sender: str, target: str, at: int) -> None:
        """What came to nothing does not count: who asked in vain may hand the work over at once."""
        if sender != OPERATOR:
            tx.pacing.put(sender, target, after_withdrawing(tx.pacing.get(sender, target), at))
