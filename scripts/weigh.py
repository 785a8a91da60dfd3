"""Weight of the source: lines, files, names, and how much of it one evaluation runs and checks.

python scripts/weigh.py [TREE]      another checkout may be weighed from here: TREE is its root

Lines of capabilities that were added after the first count are also counted by themselves, where
they are in files, classes or functions of their own (`ADDED`).
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

ADDED = {
    "systems, judges, logs, gates in tests": (
        *("src/ssme/systems/*.py", "src/ssme/cli/systems.py", "src/ssme/cli/convert.py"),
        *(
            "src/ssme/data/readers/logs.py",
            "src/ssme/testing.py",
            "src/ssme/schema.py:SystemOptions",
        ),
        *("tests/systems/*.py", "tests/data/readers/test_logs.py", "tests/test_gates_in_ci.py"),
        *("tests/integrations/*harnesses.py", "tests/reference/make_pair_fixtures.py"),
        *("benchmarks/systems/*.py", "benchmarks/fuzz/logs.py", "docs/tutorials/9*.py"),
    ),
    "clusters of rows": (
        *("src/ssme/methods/clusters.py", "tests/methods/test_clusters.py"),
        *("src/**/*.py:*cluster*", "tests/**/*.py:*cluster*"),
        "tests/reference/make_cluster_fixtures.py",
    ),
    "labels by many people and other tools": (
        *("src/ssme/serve/exchange.py", "tests/serve/test_annotating.py", "scripts/make_tour.py"),
        *(f"benchmarks/serve/{name}.py" for name in ("clicks", "crowd", "days", "lag")),
    ),
    "rows of published methods, when to stop": (
        *("src/ssme/results/active_selection.py", "tests/suggest/test_active_selection.py"),
        *(
            "tests/reference/*rival*.py",
            "benchmarks/decide/picking.py",
            "tests/bench/test_picking.py",
        ),
        *("benchmarks/decide/effective_labels.py", "benchmarks/speed/rounds.py"),
    ),
    "files joined by id": (
        *("src/ssme/data/readers/joined.py", "tests/data/readers/test_joined.py"),
    ),
    "a corpus of panels": (
        *("benchmarks/corpus/*.py", "tests/bench/test_corpus.py", "benchmarks/auto/seed_noise.py"),
    ),
    "claims of the paper that were open": (
        *(f"benchmarks/accuracy/{name}.py" for name in ("votes", "dependencies", "flows")),
        "tests/bench/test_votes.py",
    ),
}
"""Capability -> patterns of its files, or of classes and functions in them (after a colon)."""
TRACED = """
import json, sys
import ssme
from ssme.sample import sample_path
functions, calls, checks = set(), 0, 0
def trace(frame, event, _):
    global calls, checks
    if event == "call" and "/ssme/" in frame.f_code.co_filename:
        calls += 1
        code = frame.f_code
        checks += code.co_name == "accept" and code.co_filename.endswith("options.py")
        if not code.co_name.startswith("<"):
            functions.add((code.co_filename, code.co_qualname))
def run():
    {call}
run()
sys.setprofile(trace)
run()
sys.setprofile(None)
files = len({{name for name, _ in functions}})
print(json.dumps([len(functions), files, calls, checks]))
"""
IN_PYTHON = "ssme.evaluate(sample_path(), 'label')"
ON_THE_COMMAND_LINE = """
    import io, contextlib
    from ssme.cli import main
    sys.argv = ["ssme", "evaluate", str(sample_path()), "--label", "label", "--quiet"]
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main()
"""


def main(tree: Path) -> None:
    source = tree / "src" / "ssme"
    files = sorted(source.rglob("*.py"))
    everything = [p for p in tree.rglob("*.py") if not p.relative_to(tree).parts[0].startswith(".")]
    lines = of_all = sum(_count_lines(path) for path in files)
    packages = {path.parent for path in files}
    overhead = sum(_count_overhead(path) for path in files)
    total = sum(map(_count_lines, everything))
    print(f"lines of src, of all Python      {lines:,}, {total:,}")
    for name, patterns in ADDED.items():
        added = _find_added(tree, patterns)
        of_source = sum(path.is_relative_to(source) for path, _ in added)
        print(f"  of these, {name + ':':<43}{of_source:>6,}{len(added):>7,}")
        lines, total = lines - of_source, total - len(added)
    print(f"  without these                        {lines:,}, {total:,}")
    print(f"files, packages of src           {len(files)}, {len(packages)}")
    print(f"imports and __all__              {overhead:,} lines, {overhead / of_all:.1%}")
    functions, touched, _, checks = _trace(tree, IN_PYTHON)
    print(f"behind evaluate(csv)             {functions} functions in {touched} files")
    print(f"values of options checked        {checks}")
    _, _, calls, checks = _trace(tree, ON_THE_COMMAND_LINE)
    print(f"calls of ssme evaluate           {calls:,}, checks {checks}")


def _count_lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _find_added(tree: Path, patterns: Iterable[str]) -> set[tuple[Path, int]]:
    """Lines of the files, or of classes and functions in them, each line once."""
    found = set()
    for pattern in patterns:
        files, _, names = pattern.partition(":")
        for path in tree.glob(files):
            if not names:
                found |= {(path, line) for line in range(_count_lines(path))}
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                named = isinstance(node, ast.FunctionDef | ast.ClassDef)
                if named and fnmatch(node.name, names):
                    lines = range(node.lineno - 1, node.end_lineno or node.lineno)
                    found |= {(path, line) for line in lines}
    return found


def _count_overhead(path: Path) -> int:
    """Lines that import or list names."""
    found = 0
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        listed = isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        )
        if listed or isinstance(node, ast.Import | ast.ImportFrom):
            found += (node.end_lineno or node.lineno) - node.lineno + 1
    return found


def _trace(tree: Path, call: str) -> list[int]:
    """Functions, files and calls of a second run: imports are not counted."""
    done = subprocess.run(
        [sys.executable, "-c", TRACED.format(call=call)],
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
