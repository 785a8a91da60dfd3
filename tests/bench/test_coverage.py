"""The table of coverage counts every file once, in its room and in all."""

from __future__ import annotations

from benchmarks.coverage import find_room, tabulate_rooms


def counts(lines: int, run: int, branches: int, taken: int) -> dict[str, int]:
    names = ("num_statements", "covered_lines", "num_branches", "covered_branches")
    return dict(zip(names, (lines, run, branches, taken), strict=True))


def test_rooms_and_their_sums() -> None:
    rows = tabulate_rooms(
        {
            "src/ssme/metrics/base.py": counts(10, 9, 4, 3),
            "src/ssme/metrics/confusion.py": counts(30, 30, 0, 0),
            "src/ssme/run.py": counts(5, 0, 0, 0),
        }
    )
    assert [row["room"] for row in rows] == ["metrics", "run", "all"]
    assert [row["line_share"] for row in rows] == [0.975, 0.0, round(39 / 45, 4)]
    assert [row["branch_share"] for row in rows] == [0.75, 1.0, 0.75]
    assert [row["share"] for row in rows] == [round(42 / 44, 4), 0.0, round(42 / 49, 4)]


def test_rooms_are_packages_or_modules() -> None:
    assert find_room("src/ssme/data/readers/tables.py") == "data"
    assert find_room("/somewhere/src/ssme/writing.py") == "writing"
