"""Twelve thousand groups: seconds and memory, in memory and streamed.

    python -m benchmarks.speed.many_groups [--groups 12000] [--rows 24000]

`auto` in memory and `ensemble` streamed on rows of 3 models, accuracy and ROC AUC of every group.
Each way is measured twice: as it comes (the 200 largest groups, the others together as one), and
with every group by itself (``max_groups``). Every figure comes from a process of its own, so that
memory is counted apart. Writes ``benchmarks/results/many_groups.csv``: CPU seconds, the largest
resident memory, and the number of groups that the result holds beside all rows.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from pathlib import Path

import ssme
from benchmarks.speed._common import measure_peak, run_alone, write_rows
from benchmarks.speed.growth import simulate_scores, write_parquet
from ssme.stream import evaluate_parquet

WAYS = ("memory", "stream")
METRICS = ["accuracy", "roc_auc"]


def measure(way: str, rows: int, groups: int, most: int) -> dict[str, float | str]:
    """One evaluation in this process."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = simulate_scores(rows, groups=groups) if way == "memory" else None
        path = None if data else write_parquet(Path(folder), rows, max(rows // 2, 1), groups)
        start = time.process_time()
        if data is not None:
            result = ssme.evaluate(data, metrics=METRICS, max_groups=most)
        else:
            result = evaluate_parquet(
                path,
                method="ensemble",
                metrics=METRICS,
                max_groups=most,
                n_draws=20,
                sample_rows=2000,
                executor="serial",
            )
        reported = len(result.frame()["group"].unique()) - 1
        seconds = time.process_time() - start
    return {
        "way": way,
        "rows": rows,
        "groups": groups,
        "max_groups": most,
        "groups_reported": reported,
        "cpu_seconds": round(seconds, 1),
        "peak_mib": round(measure_peak() / 2**20),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--groups", type=int, default=12_000)
    parser.add_argument("--rows", type=int, default=24_000)
    parser.add_argument("--way", choices=WAYS, help="measure one way in this process")
    parser.add_argument("--most", type=int, default=200)
    args = parser.parse_args()
    if args.way:
        print(json.dumps(measure(args.way, args.rows, args.groups, args.most)))
        return
    lines = []
    for way in WAYS:
        for most in (200, args.groups):
            asked = ["--way", way, "--most", most, "--groups", args.groups, "--rows", args.rows]
            lines.append(run_alone("many_groups", *asked))
            print(lines[-1], flush=True)
    write_rows("many_groups", lines[0], (line.values() for line in lines))


if __name__ == "__main__":
    main()
