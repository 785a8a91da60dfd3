"""Every public name has a docstring with the sections that a reader of the reference looks for.

A function or method has Parameters where it takes any (what it returns is in its signature);
functions and the classes of methods have Examples, which tests/test_docstrings.py runs;
a dataclass has Parameters or Attributes.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from ssme.methods.members import METHODS
from tests.shared_data import ROOT

path = ROOT / "docs" / "extensions" / "public_names.py"
spec = importlib.util.spec_from_file_location("public_names_of_docs", path)
assert spec is not None
assert spec.loader is not None
extension = importlib.util.module_from_spec(spec)
spec.loader.exec_module(extension)

METHOD_CLASSES = sorted(f"ssme.{entry.partition(':')[2]}" for entry in METHODS.values())
WITHOUT_EXAMPLE = {
    "ssme.bench.summarize": "needs the table of a benchmark",
    "ssme.evaluate_parquet": "needs Parquet files",
    "ssme.progress.show": "draws on the terminal",
    "ssme.progress.tell": "is in the example of ssme.progress.listen",
    "ssme.memory.tracking.compare_records": "needs a memory with two evaluations",
    "ssme.memory.tracking.find_drift": "needs a memory with two evaluations",
    "ssme.memory.tracking.trace_estimates": "needs a memory with two evaluations",
    "ssme.memory.tracking.read_events": "needs data with ids",
}
"""Functions without an example, and why."""


def list_public() -> Iterator[tuple[str, Any]]:
    """Public functions and classes by their full name, each once."""
    seen: set[int] = set()
    for name in extension.list_public_names():
        found = extension.resolve(name)
        if (inspect.isfunction(found) or inspect.isclass(found)) and id(found) not in seen:
            seen.add(id(found))
            yield name, found


def list_members(name: str, cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods of a class; `fit` of methods is documented by ``ssme.methods.base.Method``."""
    for own, value in vars(cls).items():
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        is_fit = own == "fit" and name in METHOD_CLASSES
        if inspect.isfunction(function) and not own.startswith("_") and not is_fit:
            yield f"{name}.{own}", function


def find_missing(function: Any) -> list[str]:
    """Sections that the docstring of a function lacks."""
    doc = inspect.getdoc(function) or ""
    signature = inspect.signature(inspect.unwrap(function))
    takes = [each for each in signature.parameters if each not in ("self", "cls")]
    return ["Parameters"] if takes and "Parameters\n---" not in doc else []


PUBLIC = dict(list_public())
FUNCTIONS = {name: found for name, found in PUBLIC.items() if inspect.isfunction(found)}
CLASSES = {name: found for name, found in PUBLIC.items() if inspect.isclass(found)}
MEMBERS = dict(pair for name, cls in CLASSES.items() for pair in list_members(name, cls))


def test_there_are_no_more_names_than_one_can_learn() -> None:
    assert len(extension.list_public_names()) <= 130


@pytest.mark.parametrize("name", [*FUNCTIONS, *MEMBERS])
def test_functions_say_what_they_take(name: str) -> None:
    assert find_missing({**FUNCTIONS, **MEMBERS}[name]) == []


@pytest.mark.parametrize("name", [*FUNCTIONS, *METHOD_CLASSES])
def test_functions_and_methods_have_examples(name: str) -> None:
    has = ">>> " in (inspect.getdoc(PUBLIC[name]) or "")
    assert has != (name in WITHOUT_EXAMPLE)


@pytest.mark.parametrize("name", CLASSES)
def test_classes_say_what_they_hold(name: str) -> None:
    doc = inspect.getdoc(CLASSES[name]) or ""
    is_plain = not dataclasses.is_dataclass(CLASSES[name])
    fields = () if is_plain else dataclasses.fields(CLASSES[name])
    assert doc
    assert not fields or "Parameters\n---" in doc or "Attributes\n---" in doc
