"""Imports point one way: each room of ``src/ssme`` may import only those listed before it.

Run: python scripts/check_imports.py
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "ssme"

ALLOWED: dict[str, set[str]] = {
    "arrays": set(),
    "wording": set(),
    "errors": {"wording"},
    "options": {"wording", "errors"},
    "schema": {"wording", "errors", "options"},
    "writing": {"wording", "errors"},
    "progress": set(),
    "show.sections": set(),
    "show.door": set(),
    "config": {"wording", "errors", "options", "writing"},
    "executors": {"arrays", "errors", "progress"},
    "data": {"arrays", "wording", "errors", "options", "schema", "writing", "data.readers"},
    "data.readers": {"arrays", "wording", "errors", "options", "schema", "writing", "data"},
    "data.door": {"errors", "options", "schema", "data", "data.readers"},
    "metrics": {"arrays", "wording", "errors", "options"},
    "mixture": {"arrays", "errors", "progress", "executors"},
}
ALLOWED["methods"] = {*ALLOWED} - {"data.readers", "data.door", "config"}
ALLOWED["sklearn"] = {*ALLOWED}
ALLOWED["diagnostics"] = {*ALLOWED} - {"sklearn"}
ALLOWED["spec"] = {*ALLOWED} - {"sklearn", "diagnostics"}
ALLOWED["results"] = {*ALLOWED} - {"sklearn"}
ALLOWED["memory"] = {*ALLOWED} - {"sklearn"}
ALLOWED["show"] = {*ALLOWED} - {"sklearn"}
ALLOWED["results.evaluation"] = {*ALLOWED} - {"sklearn"}
ALLOWED["results.door"] = set()
ALLOWED["fitting"] = {*ALLOWED} - {"sklearn"}
ALLOWED["stream"] = {*ALLOWED} - {"sklearn"}
ALLOWED["run"] = {*ALLOWED} - {"sklearn"}
ALLOWED["systems"] = {*ALLOWED} - {"sklearn", "run"}
ALLOWED["bench"] = {*ALLOWED}
ALLOWED["sample"] = {"errors", "data"}
ALLOWED["testing"] = set()
ALLOWED["serve"] = {*ALLOWED} - {"sklearn", "bench"}
ALLOWED["cli"] = {*ALLOWED}
INNER = {room.split(".")[0] for room in ALLOWED if "." in room}
"""Packages with rooms inside. Their ``__init__`` is a door: it may import all of these rooms, and
none of them imports it."""


def find_room(path: Path) -> str:
    return name_room(path.relative_to(SOURCE).with_suffix("").parts)


def name_room(parts: tuple[str, ...]) -> str:
    """The room of the module ``parts``, without ``ssme``: (data, readers, wide) -> data.readers."""
    if parts[0] not in INNER:
        return parts[0]
    if len(parts) == 1 or parts[1] == "__init__":
        return f"{parts[0]}.door"
    inner = ".".join(parts[:2])
    return inner if inner in ALLOWED else parts[0]


def is_module(parts: list[str]) -> bool:
    path = SOURCE.joinpath(*parts)
    return path.is_dir() or path.with_suffix(".py").is_file()


def list_imports(tree: ast.Module) -> list[tuple[int, str]]:
    """(line, room) of each import of one of our own rooms, also inside functions.

    What only a type checker imports does not count.
    """
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.test, node.body = ast.Constant(False), [ast.Pass()]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ssme":
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [n if is_module(n.split(".")[1:]) else str(node.module) for n in whole]
        for name in dict.fromkeys(names):
            parts = name.split(".")
            if parts[0] == "ssme" and len(parts) > 1:
                found.append((node.lineno, name_room(tuple(parts[1:]))))
    return found


def main() -> int:
    problems = []
    for path in sorted(SOURCE.rglob("*.py")):
        room = find_room(path)
        if room in ("__init__", "__main__"):
            continue
        where = path.relative_to(SOURCE.parents[1])
        if room not in ALLOWED:
            problems.append(f"{where}: room {room!r} is not in scripts/check_imports.py")
            continue
        for line, target in list_imports(ast.parse(path.read_text())):
            if target == room or target.startswith("__"):
                continue
            if target not in ALLOWED[room]:
                problems.append(f"{where}:{line}: {room} must not import {target}")
    print("\n".join(problems) or f"imports point one way ({len(ALLOWED)} rooms)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
