"""Names: nothing is chosen by a metric's; functions begin with verbs; no two classes share one.

What a metric is, is declared by its kind (``metrics/kinds.py``). So nowhere else in ``src/ssme``
may the name, title or definition of a metric be compared, looked up or taken apart, nor the
keywords of a partial function be read. Showing them is what they are for, and so is finding the
rows of a finished table: ``row["metric"] == metric.name`` is allowed.

A function says by its name what it does: its first word is a verb of ``scripts/verbs.txt``, which
is extended on purpose, or a predicate (`is_`, `has_`, `holds_`). A conversion or a changed copy
begins as in pandas and pathlib (`to_`, `from_`, `as_`, `with_`), a logarithm with `log_`.
Properties, class methods, which are constructors, and commands of the command line may be nouns.
Every other noun stands in `NOUNS` with the reason. The functions of `BESIDE`, benchmarks and
scripts, are held to it too; of `NOUNS` they may only have what `OUTSIDE` names.

One word is one thing: no two classes of ``src/ssme`` have the same name, with or without an
underscore before it.

Run: python scripts/check_names.py
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
SOURCE = TOP / "src" / "ssme"
BESIDE = ("benchmarks/**/*.py", "scripts/*.py", "docs/extensions/*.py")
"""Further files whose functions begin with verbs."""
OWN_ROOM = "metrics"
WORDS = {"name", "title", "definition"}
LOOKUPS = {"get", "index", "pop", "setdefault", "count"}

BY_NAME: set[tuple[str, str]] = {
    ("results/evaluation.py", "rows"),
    ("results/evaluation.py", "metric_index"),
    ("results/notebook.py", "evaluation_html"),
}
"""(file, function) where a user asks for the rows of a metric by its name."""


VERBS = frozenset((Path(__file__).parent / "verbs.txt").read_text(encoding="utf-8").split())
"""First words of functions, to which a new one is added on purpose."""
CONVERSIONS = frozenset({"as", "from", "log", "to", "with"})
"""First words of conversions, of changed copies and of logarithms."""
CONSTRUCTORS = frozenset({"property", "cached_property", "setter", "classmethod", "overload"})
COMMANDS = frozenset({"register_command", "callback"})
"""Decorators of functions that are named as what a person types."""

NOUNS = {
    "functions of mathematics, rules and statistics, which are their own names": (
        *("alr", "at", "exp", "logit", "sigmoid", "softmax", "kish", "wilson", "newcombe_auc"),
        *("boyd_ap", "silverman", "scott", "isj", "public_code", "kappa", "quadratic_kappa"),
        *("matthews", "grade_error", "recall_macro", "precision_macro", "f1_macro", "f1_weighted"),
    ),
    "public metrics and what authors of metrics use": (
        *("at_prevalence", "at_threshold", "class_metric", "confusion_matrices"),
        *("decision_metric", "default_metrics", "ece", "expected_cost", "expected_utility"),
        *("linear_plan", "metric_names", "one_hot_mass", "predicted_classes", "total_of"),
    ),
    "public tables, columns and sentences of results": (
        *("class_index", "frame", "gaps", "gate", "group_index", "interval", "metric_index"),
        *("model_index", "ranking", "report", "rows", "sentence", "spec", "table", "text"),
        *("worst_groups",),
    ),
    "pictures of an evaluation: `result.plot.roc()`": (
        *("agreement", "confusion", "convergence", "densities", "estimates", "groups"),
        *("precision_recall", "reliability", "roc"),
    ),
    "other public names, kept for those who use them": (
        *("accuracy_bound", "accuracy_of_separation", "auc_bound", "auc_of_separation"),
        *("data_folder", "dataset_names", "effective_sample_size"),
        *("gaussian_set", "geometric_rmae", "labels_only_curve", "least_useful_separation"),
        *("method_names", "performance_band", "provenance", "reading_options", "sample_path"),
        *("scores_from", "seen_rows", "semisynthetic_set", "separation_error"),
        *("separation_of_accuracy", "separation_of_auc", "separations", "theorem_1"),
        *("truth_path", "ul_plus", "conflicts", "evaluation", "evaluations", "label_events"),
        *("labels",),
    ),
    "words of a sentence: `argument('level', 2)` in a message, `option(...)` in a declaration": (
        *("argument", "option"),
    ),
    "verbs that elsewhere are nouns, so that no word of the list allows them": (
        *("attack", "damage", "damage_members", "fuzz", "group_arrow", "group_values", "label"),
        *("number_class", "number_key", "number_rows", "place_rows", "post", "sample"),
    ),
    "names that other libraries ask for": (
        *("forward", "handle_starttag", "invoke", "lifespan", "main"),
        *("pytest_collection_modifyitems", "pytest_collectreport", "pytest_runtest_logreport"),
        *("pytest_runtest_protocol", "pytest_runtest_setup", "repr_html", "repr_mimebundle"),
        *("setup", "shutdown", "startup", "visit"),
    ),
}
"""Why a name without a verb is one -> such names, without the underscore of private ones."""
ACCEPTED = frozenset(name for names in NOUNS.values() for name in names)
OUTSIDE = frozenset(
    name
    for reason in ("verbs that elsewhere are nouns", "names that other libraries ask for")
    for why, names in NOUNS.items()
    if why.startswith(reason)
    for name in names
)
"""Those that the files of `BESIDE` may have: no public name is one of theirs."""


def find_unclear_names(
    tree: ast.Module, accepted: frozenset[str] = ACCEPTED
) -> Iterator[tuple[int, str]]:
    """(line, name) of each function or method whose name does not begin with a verb."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        written = (ast.unparse(each).partition("(")[0] for each in node.decorator_list)
        decorators = {each.rsplit(".", 1)[-1] for each in written}
        if decorators & (CONSTRUCTORS | COMMANDS) or node.name.startswith("__"):
            continue
        word = node.name.strip("_")
        if word not in accepted and word.split("_")[0] not in VERBS | CONVERSIONS:
            yield node.lineno, node.name


def find_shared_names(trees: Mapping[str, ast.Module]) -> Iterator[tuple[str, list[str]]]:
    """(name, places) of classes that are called alike, leading underscores aside."""
    places: dict[str, list[str]] = {}
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name.strip("_"), []).append(f"{file}:{node.lineno}")
    yield from ((name, found) for name, found in places.items() if len(found) > 1)


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
    problems, trees = [], {}
    for path in sorted(SOURCE.rglob("*.py")):
        inside = path.relative_to(SOURCE)
        trees[f"src/ssme/{inside}"] = tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in find_unclear_names(tree):
            problems.append(
                f"src/ssme/{inside}:{line}: `{name}` does not begin with a verb: rename it, "
                "or add its first word to scripts/verbs.txt if that is one"
            )
        if inside.parts[0] == OWN_ROOM:
            continue
        for line, function, what in check(tree):
            if (inside.as_posix(), function) not in BY_NAME:
                problems.append(f"src/ssme/{inside}:{line}: {what} in `{function}`")
    for path in sorted(found for pattern in BESIDE for found in TOP.glob(pattern)):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in find_unclear_names(tree, OUTSIDE):
            problems.append(f"{path.relative_to(TOP)}:{line}: `{name}` does not begin with a verb")
    for name, places in find_shared_names(trees):
        problems.append(f"{' and '.join(places)}: both classes are called `{name}`")
    print(
        "\n".join(problems)
        or "no metric is told by its name; functions begin with verbs; no two classes share a name"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
