"""What docs/data.md, docs/files.md and the docstrings show runs as shown."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ssme.data.readers.columns import USUAL_NAMES
from ssme.data.readers.csv_files import MISSING_TEXT
from ssme.data.readers.sources import READERS

PAGES = [Path(__file__).parents[2] / "docs" / name for name in ("files.md", "data.md")]


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for page in PAGES:
        for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
            exec(compile(block, str(page), "exec"), names)
    assert (names["again"].labels == names["data"].labels).all()


def test_names_and_suffixes_are_all_told() -> None:
    text = "".join(page.read_text() for page in PAGES)
    told = [*READERS, *(f"`{name}`" for usual in USUAL_NAMES.values() for name in usual)]
    told += [f"`{word}`" for word in MISSING_TEXT if word]
    assert [word for word in told if word not in text] == []


@pytest.mark.parametrize("module", ["ssme.data.scoreset", "ssme.schema", "ssme.sklearn"])
def test_the_examples_in_docstrings_run(module: str) -> None:
    found = doctest.testmod(import_module(module))
    assert found.attempted > 0
    assert found.failed == 0
