"""The table of docs/answers.md, written from the committed results of the study.

It stands between ``<!-- results -->`` and ``<!-- end results -->`` and is replaced.

    python -m benchmarks.answers.tables            # write it
    python -m benchmarks.answers.tables --check    # fail if it differs from the results
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pandas as pd

from benchmarks.experiment import RESULTS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "answers.md"
TABLE = re.compile(r"(?<=<!-- results -->\n).*?(?=<!-- end results -->)", re.DOTALL)


def table() -> str:
    """Error, coverage, lowest coverage of a set and width, by kind of cell, method and metric."""
    overall = pd.read_csv(RESULTS / "answers_overall.csv")
    numbers = sorted(overall["n_labeled"].unique())
    lines = [
        ["what", "method", "metric", *(f"{n} labels" for n in numbers)],
        ["---"] * (3 + len(numbers)),
    ]
    keys = ["kind", "method", "metric"]
    for (kind, method, metric), part in overall.groupby(keys, sort=False):
        by_labels = part.set_index("n_labeled")
        lines.append([kind, method, metric, *(_cell(by_labels, n) for n in numbers)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _cell(part: pd.DataFrame, n: int) -> str:
    if n not in part.index:
        return ""
    row = part.loc[n]
    if pd.isna(row["covered"]):
        return f"{row['rmae']:.2f}"
    lowest = f"lowest {row['lowest_covered']:.2f} {row['lowest_set']}"
    return f"{row['rmae']:.2f}; {row['covered']:.2f} ({lowest}); {row['width_ratio']:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    text = DOCUMENT.read_text(encoding="utf-8")
    written = TABLE.sub(lambda _: table(), text)
    if args.check and written != text:
        raise SystemExit(f"{DOCUMENT.name} differs from the results")
    if not args.check:
        DOCUMENT.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
