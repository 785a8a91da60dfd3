"""The top of the tree holds what is known, and nothing that a trial has left behind."""

from __future__ import annotations

import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
KNOWN = {
    *(".ci", ".gitattributes", ".gitignore", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md"),
    *("LICENSE", "Makefile", "README.md", "action.yml", "benchmarks", "constraints.txt", "docs"),
    *("pyproject.toml", "scripts", "src", "tests"),
}


def test_the_top_of_the_tree_holds_what_is_known():
    told = subprocess.run(
        ["git", "ls-files"], cwd=TOP, capture_output=True, text=True, check=True
    ).stdout
    assert {name.split("/")[0] for name in told.splitlines()} == KNOWN
