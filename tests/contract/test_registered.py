"""Whoever is registered is also where people look for it.

A method, a metric or a file format is one file and one entry in a registry; these tests name what
else a newcomer has to declare, and the commands that renew what is written from the registry.
"""

from __future__ import annotations

import ast
import json

import pytest
from tests.reference.make_kept_numbers import FIXTURE
from tests.shared_data import ROOT

from ssme.data.readers.sources import READERS
from ssme.data.scoreset import ScoreSet
from ssme.methods.registry import find_method_class, method_names
from ssme.metrics import metric_names
from ssme.schema import FORMATS

KEPT = json.loads(FIXTURE.read_text())
MEMBERS = ast.parse((ROOT / "src/ssme/methods/members.py").read_text(encoding="utf-8"))
IMPORTED = {ast.unparse(node) for node in ast.walk(MEMBERS) if isinstance(node, ast.ImportFrom)}
RENEW = "run: python -m tests.reference.make_kept_numbers"


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def expect(name: str, places: dict[str, bool]) -> None:
    """Fail with what is to be done: the keys of ``places`` where the newcomer is not yet."""
    undone = [what for what, is_there in places.items() if not is_there]
    if undone:
        pytest.fail("\n- ".join([f"{name} is registered; what is left to do:", *undone]))


@pytest.mark.parametrize("name", method_names())
def test_a_method_is_everywhere_it_belongs(name: str) -> None:
    cls = find_method_class(name)
    own = f"{cls.__module__.replace('.', '/')}.py"
    imported = f"from {cls.__module__} import {cls.__name__} as {cls.__name__}"
    places = {
        f"src/ssme/methods/members.py: add {imported}": imported in IMPORTED,
        f"src/{own}: spec(name={name!r}), as in members.py": cls.spec.name == name,
        f"src/{own}: spec(does=..., assumes=..., fails=...) in full sentences": all(
            each.endswith(".") for each in (cls.spec.does, cls.spec.assumes, cls.spec.fails)
        ),
        f"src/{own}: an example in the docstring of {cls.__name__}": ">>> " in (cls.__doc__ or ""),
        "docs/rivals.md: run SSME_WRITE_DOCS=1 pytest tests/methods/test_docs.py": (
            f"\n| `{name}` |" in page("rivals.md")
        ),
        f"tests/reference/fixtures/kept_numbers.json: {RENEW}": (
            name in KEPT["numbers"] and name in KEPT["defaults"]
        ),
    }
    expect(name, places)


@pytest.mark.parametrize("name", metric_names())
def test_a_metric_is_everywhere_it_belongs(name: str) -> None:
    places = {
        "docs/metrics.md: run SSME_WRITE_DOCS=1 pytest tests/metrics/test_docs.py": (
            f"\n| `{name}` |" in page("metrics.md")
        ),
        f"tests/reference/fixtures/kept_numbers.json: {RENEW}": (
            any(f"model_1, {name}, all" in kept for kept in KEPT["numbers"]["labeled"].values())
        ),
    }
    expect(name, places)


@pytest.mark.parametrize("suffix", READERS)
def test_a_file_format_is_everywhere_it_belongs(suffix: str) -> None:
    places = {
        "docs/files.md, under Files: add the suffix, and what the format holds": (
            f" {suffix} " in page("files.md").replace("\n", " ")
        ),
        "src/ssme/data/scoreset.py: name the format in the docstring of ScoreSet.read": (
            FORMATS[suffix] in (ScoreSet.read.__doc__ or "")
        ),
    }
    expect(suffix, places)
