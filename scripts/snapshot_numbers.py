"""Numbers of every method on fixed data, to compare two states of the source.

Run: python scripts/snapshot_numbers.py OUT.json          (writes the numbers of this source)
     python scripts/snapshot_numbers.py --compare A.json B.json [--tolerance 1e-12]

The data are the bundled sample and, where `SSME_DATA` has them, two shared sets with 50 labels.
Only the public interface is used, so that the same file runs on older commits.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import ssme

SETS = ("civilcomments", "multinli")
ROWS, LABELS = 600, 50
WITHOUT_LIMITS = ("auto", "labeled", "ensemble", "ssme", "weighted_ensemble", "majority_vote")
"""Methods that estimate every metric, so that one call does for all."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--compare", nargs=2, type=Path)
    parser.add_argument("--tolerance", type=float, default=1e-12)
    given = parser.parse_args()
    if given.compare:
        before, after = (json.loads(path.read_text()) for path in given.compare)
        return compare(before, after, given.tolerance)
    numbers = {name: compute_numbers(*data) for name, data in make_data_sets().items()}
    given.out.write_text(json.dumps(numbers, indent=1))
    print(f"{sum(map(len, numbers.values()))} numbers")
    return 0


def make_data_sets() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Scores, labels and reading options by name."""
    sample = Path(ssme.__file__).parent / "sample"
    found: dict[str, tuple[Any, Any, dict[str, Any]]] = {}
    found["sample"] = (sample / "digits.csv", None, {})
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("SSME_DATA", root.parent / "shared" / "data"))
    for name in SETS:
        if (folder / f"{name}.npz").exists():
            with np.load(folder / f"{name}.npz") as file:
                scores, truth = file["scores"][:ROWS].astype(float), file["y"][:ROWS]
            labels = np.where(np.arange(ROWS) < LABELS, truth, np.nan)
            options = {"groups": {"half": np.arange(ROWS) % 2}}
            found[name] = (scores, labels, options)
    return found


def compute_numbers(scores: Any, labels: Any, options: dict[str, Any]) -> dict[str, float]:
    """Estimate and bounds by method, metric, group and model; what a method refuses is left out."""
    from ssme.methods.registry import method_names
    from ssme.metrics import metric_names

    numbers = {}
    for method in method_names():
        together = metric_names(2 if np.ndim(scores) < 3 else np.shape(scores)[2])
        for metrics in [together] if method in WITHOUT_LIMITS else [[name] for name in together]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    result = ssme.evaluate(
                        scores, labels, method=method, metrics=list(metrics), **options
                    )
                except ssme.InputError:
                    continue
            for row in result.rows():
                for column in ("estimate", "low", "high", "labels_only"):
                    key = "/".join((method, row["metric"], row["group"], row["model"], column))
                    numbers[key] = float(row[column])
    return numbers


def compare(before: dict[str, Any], after: dict[str, Any], tolerance: float) -> int:
    """Print what differs, by method and metric; 1 where anything does."""
    worst: dict[str, tuple[float, int]] = {}
    total = 0
    for name in sorted({*before, *after}):
        ours, theirs = before.get(name, {}), after.get(name, {})
        for key in sorted({*ours, *theirs}):
            total += 1
            gap = measure_gap(ours.get(key, math.inf), theirs.get(key, -math.inf))
            if gap > tolerance:
                cell = "/".join([name, *key.split("/")[:2], key.rsplit("/", 1)[1]])
                most, count = worst.get(cell, (0.0, 0))
                worst[cell] = max(most, gap), count + 1
    for cell, (gap, count) in worst.items():
        print(f"{cell}: {count} differ, by up to {gap:.3g}")
    print(f"{total} numbers compared, {sum(c for _, c in worst.values())} differ")
    return 1 if worst else 0


def measure_gap(a: float, b: float) -> float:
    """|a - b|; two NaN are equal, one is infinitely far from a number."""
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    gap = abs(a - b)
    return math.inf if math.isnan(gap) else gap


if __name__ == "__main__":
    sys.exit(main())
