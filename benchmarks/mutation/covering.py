"""Which tests reach which lines of the source, and how long each takes.

`Recorder` is a pytest plugin. It notes the lines of some files that a test runs, through
``sys.monitoring`` where Python has it (3.12 and later) and ``sys.settrace`` otherwise.
"""

from __future__ import annotations

import ast
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from benchmarks.mutation.operators import Mutant

__all__ = ["Reach", "Recorder"]

Reached = dict[str, set[int]]
TOOL = 3
"""A number of ``sys.monitoring`` that no debugger, profiler or coverage tool has."""


class Recorder:
    """Note for every test its CPU seconds, whether it passed, and the lines of ``files`` it ran.

    Of the tests collected only those of one ``part`` of ``parts`` are run.
    """

    def __init__(self, files: Iterable[str], part: int = 0, parts: int = 1) -> None:
        self.files, self.part, self.parts = frozenset(files), part, parts
        self.reached: Reached = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, Reached] = {}
        self.failed: set[str] = set()
        _watch(self)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = items[self.part :: self.parts]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, None]:
        self.reached = defaultdict(set)
        _look_again()
        began = time.process_time()
        yield
        self.seconds[item.nodeid] = time.process_time() - began
        self.lines[item.nodeid] = self.reached

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self.failed.add(report.nodeid)

    def note(self, code: CodeType, line: int) -> None:
        self.reached[code.co_filename].add(line)


def _watch(recorder: Recorder) -> None:
    if sys.version_info >= (3, 12):
        monitoring = sys.monitoring

        def on_line(code: CodeType, line: int) -> Any:
            if code.co_filename in recorder.files:
                recorder.note(code, line)
            return monitoring.DISABLE

        monitoring.use_tool_id(TOOL, "mutation")
        monitoring.register_callback(TOOL, monitoring.events.LINE, on_line)
        monitoring.set_events(TOOL, monitoring.events.LINE)
        return

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in recorder.files:
            return None
        if event == "line":
            recorder.note(frame.f_code, frame.f_lineno)
        return on_call

    sys.settrace(on_call)
    threading.settrace(on_call)


def _look_again() -> None:
    """Report every line once more, for the test that comes next."""
    if sys.version_info >= (3, 12):
        sys.monitoring.restart_events()


@dataclass
class Reach:
    """Of every test that passes by itself: its seconds and the lines it reaches."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, set[int]]]

    def tests_of(self, mutant: Mutant, source: str, limit: float) -> list[str]:
        """Tests that reach the statement of a mutant, the quickest first, within ``limit`` seconds.

        ``source`` is the text of its module. What runs at import is reached through the functions
        of its class or file, and by the unit tests of its room where these are none.
        """
        found: list[str] = []
        for lines in _lines_around(source, mutant.line):
            found = [t for t, of in self.lines.items() if of.get(mutant.file, set()) & lines]
            if found:
                break
        room = "tests/" + str(Path(mutant.file).parent)
        found = found or [test for test in self.seconds if test.startswith(room)]
        chosen, total = [], 0.0
        for test in sorted(found, key=lambda name: (self.seconds[name], name)):
            total += self.seconds[test]
            if chosen and total > limit:
                break
            chosen.append(test)
        return chosen


def _lines_around(source: str, line: int) -> Iterator[set[int]]:
    """Lines of the statement, then of the definitions around it from the inside out, then all."""
    tree = ast.parse(source)
    inside = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    inside.sort(key=lambda node: (node.end_lineno or 0) - node.lineno)
    defined = [n for n in inside if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    at_import = not any(isinstance(n, ast.FunctionDef) for n in defined)
    if inside and not at_import:
        first, last = inside[0].lineno, inside[0].end_lineno or 0
        body = getattr(inside[0], "body", None)
        yield set(range(first, body[0].lineno if body else last + 1)) | {line}
    for node in defined:
        yield _lines_of_bodies(node)
    yield _lines_of_bodies(tree)


def _lines_of_bodies(tree: ast.AST) -> set[int]:
    """The lines inside functions: those that no import runs."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {line for f in functions for line in range(f.body[0].lineno, (f.end_lineno or 0) + 1)}
