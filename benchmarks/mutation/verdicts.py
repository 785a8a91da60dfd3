"""Files of a run over mutants: one line per mutant, counts, and which faults change nothing.

`equivalent.csv` lists changes after which the program does the same, each with its reason, by file,
function, line of code and text before and after. A survivor found there counts as equivalent; a
mutant that was killed never does.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.mutation.operators import Mutant

__all__ = ["COLUMNS", "Log", "equivalents", "find_again", "read_rows"]
__all__ += ["reason_of", "summarize", "write"]

EQUIVALENT = Path(__file__).with_name("equivalent.csv")
COLUMNS = ("group", "file", "line", "function", "code", "operator", "before", "after", "number")
COLUMNS += ("outcome", "killed_by", "tests", "seconds", "reason")
CHANGE = ("file", "function", "code", "before", "after")
"""What tells one change from another while the lines around it move."""


class Log:
    """A file to which every row is written at once."""

    def __init__(self, path: Path, rows: Sequence[dict[str, Any]] = ()) -> None:
        self.path, self.rows = path, list(rows)
        write(self.rows, path, COLUMNS)

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        with self.path.open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a run, without a last one that was cut off; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        {**row, "line": int(row["line"]), "number": int(row["number"])}
        for row in rows
        if None not in row.values() and row["outcome"]
    ]


def write(rows: Iterable[dict[str, Any]], path: Path, columns: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def equivalents(path: Path = EQUIVALENT) -> dict[tuple[str, ...], str]:
    """Why a change changes nothing, by its file, function, line of code and text."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {tuple(row[n] for n in CHANGE): row["reason"] for row in csv.DictReader(file)}


def reason_of(row: dict[str, Any], known: dict[tuple[str, ...], str]) -> str:
    """Why a survivor changes nothing; empty for one that does, and for what was killed."""
    if row["outcome"] == "killed":
        return ""
    return known.get(tuple(row[name] for name in CHANGE), "")


def find_again(row: dict[str, Any], known: Sequence[Mutant]) -> Mutant | None:
    """The mutant of a row among the present ones of its file, the nearest of several alike."""
    names = (*CHANGE, "operator")
    same = [m for m in known if all(str(getattr(m, name)) == row[name] for name in names)]
    return min(same, key=lambda mutant: abs(mutant.line - row["line"]), default=None)


def summarize(rows: Sequence[dict[str, Any]], sizes: dict[str, int]) -> list[dict[str, Any]]:
    """Counts of every group and of all, where ``sizes`` has the mutants of every group.

    ``killed_share`` counts every survivor as missed; ``killed_of_different`` leaves out those that
    are equivalent, and has a 95 % interval (Wilson's) for what all mutants would give.
    """
    table = []
    for group in (*sizes, "all"):
        of = [row for row in rows if group in (row["group"], "all")]
        if not of:
            continue
        killed = sum(row["outcome"] == "killed" for row in of)
        same = sum(bool(row["reason"]) for row in of)
        low, high = _interval(killed, len(of) - same)
        table.append(
            {
                "group": group,
                "mutants": sizes.get(group, sum(sizes.values())),
                "sampled": len(of),
                "killed": killed,
                "equivalent": same,
                "survived": len(of) - killed - same,
                "killed_share": round(killed / len(of), 3),
                "killed_of_different": round(killed / max(len(of) - same, 1), 3),
                "low": round(low, 3),
                "high": round(high, 3),
            }
        )
    return table


def _interval(hits: int, tries: int, z: float = 1.96) -> tuple[float, float]:
    if not tries:
        return 0.0, 1.0
    share, slack = hits / tries, z * z / tries
    middle = (share + slack / 2) / (1 + slack)
    half = z * math.sqrt(share * (1 - share) / tries + slack / tries / 4) / (1 + slack)
    return middle - half, middle + half
