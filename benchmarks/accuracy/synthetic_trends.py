"""Figure S2: more unlabeled rows, more classifiers, better classifiers.

Synthetic sets as in the paper's appendix D: given the label, scores are normal with separations
N(c, 0.2) of at least 0.01; 20 labels; n_u in 50..2000, d in 2..10, c in 0.75..1.5. Beside the
normal case, a heavy-tailed one (Student t, 3 degrees of freedom) that breaks the theory's
assumption. What a classifier reports when its score is s can be read in two ways:

- ``as drawn``: s is its log-odds, N(c, 1) in the positive class and N(0, 1) in the negative, which
  is what the paper says; such a classifier is far from calibrated.
- ``calibrated``: it reports the log-odds that s implies, c s - c^2 / 2.

SSME is run with its kernels and with Gaussians (``density="gmm"``), which are the true model of the
normal case.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.datasets.synthetic import separations
from benchmarks.experiment import Setup, run, save, start
from benchmarks.studies import Protocol
from ssme.bench import summarize
from ssme.data.scoreset import ScoreSet

RUNS = 20
READINGS = ("as drawn", "calibrated")
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
    "ssme, gmm": ("ssme", {"density": "gmm", "n_bootstrap": 0}),
    "auto": ("auto", {}),
}
TRUTH_ROWS = 20_000


def load(name: str) -> ScoreSet:
    """``name`` is "reading/noise/d/c/seed": one synthetic set with its own separations."""
    reading, noise, d, c, seed = name.split("/")
    rng = np.random.default_rng([int(seed), int(d), int(100 * float(c)), len(noise)])
    separation = separations(int(d), float(c), rng)
    y = rng.integers(0, 2, TRUTH_ROWS)
    shape = (TRUTH_ROWS, int(d))
    spread = rng.standard_normal(shape) if noise == "normal" else rng.standard_t(3, shape)
    drawn = spread + y[:, None] * separation
    calibrated = separation * drawn - separation**2 / 2
    return ScoreSet.from_arrays(expit(drawn if reading == "as drawn" else calibrated), y)


def main(setup: Setup) -> None:
    save(measure(setup, METHODS), setup)


def measure(setup: Setup, methods: dict[str, tuple[str, dict[str, Any]]]) -> pd.DataFrame:
    """The errors of some methods at every point of the grid."""
    around = [BASE | {axis: value} for axis in ("d", "c") for value in GRID[axis]]
    others = [point for point in around if point != BASE]
    by_rows = run(
        make_protocol(methods, GRID["n_u"]), list_names([BASE], setup.runs), setup, load, name="n_u"
    )
    by_sets = run(
        make_protocol(methods, [BASE["n_u"]]), list_names(others, setup.runs), setup, load, name="d"
    )
    table = pd.concat([by_rows, by_sets]).rename(columns={"dataset": "set"})
    table[["reading", "noise", "d", "c", "run"]] = table["set"].str.split("/", expand=True)
    table["dataset"] = table["reading"] + "/" + table["noise"]
    at = {"n_u": table["n_unlabeled"], "d": table["d"].astype(int), "c": table["c"].astype(float)}
    parts = []
    for axis, values in GRID.items():
        for value in values:
            point = BASE | {axis: value}
            here = pd.concat([at[name] == point[name] for name in at], axis=1).all(axis=1)
            parts.append(summarize(table[here]).assign(axis=axis, value=value))
    result = pd.concat(parts)
    result[["reading", "noise"]] = result["dataset"].str.split("/", expand=True)
    columns = [
        "reading",
        "noise",
        "axis",
        "value",
        "metric",
        "method",
        "mae",
        "ci95",
        "rmae",
        "coverage",
    ]
    return result[[*columns, "runs", "seed", "ssme", "numpy"]]


def make_protocol(
    methods: dict[str, tuple[str, dict[str, Any]]], n_unlabeled: list[float]
) -> Protocol:
    """20 labels on sets that are used once."""
    rows = tuple(map(int, n_unlabeled))
    metrics = ("accuracy", "roc_auc")
    return Protocol(methods, metrics=metrics, n_labeled=(20,), n_unlabeled=rows, runs=1)


def list_names(points: list[dict[str, float]], sets: int) -> list[str]:
    """What `load` understands: ``sets`` sets of each reading and noise at each point."""
    return [
        f"{reading}/{noise}/{point['d']}/{point['c']}/{number}"
        for number in range(sets)
        for reading in READINGS
        for noise in NOISES
        for point in points
    ]


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
