"""Counts of what went through the doors, for `/metrics`."""

from collections import defaultdict


class Meter:
    def __init__(self) -> None:
        self.answers: defaultdict[tuple[str, int], int] = defaultdict(int)
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.refused_at_gate: defaultdict[str, int] = defaultdict(int)
        self.in_flight = 0
        self.frames_sent = 0
        self.sockets = 0

    def answered(self, route: str, status: int, seconds: float) -> None:
        self.answers[route, status] += 1
        self.seconds[route] += seconds
