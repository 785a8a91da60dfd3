"""Figure S2: more unlabeled rows, more classifiers, better classifiers.

Synthetic sets as in the paper's appendix: scores normal given the label, separations N(c, 0.2) and
at least 0.01, 20 labels; n_u in 50..2000, d in 2..10, c in 0.75..1.5. Beside the Gaussian case, a
heavy-tailed one (Student t, 3 degrees of freedom) that breaks the theory's assumption.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.charts import lines
from benchmarks.experiment import Setup, run, save, start
from ssme.bench import Protocol, summarize
from ssme.data.scoreset import ScoreSet
from ssme.datasets.synthetic import separations

RUNS = 25
NOISES = ("normal", "student")
BASE: dict[str, float] = {"n_u": 1000, "d": 4, "c": 1.0}
GRID: dict[str, list[float]] = {
    "n_u": [50, 100, 250, 500, 1000, 2000],
    "d": [2, 4, 6, 8, 10],
    "c": [0.75, 1.0, 1.25, 1.5],
}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "labeled": ("labeled", {}),
    "ensemble": ("ensemble", {}),
    "ssme": ("ssme", {"n_bootstrap": 0}),
    "auto": ("auto", {}),
}
TRUTH_ROWS = 20_000


def load(name: str) -> ScoreSet:
    """``name`` is "noise/d/c/seed": one synthetic set with its own separations."""
    noise, d, c, seed = name.split("/")
    rng = np.random.default_rng([int(seed), int(d), int(100 * float(c)), len(noise)])
    separation = separations(int(d), float(c), rng)
    y = rng.integers(0, 2, TRUTH_ROWS)
    shape = (TRUTH_ROWS, int(d))
    spread = rng.standard_normal(shape) if noise == "normal" else rng.standard_t(3, shape)
    logit = separation * (spread + y[:, None] * separation) - separation**2 / 2
    return ScoreSet.from_arrays(expit(logit), y)


def main(setup: Setup) -> None:
    around = [BASE | {axis: value} for axis in ("d", "c") for value in GRID[axis]]
    others = [point for point in around if point != BASE]
    by_rows = run(protocol(GRID["n_u"]), names([BASE], setup.runs), setup, load, name="trends_n_u")
    by_sets = run(
        protocol([BASE["n_u"]]), names(others, setup.runs), setup, load, name="trends_d_c"
    )
    table = pd.concat([by_rows, by_sets]).rename(columns={"dataset": "set"})
    table[["dataset", "d", "c", "run"]] = table["set"].str.split("/", expand=True)
    at = {"n_u": table["n_unlabeled"], "d": table["d"].astype(int), "c": table["c"].astype(float)}
    parts = []
    for axis, values in GRID.items():
        for value in values:
            point = BASE | {axis: value}
            here = pd.concat([at[name] == point[name] for name in at], axis=1).all(axis=1)
            parts.append(summarize(table[here]).assign(axis=axis, value=value))
    result = pd.concat(parts).rename(columns={"dataset": "noise"})
    columns = ["noise", "axis", "value", "metric", "method", "mae", "ci95", "rmae", "coverage"]
    save(result[[*columns, "runs", "seed", "ssme", "numpy"]], setup, figure)


def protocol(n_unlabeled: list[float]) -> Protocol:
    """20 labels on sets that are used once."""
    rows = tuple(map(int, n_unlabeled))
    metrics = ("accuracy", "roc_auc")
    return Protocol(METHODS, metrics=metrics, n_labeled=(20,), n_unlabeled=rows, runs=1)


def names(points: list[dict[str, float]], sets: int) -> list[str]:
    """What `load` understands: ``sets`` sets of each kind of noise at each point."""
    return [
        f"{noise}/{point['d']}/{point['c']}/{number}"
        for number in range(sets)
        for noise in NOISES
        for point in points
    ]


def figure(frame: pd.DataFrame) -> Any:
    import altair as alt

    panels = []
    for noise in NOISES:
        row = []
        for axis in GRID:
            part = frame[(frame["axis"] == axis) & (frame["noise"] == noise)]
            part = part[part["metric"] == "accuracy"]
            row.append(
                lines(part, "value:O", "mae:Q", "method").properties(title=f"{noise}, {axis}")
            )
        panels.append(alt.hconcat(*row))
    return alt.vconcat(*panels)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
