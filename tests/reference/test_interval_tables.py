"""The tables of docs/intervals.md are those of the committed results."""

from __future__ import annotations

from pathlib import Path

from benchmarks.accuracy.interval_tables import labeled_table, posterior_table

DOC = Path(__file__).resolve().parents[2] / "docs" / "intervals.md"


def test_every_line_of_both_tables_is_in_the_document():
    text = DOC.read_text()
    missing = [line for line in [*labeled_table(), *posterior_table()] if line not in text]
    assert missing == []
