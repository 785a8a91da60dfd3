"""Which tests reach which lines of the source, and how long each takes.

`Recorder` is a pytest plugin. It notes the lines of some files that a test runs, through
``sys.monitoring`` where Python has it (3.12 and later) and ``sys.settrace`` otherwise, and writes
them down as soon as the test has ended. Several processes may share the tests of one file: each
takes the next test that no other has taken.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from benchmarks.mutation.operators import Mutant

TOOL = 3
"""A number of ``sys.monitoring`` that no debugger, profiler or coverage tool has."""
LAST_RESORT = "tests/reference"
"""Tests that hold the numbers of every method."""
DECLARATIONS = "tests/reference/test_declarations.py"
"""Tests that hold what options, constants and metrics declare, which import computes."""


class Recorder:
    """Write for every test that passes its CPU seconds and the lines of ``files`` it ran.

    ``files`` maps paths to the names under which they are written, one line of JSON per test into
    ``folder``. A test that another process with the same ``folder`` has begun is left to it.
    """

    def __init__(self, files: Mapping[str, str], folder: Path) -> None:
        self.files, self.folder = files, folder
        self.reached: dict[str, set[int]] = defaultdict(set)
        self.passed = True
        self.taken: set[str] = set()
        _observe(self)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.places = {item.nodeid: place for place, item in enumerate(items)}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self.reached, self.passed = defaultdict(set), True
        _look_again()
        began = time.process_time()
        told = yield
        if self.passed and item.nodeid in self.taken:
            line = {
                "test": item.nodeid,
                "seconds": round(time.process_time() - began, 3),
                "lines": {self.files[name]: sorted(of) for name, of in self.reached.items()},
            }
            with (self.folder / f"{os.getpid()}.jsonl").open("a") as file:
                file.write(json.dumps(line) + "\n")
        return told

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if not self._take(item.nodeid):
            pytest.skip("another process has it")

    def _take(self, test: str) -> bool:
        try:
            (self.folder / f"{self.places[test]}.taken").touch(exist_ok=False)
        except FileExistsError:
            return False
        self.taken.add(test)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed = self.passed and report.outcome == "passed"

    def note(self, code: CodeType, line: int) -> None:
        self.reached[code.co_filename].add(line)


def _observe(recorder: Recorder) -> None:
    if sys.version_info >= (3, 12):
        monitoring = sys.monitoring

        def note_line(code: CodeType, line: int) -> Any:
            if code.co_filename in recorder.files:
                recorder.note(code, line)
            return monitoring.DISABLE

        monitoring.use_tool_id(TOOL, "mutation")
        monitoring.register_callback(TOOL, monitoring.events.LINE, note_line)
        monitoring.set_events(TOOL, monitoring.events.LINE)
        return

    def note_call(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in recorder.files:
            return None
        if event == "line":
            recorder.note(frame.f_code, frame.f_lineno)
        return note_call

    sys.settrace(note_call)
    threading.settrace(note_call)


def _look_again() -> None:
    """Report every line once more, for the test that comes next."""
    if sys.version_info >= (3, 12):
        sys.monitoring.restart_events()


@dataclass
class Reach:
    """Of every test that passes by itself: its seconds and the lines it reaches."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, set[int]]]

    @classmethod
    def read(cls, folders: Iterable[Path]) -> Reach:
        """What recorders wrote; a line that was cut off is left out."""
        reach = cls({}, {})
        for path in (path for folder in folders for path in sorted(folder.glob("*.jsonl"))):
            for text in path.read_text().split("\n"):
                try:
                    line = json.loads(text)
                except json.JSONDecodeError:
                    continue
                reach.seconds[line["test"]] = line["seconds"]
                reach.lines[line["test"]] = {k: set(v) for k, v in line["lines"].items()}
        return reach

    def find_tests(self, mutant: Mutant, source: str, limit: float) -> list[str]:
        """Tests that reach the statement of a mutant, within ``limit`` seconds.

        First come those of the module's own test file and those that hold the numbers of every
        method, each for at most 40% of the time, then all others; of each the quickest first.
        ``source`` is the text of its module. What runs at import is reached through the functions
        of its class or file, by the unit tests of its room where these are none, and first of
        all by the tests of declarations.
        """
        found: list[str] = []
        reached = True
        inside, around = _find_lines_around(source, mutant.line)
        for lines in around:
            found = [t for t, of in self.lines.items() if of.get(mutant.file, set()) & lines]
            if found:
                break
            reached = False
        if not found:
            rooms = ("tests/" + str(Path(mutant.file).parent), LAST_RESORT)
            found = [test for test in self.seconds if test.startswith(rooms)]
        found.sort(key=lambda name: (self.seconds[name], name))
        chosen: list[str] = []
        if not inside or not reached:
            chosen = [test for test in self.seconds if test.startswith(DECLARATIONS)]
        own = "tests/{}/test_{}".format(*mutant.file.removesuffix(".py").rpartition("/")[::2])
        for start, share in ((f"{own}.py", 0.4), (LAST_RESORT, 0.8), ("", 1.0)):
            for test in found:
                if test in chosen or not test.startswith(start):
                    continue
                total = sum(self.seconds[each] for each in chosen) + self.seconds[test]
                if chosen and total > share * limit:
                    break
                chosen.append(test)
        return chosen


def _find_lines_around(source: str, line: int) -> tuple[bool, Iterator[set[int]]]:
    """Whether the line is inside a function; and the lines of its statement, then those of the
    definitions around it from the inside out, then all."""
    tree = ast.parse(source)
    inside = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    inside.sort(key=lambda node: (node.end_lineno or 0) - node.lineno)
    defined = [n for n in inside if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    called = any(isinstance(n, ast.FunctionDef) and n.body[0].lineno <= line for n in defined)
    return called, _widen(tree, inside, defined, line)


def _widen(
    tree: ast.AST, inside: list[ast.stmt], defined: list[Any], line: int
) -> Iterator[set[int]]:
    if inside and any(isinstance(n, ast.FunctionDef) for n in defined):
        first, last = inside[0].lineno, inside[0].end_lineno or 0
        body = getattr(inside[0], "body", None)
        yield set(range(first, body[0].lineno if body else last + 1)) | {line}
    for node in defined:
        yield _find_lines_of_bodies(node)
    yield _find_lines_of_bodies(tree)


def _find_lines_of_bodies(tree: ast.AST) -> set[int]:
    """The lines inside functions: those that no import runs."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {line for f in functions for line in range(f.body[0].lineno, (f.end_lineno or 0) + 1)}
