"""Which lines and branches of the package the tests run, by room.

    make coverage                       # runs the suite under coverage.py, then this
    python -m benchmarks.coverage       # the table alone, from the .coverage of a run

Processes that tests start (the command line, workers, the page) are measured too. What cannot run
without an NVIDIA GPU is left out in ``pyproject.toml``. ``share`` is coverage.py's own figure with
branches: lines run and ways taken at branches, of all lines and ways.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "coverage.csv"
COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def read_report(data: Path) -> dict[str, dict[str, int]]:
    """Counts of every file, as coverage.py tells them."""
    from coverage import Coverage

    measured = Coverage(data_file=data, config_file=ROOT / "pyproject.toml")
    measured.load()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.json"
        measured.json_report(outfile=str(path))
        files = json.loads(path.read_text())["files"]
    return {Path(name).as_posix(): each["summary"] for name, each in files.items()}


def find_room(file: str) -> str:
    """The package under ``ssme``, or the module where it stands alone."""
    place = file[file.index("src/ssme/") + len("src/ssme/") :].split("/")
    return place[0].removesuffix(".py")


def tabulate_rooms(files: dict[str, dict[str, int]]) -> list[dict[str, str | int | float]]:
    """One line per room, and one of all."""
    sums: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTS, 0))
    for name, counts in files.items():
        for room in (find_room(name), "all"):
            for count in COUNTS:
                sums[room][count] += counts[count]
    rooms = [*sorted(set(sums) - {"all"}), "all"]
    return [
        {
            "room": room,
            "lines": sums[room]["num_statements"],
            "lines_run": sums[room]["covered_lines"],
            "branches": sums[room]["num_branches"],
            "branches_run": sums[room]["covered_branches"],
            "line_share": _compute_share(sums[room]["covered_lines"], sums[room]["num_statements"]),
            "branch_share": _compute_share(
                sums[room]["covered_branches"], sums[room]["num_branches"]
            ),
            "share": _compute_share(
                sums[room]["covered_lines"] + sums[room]["covered_branches"],
                sums[room]["num_statements"] + sums[room]["num_branches"],
            ),
        }
        for room in rooms
    ]


def _compute_share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".coverage", help="combined data")
    parser.add_argument("--least", type=float, default=0.0, help="fail where a share is below")
    asked = parser.parse_args()
    rows = tabulate_rooms(read_report(asked.data))
    with RESULT.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    from benchmarks.provenance import record

    record(RESULT, command="make coverage")
    total = rows[-1]
    shares = [float(total[name]) for name in ("line_share", "branch_share", "share")]
    print("lines {:.2%}, branches {:.2%}, both {:.2%}".format(*shares))
    return int(min(shares) < asked.least)


if __name__ == "__main__":
    sys.exit(main())
