"""Groupings: values, bins, intersections, what is put together, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssme.data.grouping import Pooling, divide, list_named_columns, parse_group_by

COLUMNS: dict[str, Any] = {
    "sex": np.array(["f", "m", "f", "m", "f", None], dtype=object),
    "age": np.array([10, 20, 30, 40, 50, None], dtype=object),
    "a+b": np.array(list("xxyyzz"), dtype=object),
}


def rows_of(text: str, **pooling: int) -> dict[str, list[int]]:
    group_by = parse_group_by(text, COLUMNS).settle(COLUMNS)
    return {d.name: d.rows.tolist() for d in divide(group_by, COLUMNS, Pooling(**pooling))}


def test_values_edges_and_quantiles() -> None:
    assert rows_of("sex") == {"sex=None": [5], "sex=f": [0, 2, 4], "sex=m": [1, 3]}
    assert rows_of("age:edges=20/40") == {
        "age=None": [5],
        "age<20": [0],
        "20<=age<40": [1, 2],
        "age>=40": [3, 4],
    }
    halves = rows_of("age:quantiles=2")
    assert halves["age<30"] == [0, 1]
    assert halves["age>=30"] == [2, 3, 4]


def test_the_text_none_is_another_group_than_a_missing_value() -> None:
    column = {"site": np.array(["None", None, "a"], dtype=object)}
    groups = divide(parse_group_by("site", column).settle(column), column, Pooling())
    found = {group.name: group.rows.tolist() for group in groups}
    assert found == {"site=None": [1], "site='None'": [0], "site=a": [2]}


def test_every_row_is_in_one_group_of_a_grouping() -> None:
    for text in ("sex", "age:edges=15", "age:quantiles=3", "sex+age:edges=25", "a+b"):
        rows = sorted(row for of in rows_of(text).values() for row in of)
        assert rows == list(range(6))


def test_intersections_hold_what_their_parts_hold() -> None:
    both = rows_of("sex+age:edges=25")
    assert both["sex=f & age<25"] == [0]
    assert both["sex=f & age>=25"] == [2, 4]
    assert "sex=None & age<25" not in both


def test_a_column_whose_name_reads_like_a_grouping_is_that_column() -> None:
    assert list(rows_of("a+b")) == ["a+b=x", "a+b=y", "a+b=z"]
    assert list_named_columns(["a+b", "sex+age:quantiles=2"], COLUMNS) == ("a+b", "sex", "age")


def test_small_groups_and_those_beyond_the_limit_are_put_together_by_name() -> None:
    assert rows_of("sex", least_rows=2) == {
        "sex=f": [0, 2, 4],
        "sex=m": [1, 3],
        "sex: 1 smaller group together": [5],
    }
    assert rows_of("sex", most_groups=1) == {
        "sex=f": [0, 2, 4],
        "sex: 2 smaller groups together": [1, 3, 5],
    }


def test_equal_values_make_fewer_quantiles_and_no_empty_group() -> None:
    column = {"x": np.array([1, 1, 1, 1, 2], dtype=object)}
    group_by = parse_group_by("x:quantiles=4", column).settle(column)
    found = divide(group_by, column, Pooling())
    assert sum(d.rows.size for d in found) == 5
    assert all(d.rows.size for d in found)


def test_a_settled_grouping_reads_back_as_text() -> None:
    settled = parse_group_by("sex+age:quantiles=4", COLUMNS).settle(COLUMNS)
    again = parse_group_by(settled.fixed_text, COLUMNS)
    assert again.parts == settled.parts
