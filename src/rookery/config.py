"""Settings: defaults < `rookery.toml` < `ROOKERY_*` variables < flags."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rookery.wire.discovery import default_data_directory

Auth = Literal["token", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that the operator may set. Times are in seconds, sizes in bytes."""

    host: str = "127.0.0.1"
    port: int = 8200
    data: Path = field(default_factory=default_data_directory)
    store: str = "sqlite"
    auth: Auth = "token"
    allowed_hosts: tuple[str, ...] = ()
    log_level: str = "info"
    max_body: int = 1_048_576
    max_requests: int = 1_024
    max_sockets: int = 2_048
    write_queue: int = 10_000
    socket_buffer: int = 1_024
    rate_per_second: float = 50.0
    rate_burst: int = 500
    pacing_first_gap: float = 2.0
    pacing_longest_gap: float = 30.0
    pacing_eager_within: float = 5.0
    pacing_reset_after: float = 30.0
    pacing_window: float = 60.0
    pacing_most_in_window: int = 10
    claim_silence: float = 900.0
    claim_most_losses: int = 5
    silent_after: float = 60.0
    sweep_every: float = 1.0
