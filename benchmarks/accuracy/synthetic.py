"""Sets with a known truth: trends, classifiers that lose their calibration, the bound of theorem 1.

Experiments on sets drawn from a formula or bent from real scores, and those whose verdict a preset
of SSME decides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

import ssme
from benchmarks.accuracy.tables import NO_REFITS, PUBLIC_CODE, Methods, drop_keys
from benchmarks.datasets.adult import semisynthetic_set
from benchmarks.datasets.synthetic import separations
from benchmarks.experiment import Setup, experiment, run, save
from benchmarks.studies import Protocol
from benchmarks.theory import accuracy_of_separation, auc_of_separation, performance_band
from ssme.bench import summarize
from ssme.bench.summary import provenance
from ssme.data.scoreset import ScoreSet

READINGS = ("as drawn", "calibrated")
NOISES = ("normal", "student")
BASE: dict[str, float] = {"n_u": 1000, "d": 4, "c": 1.0}
GRID: dict[str, list[float]] = {
    "n_u": [50, 100, 250, 500, 1000, 2000],
    "d": [2, 4, 6, 8, 10],
    "c": [0.75, 1.0, 1.25, 1.5],
}
TRUTH_ROWS = 20_000
TREND_RUNS = 20


@experiment(runs=TREND_RUNS)
def synthetic_trends(setup: Setup) -> None:
    """Figure S2: more unlabeled rows, more classifiers, better classifiers.

    Synthetic sets as in the paper's appendix D: given the label, scores are normal with separations
    N(c, 0.2) of at least 0.01; 20 labels; n_u in 50..2000, d in 2..10, c in 0.75..1.5. Beside the
    normal case, a heavy-tailed one (Student t, 3 degrees of freedom) that breaks the theory's
    assumption. What a classifier reports when its score is s can be read in two ways:

    - ``as drawn``: s is its log-odds, N(c, 1) in the positive class and N(0, 1) in the negative,
      which is what the paper says; such a classifier is far from calibrated.
    - ``calibrated``: it reports the log-odds that s implies, c s - c^2 / 2.

    SSME is run with its kernels and with Gaussians (``density="gmm"``), which are the true model of
    the normal case.
    """
    methods: Methods = {
        "labeled": ("labeled", {}),
        "ensemble": ("ensemble", {}),
        "ssme": NO_REFITS,
        "ssme, gmm": ("ssme", {"density": "gmm", "n_bootstrap": 0}),
        "auto": ("auto", {}),
    }
    save(measure_trends(setup, methods), setup)


def measure_trends(setup: Setup, methods: Methods) -> pd.DataFrame:
    """The errors of some methods at every point of the grid."""

    def run_points(points: list[dict[str, float]], n_unlabeled: list[float], name: str) -> Any:
        names = [
            f"{reading}/{noise}/{point['d']}/{point['c']}/{number}"
            for number in range(setup.runs)
            for reading in READINGS
            for noise in NOISES
            for point in points
        ]
        rows = tuple(map(int, n_unlabeled))
        metrics = ("accuracy", "roc_auc")
        protocol = Protocol(methods, metrics=metrics, n_labeled=(20,), n_unlabeled=rows, runs=1)
        return run(protocol, names, setup, load_trend, name=name)

    around = [BASE | {axis: value} for axis in ("d", "c") for value in GRID[axis]]
    by_rows = run_points([BASE], GRID["n_u"], "n_u")
    by_sets = run_points([point for point in around if point != BASE], [BASE["n_u"]], "d")
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
    columns = ["reading", "noise", "axis", "value", "metric", "method", "mae", "ci95", "rmae"]
    return result[[*columns, "coverage", "runs", "seed", "ssme", "numpy"]]


def load_trend(name: str) -> ScoreSet:
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


# -------------------------------------------------------------------------------------------------
# Scores s bent to s^a / (s^a + (1-s)^a); the name of such a set is "bend/number of the set".

BENDS = (0.25, 0.5, 1.0, 2.0, 4.0)


def summarize_bends(table: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Errors by bend, and the true calibration error at each."""
    table[["bend", "run"]] = table["dataset"].str.split("/", expand=True)
    parts = []
    for bend, part in table.groupby("bend"):
        true_ece = part.loc[part["metric"] == "ece", "truth"].mean()
        summary = summarize(part.assign(dataset=dataset))
        parts.append(summary.assign(bend=bend, true_ece=true_ece))
    return pd.concat(parts)


@experiment(runs=100)
def ensembling(setup: Setup) -> None:
    """Figure S3: SSME against averaging, as the classifiers lose their calibration.

    Semi-synthetic sets as in the paper's appendix: three logistic regressions trained on 100 Adult
    rows each from different ages, their scores bent; 20 labels, 1,000 unlabeled rows, 10,000 rows
    for the truth. Needs the UCI Adult files ``adult.data`` and ``adult.test`` (CC BY 4.0) in the
    folder ``SSME_ADULT``. A run is five sets of three classifiers, one for each bend: 100 runs make
    the paper's 500 sets.
    """
    methods: Methods = {
        "labeled": ("labeled", {}),
        "ensemble": ("ensemble", {}),
        "ensemble, no labels": ("ensemble", {"labels": False}),
        "ssme": NO_REFITS,
        "ssme, public code": PUBLIC_CODE,
        "auto": ("auto", {}),
    }
    numbers = range(setup.runs * len(BENDS))
    names = [f"{BENDS[number % len(BENDS)]}/{number}" for number in numbers]
    table = run(Protocol(methods, n_labeled=(20,), runs=1), names, setup, load_semisynthetic)
    columns = ["bend", "true_ece", "metric", "method", "mae", "ci95", "rmae", "coverage", "runs"]
    save(summarize_bends(table, "adult")[[*columns, *provenance(table)]], setup)


def load_semisynthetic(name: str) -> ScoreSet:
    bend, number = name.split("/")
    return semisynthetic_set(int(number), bend=float(bend))


@experiment(runs=50)
def presets(setup: Setup) -> None:
    """What changes under the loop of the public code: verdicts that a preset decides.

    Two results, each beside one that is under the preset ``paper``:

    - ``presets_choices``: bandwidths and starts on CivilComments, beside ``bandwidths`` and
      ``initialization``. Silverman's rule of the public code, (4 s^5 / 3n)^(1/5) with s the mean of
      the standard deviations over dimensions, gives 1.15 there.
    - ``presets_trends``: the synthetic sets of figure S2, beside ``synthetic_trends``.
    """
    public: dict[str, Any] = {"preset": "public_code", "n_bootstrap": 0}
    changed = {
        "public code": {},
        "public code, silverman": {"bandwidth": 1.15},
        "public code, fixed 1.0": {"bandwidth": 1.0},
        "public code, fixed 2.0": {"bandwidth": 2.0},
        "public code, knn": {"init": "knn"},
    }
    choices: Methods = {name: ("ssme", public | change) for name, change in changed.items()}
    here = replace(setup, times=[])
    table = run(Protocol(choices, runs=setup.runs), ["civilcomments"], here, cells="variants")
    save(drop_keys(summarize(table), "dataset"), here, name="presets_choices")

    here = replace(setup, runs=TREND_RUNS, times=[])
    trends = measure_trends(here, {"ssme, public code": ("ssme", public)})
    save(trends, here, name="presets_trends")


STEPS = {"paper": (20, 1000), "public_code": (20, 30, 40, 60, 100, 1000)}


@experiment(runs=25)
def bandwidth_steps(setup: Setup) -> None:
    """Table S19 by the number of EM steps: can it explain the paper's errors at large bandwidths?

    Silverman's rule of the public code (1.15), 1.0 and 2.0 on CivilComments, where rows inform each
    other and EM moves, under both presets. The paper says 1,000 steps, its public code has 20.
    """
    methods: Methods = {
        f"{preset}, {bandwidth}, {steps} steps": (
            "ssme",
            {"preset": preset, "bandwidth": bandwidth, "max_iter": steps, "n_bootstrap": 0},
        )
        for preset, numbers in STEPS.items()
        for bandwidth in (1.15, 1.0, 2.0)
        for steps in numbers
    }
    protocol = Protocol(methods, metrics=("accuracy", "ece"), runs=setup.runs)
    table = summarize(run(protocol, ["civilcomments"], setup))
    save(
        drop_keys(table, "dataset")[["method", "n_labeled", "metric", "mae", "ci95", "runs"]], setup
    )


@experiment(runs=1)
def bounds(setup: Setup) -> None:
    """Figure S1: the band of estimates by the classifier's own performance (theorem 1).

    For an error of at most eps in the estimated separation, the least and the largest estimate of
    accuracy and AUC: the weaker the classifier, the wider the band.
    """
    separation = np.linspace(0.2, 4.0, 20)
    performances = {"accuracy": accuracy_of_separation, "roc_auc": auc_of_separation}
    parts = []
    for metric, performance in performances.items():
        for epsilon in (0.05, 0.1, 0.2, 0.4):
            low, high = performance_band(metric, separation, epsilon)
            columns = {"performance": performance(separation), "low": low, "high": high}
            parts.append(pd.DataFrame({"metric": metric, "epsilon": epsilon, **columns}))
    result = pd.concat(parts)
    result["bound"] = result["performance"] - result["low"]
    save(result.assign(ssme=ssme.__version__, numpy=np.__version__), setup)
