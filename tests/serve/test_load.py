"""Many readers and annotators while a job runs: no error, no label lost."""

from __future__ import annotations

import pytest
from benchmarks.serve import crowd
from benchmarks.serve.load import measure

pytestmark = [pytest.mark.web, pytest.mark.xdist_group("serve")]


def test_readers_while_a_job_runs() -> None:
    """How long answers take is for `python -m benchmarks.serve.load`, on a machine with peace."""
    table = measure(readers=20, rows=5_000, seconds=1.5, requests=300).set_index("phase")
    assert table["errors"].sum() == 0
    assert table.loc["job", "requests"] > 0  # how many depends on the processor
    assert table.loc["300 requests", "memory_grown_mb"] < 2.0


def test_people_who_label_at_once_lose_and_double_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "PAUSE", 0.1)
    found = crowd.measure(people=6, seconds=3.0, rows=3_000)
    assert found["clicks"] > 0
    assert (found["errors"], found["lost"], found["doubled"]) == (0, 0, 0)
