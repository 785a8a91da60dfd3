"""The faults of `benchmarks.mutation` are what they say, and nothing else changes."""

from __future__ import annotations

import ast

import pytest
from benchmarks.mutation.covering import Reach
from benchmarks.mutation.operators import UNCHANGED, mutants, mutated

SOURCE = '''"""A docstring with 1 and 2."""
LIMIT = 3

def f(x: int | None, flag=True):
    """Another, with 4."""
    if x is None:
        raise ValueError(f"{x} is less than {LIMIT + 1}")
    total = 0
    for value in range(x):
        if value < LIMIT and flag:
            continue
        total += max(value, -1)
    return total / 2.0
'''


def test_every_mutant_is_one_change():
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    for mutant in mutants(SOURCE, "f.py"):
        changed = ast.unparse(mutated(SOURCE, mutant.number)).splitlines()
        assert len(changed) == len(plain)
        assert sum(a != b for a, b in zip(plain, changed, strict=True)) == 1, mutant
        compile(mutated(SOURCE, mutant.number), "f.py", "exec")
    assert ast.unparse(mutated(SOURCE, UNCHANGED)) == "\n".join(plain)


def test_the_faults_are_those_of_the_code_and_not_of_words():
    found = {(m.before, m.after) for m in mutants(SOURCE, "f.py")}
    assert found == {
        ("3", "4"),
        ("True", "False"),
        ("x is None", "x is not None"),
        ("0", "1"),
        ("value < LIMIT and flag", "value < LIMIT or flag"),
        ("value < LIMIT", "value <= LIMIT"),
        ("value < LIMIT and flag", "not (value < LIMIT and flag)"),
        ("continue", "break"),
        ("total += max(value, -1)", "total -= max(value, -1)"),
        ("total += max(value, -1)", "pass"),
        ("max(value, -1)", "min(value, -1)"),
        ("-1", "1"),
        ("1", "2"),
        ("total / 2.0", "total * 2.0"),
        ("2.0", "4.0"),
    }


@pytest.mark.parametrize(
    ("before", "expected"), [("total / 2.0", ["b"]), ("x is None", ["b", "a"]), ("3", ["b", "a"])]
)
def test_a_mutant_meets_the_tests_that_reach_its_statement(before, expected):
    reach = Reach({"a": 2.0, "b": 1.0}, {"a": {"f.py": {6, 7}}, "b": {"f.py": {6, 8, 9, 13}}})
    mutant = next(m for m in mutants(SOURCE, "f.py") if m.before == before)
    assert reach.tests_of(mutant, SOURCE, 10.0) == expected
