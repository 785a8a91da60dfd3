"""Imports point one way: each room of ``src/ssme`` may import only those listed before it.

Run: python scripts/check_imports.py
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "ssme"

ALLOWED: dict[str, set[str]] = {
    "wording": set(),
    "errors": {"wording"},
    "options": {"wording", "errors"},
    "writing": {"wording", "errors"},
    "progress": set(),
    "config": {"wording", "errors", "options", "writing"},
    "engines": {"errors", "progress"},
    "data": {"wording", "errors", "options", "writing"},
    "transforms": {"errors"},
    "metrics": {"errors"},
    "densities": {"errors", "engines", "transforms"},
    "mixture": {"errors", "progress", "engines", "transforms", "densities"},
}
ALLOWED["methods"] = {*ALLOWED, "data"}
ALLOWED["estimator"] = {*ALLOWED}
ALLOWED["diagnostics"] = {*ALLOWED} - {"estimator"}
ALLOWED["results"] = {*ALLOWED} - {"estimator"}
ALLOWED["plots"] = {*ALLOWED} - {"estimator"}
ALLOWED["report"] = {*ALLOWED} - {"estimator"}
ALLOWED["integrations"] = {*ALLOWED} - {"estimator"}
ALLOWED["evaluation"] = {*ALLOWED} - {"estimator"}
ALLOWED["run"] = {*ALLOWED} - {"estimator"}
ALLOWED["bench"] = {*ALLOWED}
ALLOWED["stream"] = {*ALLOWED} - {"bench"}
ALLOWED["theory"] = {"errors", "data"}
ALLOWED["datasets"] = {"errors", "wording", "data"}
ALLOWED["sample"] = {"errors", "data"}
ALLOWED["sklearn"] = {"errors", "data"}
ALLOWED["cli"] = {*ALLOWED}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(tree: ast.Module) -> list[tuple[int, str]]:
    """(line, room) of each import of one of our own rooms, also inside functions."""
    found = []
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.module == "ssme":
                names = [f"ssme.{alias.name}" for alias in node.names]
            elif node.module:
                names = [node.module]
        for name in names:
            parts = name.split(".")
            if parts[0] == "ssme" and len(parts) > 1:
                found.append((node.lineno, parts[1]))
    return found


def main() -> int:
    problems = []
    for path in sorted(SOURCE.rglob("*.py")):
        room = room_of(path)
        if room in ("__init__", "__main__"):
            continue
        where = path.relative_to(SOURCE.parents[1])
        if room not in ALLOWED:
            problems.append(f"{where}: room {room!r} is not in scripts/check_imports.py")
            continue
        for line, target in imports_of(ast.parse(path.read_text())):
            if target == room or target.startswith("__"):
                continue
            if target not in ALLOWED[room]:
                problems.append(f"{where}:{line}: {room} must not import {target}")
    print("\n".join(problems) or f"imports point one way ({len(ALLOWED)} rooms)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
