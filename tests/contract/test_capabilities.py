"""Nothing that users can do is lost unnoticed: what there is, counted over every registry.

``capabilities.txt`` has a line for each command with its options, method, metric, file format,
warning, public name and page of the documentation. What is new is added with::

    pytest tests/contract/test_capabilities.py --update-messages

before a release at the latest; the commit then shows what came and what went.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.shared_data import ROOT
from typer.main import get_command

import ssme
from ssme.cli import app
from ssme.data.readers.sources import READERS
from ssme.diagnostics.page import read_sections
from ssme.methods.registry import find_method_class, method_names
from ssme.metrics import metric_names
from ssme.options import list_declared
from ssme.results.evaluation import Evaluation
from ssme.spec import SECTIONS

LIST = Path(__file__).with_suffix(".txt").with_stem("capabilities")


def list_capabilities() -> Iterator[str]:
    for name, command in _list_commands("ssme", get_command(app)):
        for parameter in command.params:
            yield f"command {name} {'/'.join(sorted(parameter.opts, key=len))}"
    for section, options in SECTIONS.items():
        yield from (f"config [{section}] {each.key}" for each in options.values())
    for name in method_names():
        yield f"method {name}"
        declared = list_declared(find_method_class(name))
        yield from (f"method {name} option {each.name}" for each in declared)
    yield from (f"metric {name}" for name in metric_names())
    yield from (f"format {suffix}" for suffix in READERS)
    yield from (f"warning {code}" for code in read_sections())
    yield from (f"ssme.{name}" for name in ssme.__all__)
    yield from (f"Evaluation.{name}" for name in dir(Evaluation) if not name.startswith("_"))
    yield from (f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))


def _list_commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
    for word, each in getattr(command, "commands", {}).items():
        yield from _list_commands(f"{name} {word}", each)


def test_what_there_is_is_what_is_listed(request: pytest.FixtureRequest) -> None:
    text = "\n".join(sorted(list_capabilities())) + "\n"
    if request.config.getoption("update_messages"):
        LIST.write_text(text, encoding="utf-8")
    listed = set(LIST.read_text(encoding="utf-8").splitlines())
    found = set(text.splitlines())
    assert sorted(listed - found) == [], "lost; if that is meant, say so in CHANGELOG.md"
