"""The check that no number at the top of a module changes a result unseen."""

from __future__ import annotations

import ast

import pytest
from scripts import check_numbers


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("LIMIT = 20", ["LIMIT"]),
        ("LIMIT: float = -0.5", ["LIMIT"]),
        ("LOW, HIGH = 0.1, 1 << 20", ["LOW", "HIGH"]),
        ('SIZES = {"a": (1, 2)}', ["SIZES"]),
        ("ON = True", []),
        ('NAME = "20"', []),
        ("LAST = names[2]", []),
        ("class Constants:\n    limit: int = 20", []),
        ("def f(limit=20):\n    return limit", []),
    ],
)
def test_numbers_at_the_top_are_found(source: str, names: list[str]) -> None:
    assert list(check_numbers.find_numbers(ast.parse(source))) == names


def test_each_number_has_one_reason() -> None:
    tables = check_numbers.REASONS.values()
    listed = [
        (file, name) for table in tables for file, names in table.items() for name in names.split()
    ]
    assert len(listed) == len(set(listed))
