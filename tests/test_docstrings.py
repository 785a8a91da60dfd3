"""Examples in docstrings run, in every module that has any."""

from __future__ import annotations

import doctest
import importlib
import warnings
from pathlib import Path

import pytest

import ssme

SOURCE = Path(ssme.__file__).parent
WITH_EXAMPLES = sorted(
    path
    for path in SOURCE.rglob("*.py")
    if any(mark in path.read_text(encoding="utf-8") for mark in (">>> ", ", example="))
    and path != SOURCE / "methods" / "base.py"  # holds the template of the examples of methods
)


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_examples_run(path: Path) -> None:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    name = ".".join(part for part in parts if part != "__init__")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
