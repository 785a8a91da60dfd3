"""Every name that benchmarks and scripts import from ssme is there."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.shared_data import ROOT

LAB = sorted([*ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("scripts/*.py")])
NEEDS_A_GPU = "ssme.mixture.triton_kernels"
NEEDS_TORCH = "ssme.mixture.flow"


@pytest.mark.parametrize("path", LAB, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_imported_exists(path: Path) -> None:
    missing = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        if module.partition(".")[0] != "ssme" or module == NEEDS_A_GPU:
            continue
        if module == NEEDS_TORCH:
            pytest.importorskip("torch")
        for name in (alias.name for alias in node.names):
            if not hasattr(import_module(module), name) and not find_spec(f"{module}.{name}"):
                missing.append(f"{module}.{name}")
    assert missing == []
