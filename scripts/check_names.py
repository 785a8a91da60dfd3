"""Nothing outside ``metrics/`` is chosen by the name of a metric.

What a metric is, is declared by its kind (``metrics/kinds.py``). So nowhere else in ``src/ssme``
may the name, title or definition of a metric be compared, looked up or taken apart, nor the
keywords of a partial function be read. Showing them is what they are for, and so is finding the
rows of a finished table: ``row["metric"] == metric.name`` is allowed.

Run: python scripts/check_names.py
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "ssme"
OWN_ROOM = "metrics"
WORDS = {"name", "title", "definition"}
LOOKUPS = {"get", "index", "pop", "setdefault", "count"}

BY_NAME: set[tuple[str, str]] = {
    ("results/evaluation.py", "rows"),
    ("results/evaluation.py", "metric_index"),
}
"""(file, function) where a user asks for the rows of a metric by its name."""


def check(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """(line, function, what is wrong) of each choice by a metric's words."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    metrics = find_metric_variables(tree)
    words = find_word_variables(tree, metrics)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "keywords":
            yield node.lineno, find_function(node, parents), "the keywords of a partial are read"
        if is_word(node, metrics) or (isinstance(node, ast.Name) and node.id in words):
            use = find_choice(node, parents)
            if use:
                yield node.lineno, find_function(node, parents), f"`{ast.unparse(node)}` {use}"


def find_function(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    """Name of the function that ``node`` stands in; empty at the top of a file."""
    while node in parents and not isinstance(node, ast.FunctionDef):
        node = parents[node]
    return node.name if isinstance(node, ast.FunctionDef) else ""


def find_metric_variables(tree: ast.Module) -> set[str]:
    """Names that hold a metric: by what they are called, annotated as, or taken from."""
    found = {"metric"}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and is_metric_type(node.annotation):
            found.add(node.arg)
        if isinstance(node, ast.For | ast.comprehension):
            pairs = [(node.target, node.iter)]
            if isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Tuple):
                arguments = node.iter.args
                targets = node.target.elts
                if ast.unparse(node.iter.func) == "enumerate":
                    targets = targets[1:]
                pairs = list(zip(targets, arguments, strict=False))
            for target, source in pairs:
                if isinstance(target, ast.Name) and is_many_metrics(source):
                    found.add(target.id)
    return found


def is_metric_type(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation) in ("Metric", "Metric | None")


def is_many_metrics(node: ast.AST) -> bool:
    last = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return last in ("metrics", "chosen_metrics", "METRICS")


def is_metric(node: ast.AST, metrics: set[str]) -> bool:
    if isinstance(node, ast.Subscript):
        return is_many_metrics(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr == "metric"
    return isinstance(node, ast.Name) and node.id in metrics


def is_word(node: ast.AST, metrics: set[str]) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in WORDS and is_metric(node.value, metrics)


def find_word_variables(tree: ast.Module, metrics: set[str]) -> set[str]:
    """Names that are assigned a metric's word."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and is_word(node.value, metrics):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def find_choice(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str | None:
    """How something is chosen by the word ``node``; None where it is shown or passed on."""
    parent = parents.get(node)
    while isinstance(parent, ast.Tuple):
        node, parent = parent, parents.get(parent)
    if isinstance(parent, ast.Compare):
        return None if is_search_of_rows(parent) else "is compared"
    if isinstance(parent, ast.match_case | ast.Match):
        return "is matched"
    if isinstance(parent, ast.Subscript) and parent.slice is node:
        return "is looked up"
    if isinstance(parent, ast.Attribute):
        return "is taken apart"
    is_lookup = (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr in LOOKUPS
        and node in parent.args
    )
    return "is looked up" if is_lookup else None


def is_search_of_rows(node: ast.Compare) -> bool:
    """Whether a table's column ``metric`` is compared, alone or together with other columns."""
    return any(
        isinstance(part, ast.Subscript)
        and isinstance(part.slice, ast.Constant)
        and part.slice.value == "metric"
        for side in (node.left, *node.comparators)
        for part in (side.elts if isinstance(side, ast.Tuple) else [side])
    )


def main() -> int:
    problems = []
    for path in sorted(SOURCE.rglob("*.py")):
        inside = path.relative_to(SOURCE)
        if inside.parts[0] == OWN_ROOM:
            continue
        for line, function, what in check(ast.parse(path.read_text(encoding="utf-8"))):
            if (inside.as_posix(), function) not in BY_NAME:
                problems.append(f"src/ssme/{inside}:{line}: {what} in `{function}`")
    print("\n".join(problems) or "no code outside metrics/ depends on the name of a metric")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
