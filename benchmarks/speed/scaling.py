"""How cost grows from 10,000 to a million rows (five classifiers), and against `np.argsort`.

    python -m benchmarks.speed.scaling [--methods auto ssme] [--rows 10000 100000 1000000]
        [--out benchmarks/results]

Prints and writes scaling_METHOD.csv: seconds of `ssme.evaluate` (four metrics with intervals) per
number of rows, the exponent between the smallest and the largest, the ratio to `np.argsort` over
the five score columns at the largest, and peak memory. Times are CPU seconds of the process, the
smallest of the repeats, so that a busy machine disturbs them less; every method and size runs in a
process of its own.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from benchmarks.experiment import RESULTS, read_arguments
from benchmarks.speed._common import measure_peak, measure_seconds, run_alone, write_rows

METRICS = ["accuracy", "ece", "roc_auc", "average_precision"]
N_MODELS, N_LABELED = 5, 100


def measure_method(method: str, n_rows: int, repeats: int) -> dict[str, float]:
    """CPU seconds of one evaluation and of sorting its columns, and peak resident bytes."""
    import ssme

    rng = np.random.default_rng(0)
    y = (rng.random(n_rows) < 0.3).astype(int)
    logits = (2 * y[:, None] - 1) * 1.2 + 0.8 * rng.normal(size=(n_rows, 1))
    logits = logits + rng.normal(size=(n_rows, N_MODELS)) * np.linspace(0.8, 1.6, N_MODELS)
    scores = 1 / (1 + np.exp(-logits))
    labels = np.where(np.arange(n_rows) < N_LABELED, y, np.nan)
    ssme.evaluate(scores[:500], labels[:500], method=method, metrics=METRICS)

    def evaluate() -> None:
        result = ssme.evaluate(scores, labels, method=method, metrics=METRICS)
        assert all(np.isfinite(row["low"]) for row in result.rows())

    return {
        "seconds": measure_seconds(evaluate, repeats),
        "argsort": measure_seconds(lambda: [np.argsort(c) for c in scores.T], repeats),
        "peak_bytes": measure_peak(),
    }


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(measure_method(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
        return
    arguments = read_arguments(
        __doc__, methods=["auto", "ssme"], rows=[10_000, 100_000, 1_000_000], repeats=3, out=RESULTS
    )
    for method in arguments.methods:
        lines: list[tuple[str, float]] = []
        seconds = []
        for n in arguments.rows:
            found = run_alone("scaling", "--child", method, n, arguments.repeats)
            seconds.append(found["seconds"])
            lines.append((f"cpu_s_{n}", found["seconds"]))
            lines.append((f"ratio_to_argsort_{n}", found["seconds"] / found["argsort"]))
            lines.append((f"peak_bytes_{n}", found["peak_bytes"]))
            lines.append((f"peak_gb_{n}", found["peak_bytes"] / 1e9))
            print(method, n, found, flush=True)
        rows = np.log(arguments.rows[-1] / arguments.rows[0])
        lines.append(("exponent", float(np.log(seconds[-1] / seconds[0]) / rows)))
        print(method, *lines[-1], flush=True)
        write_rows(f"scaling_{method}", ["figure", "value"], lines, folder=arguments.out)


if __name__ == "__main__":
    main()
