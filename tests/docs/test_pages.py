"""The pictures of the pages are those that their scripts draw."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pictures_of_warnings_are_those_that_the_script_draws() -> None:
    script = DOCS.parent / "scripts" / "draw_warnings.py"
    sys.path.insert(0, str(script.parent))
    try:
        drawn = runpy.run_path(str(script))["draw_all"]()
    finally:
        sys.path.remove(str(script.parent))
    folder = DOCS / "images" / "warnings"
    assert {path.stem.upper() for path in folder.glob("*.svg")} == set(drawn)
    for code, picture in drawn.items():
        assert (folder / f"{code.lower()}.svg").read_text(encoding="utf-8") == picture
