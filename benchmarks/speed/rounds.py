"""Seconds of a round of labeling: `ssme.evaluate` of accuracy, and five rows suggested.

    OMP_NUM_THREADS=1 python -m benchmarks.speed.rounds [--turns 3]

1,000 made-up rows with 50 labels, by number of classifiers and classes; the cases are those of
`benchmarks.speed._against`, each in a process of its own, after a first round that is not timed.
CPU seconds, the least of the turns. Written to ``benchmarks/results/speed_rounds.csv``.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.speed._against import label_round, measure
from benchmarks.speed._common import write_rows

SOURCE = Path(__file__).resolve().parents[2] / "src"
SIZES = ((10, 2, 1.5), (10, 26, 1.5), (10, 26, 0.25), (100, 2, 1.5), (100, 10, 1.5))
"""Classifiers, classes and how sharp the scores are."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--turns", type=int, default=3)
    turns = parser.parse_args().turns
    rows = []
    for models, classes, sharpness in SIZES:
        case = label_round(models, classes, sharpness)
        with tempfile.TemporaryDirectory() as folder:
            seconds = min(measure(SOURCE, *case, folder)[0] for _ in range(turns))
        vague = "vague" if sharpness < 1.0 else "sharp"
        rows.append((models, classes, vague, f"{seconds:.3g}"))
        print(
            f"{models:>4} classifiers, {classes:>2} classes, {vague}: {seconds:.2f} s", flush=True
        )
    write_rows("speed_rounds", ["models", "classes", "scores", "seconds"], rows)


if __name__ == "__main__":
    main()
