"""What the pages for newcomers show runs as shown."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["start", "choosing", "extending"])
def test_the_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_the_pictures_of_doubts_are_those_that_the_script_draws() -> None:
    script = DOCS.parent / "scripts" / "draw_doubts.py"
    sys.path.insert(0, str(script.parent))
    try:
        drawn = runpy.run_path(str(script))["draw_all"]()
    finally:
        sys.path.remove(str(script.parent))
    folder = DOCS / "images" / "doubts"
    assert {path.stem.upper() for path in folder.glob("*.svg")} == set(drawn)
    for code, picture in drawn.items():
        assert (folder / f"{code.lower()}.svg").read_text(encoding="utf-8") == picture
