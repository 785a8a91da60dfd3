"""docs/reliability.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
EVIDENCE = ROOT / "benchmarks" / "evidence" / "reliability.md"


def test_every_file_that_is_named_exists() -> None:
    named = set(re.findall(r"`((?:tests|scripts)/[\w./]+)`", PAGE.read_text(encoding="utf-8")))
    assert len(named) > 25
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_no_kind_of_input_has_a_fault() -> None:
    text = EVIDENCE.read_text(encoding="utf-8")
    table = text[text.index("<!-- results bad inputs -->") : text.index("<!-- /results bad inp")]
    rows = [line.split(" | ") for line in table.splitlines() if "benchmarks.fuzz" in line]
    assert len(rows) >= 10
    assert [row[0] for row in rows if row[4] != "0"] == []
