"""A sample of the fuzzers' cases: each file is read as another reader reads it, or refused."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from benchmarks.fuzz.readers import KINDS, run_case


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_read_right_or_refused(kind: str, tmp_path: Path) -> None:
    if kind == "xlsx":
        pytest.importorskip("openpyxl")
    findings = []
    read = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in range(150):
            outcome, what = run_case(kind, 1, case, tmp_path)
            read += outcome == "read"
            if outcome not in ("read", "refused"):
                findings.append(f"case {case}: {outcome}: {what}")
    assert findings == []
    assert read > 10
