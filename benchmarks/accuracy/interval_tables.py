"""Two tables of benchmarks/evidence/intervals.md, from committed results.

`python -m benchmarks.quotes` writes them into the document.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).resolve().parents[1] / "results"
SKIPPED = ("f1_micro", "recall_macro", "roc_auc_ovr_weighted", "roc_auc_ovo")
"""Equal to, or much like, a metric shown."""
METHODS = ("ssme", "ensemble", "pseudo_label", "dawid_skene")
DRAWS = ("labels", "rows", "refits")


def read(name: str) -> list[dict[str, str]]:
    with (RESULTS / name).open() as file:
        return list(csv.DictReader(file))


def tabulate_labeled() -> list[str]:
    """Per metric and number of labels: coverage over sets, lowest set, mean width."""
    rows = read("labeled_intervals.csv")
    numbers = sorted({int(row["n_labeled"]) for row in rows})
    lines = ["| metric | " + " | ".join(f"{n} labels" for n in numbers) + " |"]
    lines.append("|---" * (len(numbers) + 1) + "|")
    for metric in dict.fromkeys(row["metric"] for row in rows):
        if metric in SKIPPED:
            continue
        cells = []
        for n in numbers:
            found = [r for r in rows if r["metric"] == metric and int(r["n_labeled"]) == n]
            lowest = min(found, key=lambda r: float(r["coverage"]))
            cells.append(
                f"{average(found, 'coverage'):.3f}, lowest {float(lowest['coverage']):.2f} "
                f"({lowest['set']}), width {average(found, 'width'):.2f}"
            )
        lines.append(f"| {metric} | " + " | ".join(cells) + " |")
    return lines


def tabulate_posterior() -> list[str]:
    """Per method and kind of draws: coverage over sets and metrics, and by set."""
    rows = read("posterior_intervals.csv")
    sets = list(dict.fromkeys(row["set"] for row in rows))
    lines = [
        "| method | draws | labels | coverage | width | error | " + " | ".join(sets) + " |",
        "|---" * (6 + len(sets)) + "|",
    ]
    grouped = defaultdict(list)
    for row in rows:
        grouped[row["method"], row["draws"], row["n_labeled"]].append(row)
    order = [
        (method, draws, n)
        for n in sorted({row["n_labeled"] for row in rows}, key=int)
        for method in METHODS
        for draws in DRAWS
    ]
    for method, draws, n in order:
        found = grouped.get((method, draws, n))
        if not found:
            continue
        by_set = [f"{average([r for r in found if r['set'] == s], 'coverage'):.2f}" for s in sets]
        overall = [f"{average(found, key):.3f}" for key in ("coverage", "width", "error")]
        lines.append(f"| {method} | {draws} | {n} | " + " | ".join(overall + by_set) + " |")
    return lines


def average(rows: list[dict[str, str]], key: str) -> float:
    return float(np.mean([float(row[key]) for row in rows]))
