"""A sample of the fuzzer of names; ``python -m benchmarks.fuzz.names`` runs all of it."""

from __future__ import annotations

from benchmarks.fuzz.names import run_batch


def test_hostile_names_leave_safely_by_every_way_out() -> None:
    found = run_batch(100_001, 12)
    assert found["examples"] == []
    assert not found["raised"]
    assert sum(found["wrong"].values()) == 0
    assert set(found["taken"]) >= {"repr", "csv", "json", "html report", "notebook", "chart"}
