"""A sample of the fuzzers in ``benchmarks/fuzz``; their counts are in ``benchmarks/results``."""

from pathlib import Path

import pandas as pd
import pytest
from benchmarks.fuzz import checkpoint, kills, store

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


@pytest.mark.parametrize("fuzzer", [store, checkpoint])
def test_damaged_files_are_refused_or_read_as_written(fuzzer):
    outcomes = fuzzer.attack(300, seed=7)
    assert outcomes.count_bad() == 0, outcomes.failures[:3]
    assert sum(outcomes.counts.values()) == 300


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_kills_lose_nothing_and_leave_nothing_behind():
    for row in kills.attack(4, seed=3):
        found = {name: row[name] for name in ("lost", "half_written", "left_behind", "wrong_end")}
        assert not any(found.values()), row


@pytest.mark.parametrize("name", ["fuzz_store", "fuzz_checkpoint", "fuzz_memory"])
def test_the_committed_counts_are_clean(name):
    table = pd.read_csv(RESULTS / f"{name}.csv")
    bad = {"not_named", "wrong_number", "uncaught", "lost", "half_written", "left_behind", "hang"}
    columns = [column for column in table if column in bad | {"wrong_end"}]
    assert columns
    assert not table[columns].to_numpy().any()
