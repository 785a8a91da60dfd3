"""How alike are separately trained classifiers? Origin of the threshold of warning D204.

    python benchmarks/accuracy/closest_pairs.py

writes benchmarks/results/closest_pairs.csv: per real set (SSME_DATA), the two classifiers whose
scores (P(1), or all classes) correlate most on the first 4,000 rows.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from tests.shared_data import load_set, set_names

from benchmarks.provenance import record

RESULTS = Path(__file__).resolve().parents[1] / "results" / "closest_pairs.csv"
ROWS = 4_000


def find_closest_pair(name: str) -> dict[str, object]:
    scores, _, models = load_set(name)
    shown = scores[:ROWS, :, 1:] if scores.shape[2] == 2 else scores[:ROWS]
    r = np.triu(np.corrcoef(shown.transpose(1, 0, 2).reshape(len(models), -1)), 1)
    a, b = np.unravel_index(r.argmax(), r.shape)
    return {"set": name, "a": models[a], "b": models[b], "correlation": round(float(r.max()), 4)}


def main() -> None:
    rows = [find_closest_pair(name) for name in set_names()]
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    record(RESULTS)
    for row in sorted(rows, key=lambda row: -float(str(row["correlation"]))):
        print(*row.values())


if __name__ == "__main__":
    main()
