"""Weight of the source: lines, files, names, flags, and how much of it one evaluation runs.

python scripts/weigh.py [TREE]      another checkout may be weighed from here: TREE is its root
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

TRACED = """
import json, sys
import ssme
from ssme.sample import sample_path
functions, calls = set(), 0
def trace(frame, event, _):
    global calls
    if event == "call" and "/ssme/" in frame.f_code.co_filename:
        calls += 1
        code = frame.f_code
        if not code.co_name.startswith("<"):
            functions.add((code.co_filename, code.co_qualname))
def run():
    {call}
run()
sys.setprofile(trace)
run()
sys.setprofile(None)
print(json.dumps([len(functions), len({{name for name, _ in functions}}), calls]))
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
    lines = sum(_count_lines(path) for path in files)
    packages = {path.parent for path in files}
    overhead = sum(_count_overhead(path) for path in files)
    print(f"lines of src                     {lines:,}")
    print(f"lines of all Python              {sum(map(_count_lines, everything)):,}")
    print(f"files, packages of src           {len(files)}, {len(packages)}")
    print(f"imports and __all__              {overhead:,} lines, {overhead / lines:.1%}")
    functions, touched, _ = _trace(tree, IN_PYTHON)
    print(f"behind evaluate(csv)             {functions} functions in {touched} files")
    *_, calls = _trace(tree, ON_THE_COMMAND_LINE)
    print(f"calls of ssme evaluate           {calls:,}")


def _count_lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


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
