"""Strengths of systems from comparisons by judges and few people, against labels alone.

    python -m benchmarks.systems.pairs --runs 100

Each of four systems has a strength, and each of its answers to 120 items its own quality. People
prefer the better of two answers, up to noise, and call it a tie where they see no difference.
Judges see more noise, may prefer the first answer shown ("position") and the last system
("favor"). The truth is the Bradley-Terry strength, ties half a win, of 400,000 comparisons by
people who do not mind the order. That differences of systems may be larger than judges see
(`Design.of`, "between") was added after a look at "one judge" with 100 and 300 labels. Writes
``pairs.csv``.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks.experiment import RESULTS, read_arguments, write_table
from ssme.arrays import FloatArray
from ssme.systems.pairs import STRENGTH, WIN_RATE, Comparisons, estimate_strengths, find_win_rates
from ssme.systems.rates import JudgedRows

ITEMS, LEVELS = 120, np.linspace(-0.8, 0.8, 4)
LEAST = 0.4
"""Difference of what is seen of two answers below which they are a tie."""
LABELS = (30, 100, 300)


class Scene(NamedTuple):
    """How judges err: the noise of each, their favor for the first answer and the last system."""

    noise: tuple[float, ...] = (1.0, 1.5, 2.0)
    position: float = 0.0
    favor: float = 0.0
    position_of_people: float = 0.0


SCENES = {
    "three judges": Scene(),
    "one judge": Scene(noise=(1.5,)),
    "position": Scene(position=0.8, position_of_people=0.3),
    "favor": Scene(favor=0.8),
}


def simulate(
    rng: Generator, scene: Scene, items: int = ITEMS, per_item: int = 4
) -> tuple[JudgedRows, FloatArray]:
    """Rows with the verdicts of judges, and what people would say of each (n,)."""
    number = LEVELS.size
    codes = np.repeat(np.arange(items), per_item)
    first = rng.integers(number, size=codes.size)
    second = (first + rng.integers(1, number, size=codes.size)) % number
    quality = LEVELS + 0.5 * rng.normal(size=(items, number))
    gap = quality[codes, first] - quality[codes, second]
    seen = gap + rng.logistic(size=codes.size)

    def compare(found: FloatArray) -> FloatArray:
        return np.where(found > LEAST, 1.0, np.where(found < -LEAST, 0.0, 0.5))

    last = (first == number - 1).astype(float) - (second == number - 1)
    verdicts = [
        compare(seen + scene.position + scene.favor * last + noise * rng.normal(size=seen.size))
        for noise in scene.noise
    ]
    outcomes = compare(seen + scene.position_of_people)
    unknown = np.full(outcomes.size, np.nan)
    judged = np.stack(verdicts, axis=1)
    return JudgedRows(judged, unknown, first, codes, binary=False, seconds=second), outcomes


@cache
def find_truth() -> FloatArray:
    """Strengths (S,) of the systems, by many comparisons."""
    rows, outcomes = simulate(np.random.default_rng(0), Scene(noise=(1.0,)), 100_000)
    found = Comparisons.of(rows, np.arange(outcomes.size), LEVELS.size).solve(outcomes)
    return found[: LEVELS.size]


def run_world(scene: Scene, n_labels: int, run: int) -> list[dict[str, Any]]:
    """Error, coverage and width of each method, by measure."""
    rng = np.random.default_rng([run, n_labels])
    rows, outcomes = simulate(rng, scene)
    chosen = rng.permutation(outcomes.size)[:n_labels]
    rows.outcomes[chosen] = outcomes[chosen]
    rates = estimate_strengths(rows, rng, n_draws=2000)
    truths = {STRENGTH: find_truth(), WIN_RATE: find_win_rates(find_truth()[None])[0]}
    found = []
    for measure, own in rates.items():
        truth = truths[measure]
        ends = np.quantile(own.draws, [0.025, 0.975], axis=0)
        first, second = np.triu_indices(truth.size, 1)
        gaps = np.quantile(own.draws[:, first] - own.draws[:, second], [0.025, 0.975], axis=0)
        apart = truth[first] - truth[second]
        raw = np.tile(own.judges, (2, 1))
        for name, value, (low, high) in (
            ("ssme", own.values, ends),
            ("labels alone", own.labels_only, own.labels_only_ends),
            ("raw verdicts", own.judges, raw),
        ):
            row = {
                "measure": measure,
                "method": name,
                "error": float(np.abs(value - truth).mean()),
                "coverage": float(((low <= truth) & (truth <= high)).mean()),
                "width": float((high - low).mean()) if np.isfinite(high - low).all() else np.nan,
                "undefined": float(np.isnan(value).mean()),
            }
            if name == "ssme":
                row["differences"] = float(((gaps[0] <= apart) & (apart <= gaps[1])).mean())
                row["picked"] = float(value.argmax() == truth.argmax())
            elif name == "labels alone":
                row["picked"] = float(np.isfinite(value).all() and value.argmax() == truth.argmax())
            found.append(row)
    return found


def main() -> None:
    args = read_arguments(__doc__, runs=100)
    tables = []
    for name, scene in SCENES.items():
        for n_labels in LABELS:
            rows = [row for run in range(args.runs) for row in run_world(scene, n_labels, run)]
            means = pd.DataFrame(rows).groupby(["measure", "method"], sort=False)
            table = means.mean().assign(runs=args.runs).reset_index()
            table.insert(0, "n_labels", n_labels)
            table.insert(0, "scene", name)
            tables.append(table)
            print(table.round(3).to_string(), flush=True)
    write_table(RESULTS / "pairs.csv", pd.concat(tables), digits=4)


if __name__ == "__main__":
    main()
