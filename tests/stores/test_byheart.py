"""What the writer knows by heart is what is stored, however much of it there is."""

from pathlib import Path

import pytest

from rookery.domain.traces import Trace
from rookery.ports import Transaction
from rookery.stores.sqlite import SqliteStore
from rookery.stores.tables import byheart
from tests.stores.support import opened


@pytest.mark.parametrize("most", [1, 2, 3, 100])
async def test_what_no_longer_fits_in_memory_is_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(byheart, "_MOST", most)

    def grown(tx: Transaction) -> None:
        for trace_id in ("a", "b", "c", "d", "a", "b", "a"):
            trace = tx.traces.get(trace_id) or Trace(id=trace_id, messages=0)
            tx.traces.put(trace.grown(1))

    def counts(tx: Transaction) -> list[int]:
        traces = [tx.traces.get(trace_id) for trace_id in "abcd"]
        return [0 if trace is None else trace.messages for trace in traces]

    async with opened(SqliteStore(tmp_path)) as store:
        for times in (1, 2):
            await store.write(grown)
            for look in (store.write, store.read):
                assert await look(counts) == [3 * times, 2 * times, times, times]
