"""Seconds of a round of labeling: `ssme.evaluate` of accuracy, and five rows suggested.

    OMP_NUM_THREADS=1 python -m benchmarks.speed.rounds [--turns 3]

1,000 made-up rows with 50 labels, by number of classifiers and classes, each case in a process of
its own, after a first round that is not timed. CPU seconds, the least of the turns. Written to
``benchmarks/results/speed_rounds.csv``.
"""

from __future__ import annotations

import json
import sys

import numpy as np

import ssme
from benchmarks.experiment import read_arguments
from benchmarks.speed._common import measure_seconds, run_alone, write_rows

SIZES = ((10, 2, 1.5), (10, 26, 1.5), (10, 26, 0.25), (100, 2, 1.5), (100, 10, 1.5))
"""Classifiers, classes and how sharp the scores are."""


def measure_round(models: int, classes: int, sharpness: float, turns: int) -> float:
    """CPU seconds of the fastest round in this process."""
    rng = np.random.default_rng(0)
    y, size = rng.integers(classes, size=1000), (1000, models, classes)
    z = 2.5 * np.eye(classes)[y][:, None] * np.linspace(0.6, 1.4, models)[:, None]
    z = z + rng.normal(size=(1000, 1, classes)) + rng.normal(size=size)
    s = np.exp(sharpness * z)
    s /= s.sum(axis=2, keepdims=True)
    labels = [str(k) if i % 20 == 0 else None for i, k in enumerate(y)]
    scores = {f"m{j:03d}": s[:, j] for j in range(models)}
    names = sorted(map(str, range(classes)), key=int)

    def go_round() -> None:
        ssme.evaluate(scores, labels, classes=names, metrics="accuracy").suggest(5)

    go_round()
    return measure_seconds(go_round, turns)


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        models, classes, sharpness, turns = sys.argv[2:]
        print(json.dumps(measure_round(int(models), int(classes), float(sharpness), int(turns))))
        return
    turns = read_arguments(__doc__, turns=3).turns
    rows = []
    for models, classes, sharpness in SIZES:
        seconds = run_alone("rounds", "--child", models, classes, sharpness, turns)
        vague = "vague" if sharpness < 1.0 else "sharp"
        rows.append((models, classes, vague, f"{seconds:.3g}"))
        print(
            f"{models:>4} classifiers, {classes:>2} classes, {vague}: {seconds:.2f} s", flush=True
        )
    write_rows("speed_rounds", ["models", "classes", "scores", "seconds"], rows)


if __name__ == "__main__":
    main()
