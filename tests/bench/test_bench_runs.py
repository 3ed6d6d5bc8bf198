"""The benchmark is a program that others rely on: it runs, it prints its table, it leaves nothing behind."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec

CHECKOUT = Path(__file__).parents[2]


def test_a_smoke_run_prints_its_table_and_leaves_nothing_behind(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    command = [sys.executable, "-m", "bench", "--smoke", "--json", str(figures)]
    for measure in ("throughput", "latency", "push", "fanout"):
        command += ["--only", measure]
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "what" in ended.stdout
    assert "durable REST sends, 32 connections" in ended.stdout
    lines = msgspec.json.decode(figures.read_bytes())["lines"]
    assert {line["measure"] for line in lines} == {"throughput", "latency", "push", "fanout"}
    assert all(line["ratio"] > 0 for line in lines)
    assert list(tmp_path.iterdir()) == [figures]
