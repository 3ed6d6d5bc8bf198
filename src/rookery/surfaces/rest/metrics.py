"""Counters in the Prometheus text format."""

from rookery.services.hub import Hub
from rookery.surfaces.meter import Meter


def metrics_text(hub: Hub, meter: Meter) -> str:
    report = hub.store.report()
    lines: list[str] = []

    def metric(name: str, kind: str, help_text: str, *samples: tuple[str, float]) -> None:
        lines.append(f"# HELP rookery_{name} {help_text}")
        lines.append(f"# TYPE rookery_{name} {kind}")
        lines.extend(f"rookery_{name}{labels} {value!r}" for labels, value in samples)

    answers = sorted(meter.answers.items())
    metric(
        "http_answers_total", "counter", "Answers by route and status.",
        *((f'{{route="{route}",status="{status}"}}', count) for (route, status), count in answers),
    )  # fmt: skip
    metric(
        "http_answer_seconds_total", "counter", "Time spent on answers by route.",
        *((f'{{route="{route}"}}', seconds) for route, seconds in sorted(meter.seconds.items())),
    )  # fmt: skip
    metric(
        "gate_refusals_total", "counter", "Requests refused before they were read.",
        *((f'{{code="{code}"}}', count) for code, count in sorted(meter.refused_at_gate.items())),
    )  # fmt: skip
    metric("http_in_flight", "gauge", "Requests being answered now.", ("", meter.in_flight))
    metric("sockets", "gauge", "Open WebSockets.", ("", meter.sockets))
    metric("socket_frames_total", "counter", "Events written to WebSockets.", ("", meter.frames_sent))
    metric("sockets_fell_behind_total", "counter", "Sockets closed for not reading.", ("", hub.relay.fell_behind))
    metric("journal_position", "gauge", "Position of the newest journal entry.", ("", report.position))
    metric("store_messages", "gauge", "Messages in the store.", ("", report.messages))
    metric("store_bytes", "gauge", "Size of the store on disk.", ("", report.bytes))
    metric("store_commits_total", "counter", "Commits of the writer.", ("", report.commits))
    metric("store_works_total", "counter", "Works committed; several share one commit.", ("", report.grouped))
    metric("store_waiting", "gauge", "Works waiting for the writer.", ("", report.waiting))
    metric("store_full", "gauge", "1 while the disk is full.", ("", int(report.full)))
    return "\n".join(lines) + "\n"
