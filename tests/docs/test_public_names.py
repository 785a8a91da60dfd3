"""The reference names everything that is public, and the check of it can fail."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import ssme

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def extension() -> ModuleType:
    path = DOCS / "extensions" / "public_names.py"
    spec = importlib.util.spec_from_file_location("public_names", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_has_every_room_and_every_name_of_ssme(extension: ModuleType) -> None:
    pages = "\n".join(path.read_text() for path in (DOCS / "reference").glob("*.rst"))
    told = set(re.findall(r"^\.\. \S+:: (ssme[\w.]*)$", pages, re.MULTILINE))
    told |= {f"ssme.{name}" for name in re.findall(r"^   ~([\w.]+)$", pages, re.MULTILINE)}
    told |= {
        f"ssme.metrics.{name}" for name in re.findall(r"py:data:: (\w+)$", pages, re.MULTILINE)
    }
    assert extension.list_missing_names(told) == []


def test_a_name_that_is_left_out_is_missed(extension: ModuleType) -> None:
    everything = set(extension.list_public_names())
    assert extension.list_missing_names(everything) == []
    assert extension.list_missing_names(everything - {"ssme.evaluate"}) == ["ssme.evaluate"]
    assert extension.list_missing_names(everything - {"ssme.stream"}) == ["ssme.stream"]


def test_the_same_object_under_another_name_counts(extension: ModuleType) -> None:
    everything = set(extension.list_public_names())
    assert ssme.Metric is ssme.metrics.Metric
    assert extension.list_missing_names(everything - {"ssme.metrics.Metric"}) == []


def test_modules_named_by_ssme_are_rooms(extension: ModuleType) -> None:
    members = {f"ssme.{name}": getattr(ssme, name) for name in ssme.__all__}
    modules = {name for name, member in members.items() if isinstance(member, ModuleType)}
    assert modules <= set(extension.ROOMS)
