"""Names: outside ``metrics/`` nothing is chosen by a metric's; a function's says something.

What a metric is, is declared by its kind (``metrics/kinds.py``). So nowhere else in ``src/ssme``
may the name, title or definition of a metric be compared, looked up or taken apart, nor the
keywords of a partial function be read. Showing them is what they are for, and so is finding the
rows of a finished table: ``row["metric"] == metric.name`` is allowed.

A function says by its name what it does, with a verb, or what it returns, with the name of that
quantity, as NumPy's functions do (`softmax`, `log_likelihood`); so metrics, densities, pages of a
server, columns of a table and pictures of an evaluation are named by nouns. One participle, adverb
or adjective says neither (`given`, `here`, `_told`, `_held`), nor does what begins as half of a
sentence (`_not_found`, `_too_deep`), so that no function or method has such a name; a property may,
and so may a class method, which is a constructor.

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
    ("results/notebook.py", "evaluation_html"),
}
"""(file, function) where a user asks for the rows of a metric by its name."""


SAY_NEITHER = {
    *("above", "again", "against", "alone", "another", "around", "below", "best", "beyond"),
    *("chosen", "drawn", "either", "everyone", "few", "found", "given", "gone", "held", "here"),
    *("how", "inside", "kept", "known", "left", "long", "made", "met", "near", "next", "only"),
    *("other", "others", "outside", "over", "own", "plain", "right", "said", "same", "seen"),
    *("shown", "shrunk", "small", "some", "spelled", "sure", "taken", "there", "together"),
    *("told", "too", "top", "which", "whole", "wide", "within", "without", "worst", "written"),
    *(
        "ambiguous",
        "equal",
        "exact",
        "explicit",
        "frozen",
        "hidden",
        "inexact",
        "missing",
        "nearest",
    ),
    *("occurring", "overconfident", "present", "rectangular", "remade", "rewritten", "sortable"),
    *("stray", "summing", "understood", "unlike", "unwritable", "vague", "visible", "worse"),
}
"""Words that alone are no name of a function; so are all regular participles, those in -ed."""
HALF_SENTENCES = {"left", "none", "not", "only", "too"}
"""Words with which no name of a function begins."""
VERBS_IN_ED = {"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed"}


def find_unclear_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, name) of each function or method whose name is one participle, adverb or adjective."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        decorators = {ast.unparse(each).rsplit(".", 1)[-1] for each in node.decorator_list}
        if decorators & {"property", "cached_property", "classmethod"}:
            continue
        word = node.name.strip("_")
        participle = word.endswith("ed") and "_" not in word and word not in VERBS_IN_ED
        if word in SAY_NEITHER or participle or word.split("_")[0] in HALF_SENTENCES:
            yield node.lineno, node.name


def check(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """(line, function, what is wrong) of each choice by a metric's words."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    metrics = metric_variables(tree)
    words = word_variables(tree, metrics)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "keywords":
            yield node.lineno, function_of(node, parents), "the keywords of a partial are read"
        if is_word(node, metrics) or (isinstance(node, ast.Name) and node.id in words):
            use = chosen_by(node, parents)
            if use:
                yield node.lineno, function_of(node, parents), f"`{ast.unparse(node)}` {use}"


def function_of(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    """Name of the function that ``node`` stands in; empty at the top of a file."""
    while node in parents and not isinstance(node, ast.FunctionDef):
        node = parents[node]
    return node.name if isinstance(node, ast.FunctionDef) else ""


def metric_variables(tree: ast.Module) -> set[str]:
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


def word_variables(tree: ast.Module, metrics: set[str]) -> set[str]:
    """Names that are assigned a metric's word."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and is_word(node.value, metrics):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def chosen_by(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str | None:
    """How something is chosen by the word ``node``; None where it is shown or passed on."""
    parent = parents.get(node)
    while isinstance(parent, ast.Tuple):
        node, parent = parent, parents.get(parent)
    if isinstance(parent, ast.Compare):
        return None if finds_table_rows(parent) else "is compared"
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


def finds_table_rows(node: ast.Compare) -> bool:
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
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in find_unclear_names(tree):
            problems.append(f"src/ssme/{inside}:{line}: `{name}` is no name of a function")
        if inside.parts[0] == OWN_ROOM:
            continue
        for line, function, what in check(tree):
            if (inside.as_posix(), function) not in BY_NAME:
                problems.append(f"src/ssme/{inside}:{line}: {what} in `{function}`")
    print(
        "\n".join(problems)
        or "no metric is told by its name; functions have names that say something"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
