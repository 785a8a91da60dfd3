"""The check that nothing outside ``metrics/`` is chosen by a metric's name."""

from __future__ import annotations

import ast

import pytest
from scripts import check_names

FORBIDDEN = [
    'if metric.name == "accuracy": pass',
    'ok = metric.name in ("accuracy", "f1")',
    'ok = metric.name.startswith("ece")',
    "value = STRETCH[metric.name]",
    "value = STRETCH.get(metric.name, 1.0)",
    'for m in self.metrics:\n    if m.name != "ece": pass',
    'for i, m in enumerate(metrics):\n    if m.title == "ECE": pass',
    'name = metric.name\nif name == "ece": pass',
    "name, _, at = metric.name.partition('@')",
    'ok = self.metrics[0].name == "ece"',
    'def f(one: Metric):\n    return one.name == "ece"',
    "threshold = metric.plan.keywords['threshold']",
]
ALLOWED = [
    "print(metric.name)",
    'text = f"{metric.name} is undefined"',
    "shown = {metric.name: metric.definition for metric in metrics}",
    'rows = [row for row in table if row["metric"] == metric.name]',
    'same = (row["metric"], row["group"]) == (metric.name, "all")',
    'if isinstance(metric.kind, Ranking) and metric.kind.average == "macro": pass',
    'if method.name == "auto": pass',
]


@pytest.mark.parametrize("code", FORBIDDEN)
def test_a_choice_by_name_is_found(code: str) -> None:
    assert list(check_names.check(ast.parse(code)))


@pytest.mark.parametrize("code", ALLOWED)
def test_showing_a_name_is_allowed(code: str) -> None:
    assert not list(check_names.check(ast.parse(code)))


def test_the_source_chooses_nothing_by_name() -> None:
    assert check_names.main() == 0


@pytest.mark.parametrize(
    "code",
    [
        "def _told(): ...",
        "def _covariances(x): ...",
        "def weighted_median(x): ...",
        "class A:\n    def moved(self): ...",
        "class A:\n    async def rows_of(self): ...",
        "def fit():\n    def values(mass): ...",
        "def _not_found(): ...",
        "def _label_column(): ...",
    ],
)
def test_a_noun_a_participle_or_half_a_sentence_is_no_name_of_a_function(code: str) -> None:
    assert [name for _, name in check_names.find_unclear_names(ast.parse(code))]


@pytest.mark.parametrize(
    "code",
    [
        "def softmax(z): ...",
        "def _logit(p): ...",
        "def move(): ...",
        "def _compute_covariances(x): ...",
        "def is_binary(): ...",
        "def to_frame(): ...",
        "def log_likelihood(theta): ...",
        "class A:\n    @property\n    def labeled(self): ...",
        "class A:\n    @classmethod\n    def fine(cls): ...",
        "class A:\n    def __len__(self): ...",
        "@register_command('Look up')\ndef methods(): ...",
    ],
)
def test_a_verb_or_a_declared_noun_is_one(code: str) -> None:
    assert not list(check_names.find_unclear_names(ast.parse(code)))


def test_benchmarks_and_scripts_borrow_no_noun_of_the_public_names() -> None:
    tree = ast.parse("def table(): ...\ndef ranking(): ...\ndef label(): ...\ndef main(): ...")
    assert not list(check_names.find_unclear_names(tree))
    found = [name for _, name in check_names.find_unclear_names(tree, check_names.OUTSIDE)]
    assert found == ["table", "ranking"]


def test_verbs_are_words_in_order_and_nouns_are_declared_once() -> None:
    listed = (check_names.Path(check_names.__file__).parent / "verbs.txt").read_text().split()
    assert listed == sorted(set(listed))
    nouns = [name for names in check_names.NOUNS.values() for name in names]
    assert len(nouns) == len(set(nouns))


def test_declared_nouns_are_names_of_functions() -> None:
    found = set()
    beside = [path for each in check_names.BESIDE for path in check_names.TOP.glob(each)]
    assert len(beside) > len(check_names.BESIDE)
    for path in (*check_names.SOURCE.rglob("*.py"), *beside):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(node.name.strip("_"))
    assert found >= check_names.ACCEPTED


def test_two_classes_of_one_name_are_found() -> None:
    trees = {"a.py": "class Reader: ...", "b.py": "class _Reader: ...", "c.py": "class Other: ..."}
    parsed = {file: ast.parse(code) for file, code in trees.items()}
    assert list(check_names.find_shared_names(parsed)) == [("Reader", ["a.py:1", "b.py:1"])]
