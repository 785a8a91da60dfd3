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
