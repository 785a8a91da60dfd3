"""Theorem 1 measured: the error of UL+ beside its bound, where the assumptions hold and where not.

Worlds: ``as assumed`` (balanced, independent, normal), and one assumption broken at a time:
``correlated`` (correlation 0.5 within a class), ``skewed`` (standardized gamma scores of shape 2),
``imbalanced`` (10% positives). One axis at a time is varied around n_u = 1000, n_l = 20, d = 4 and
|c| = 2: unlabeled rows, labels, classifiers at a fixed |c|, and |c|.

``quantile`` is the 1 - p quantile (p = 0.1) of |c^ - c| over runs, ``bound`` the theorem's eps with
all unknown constants 1, ``within`` the share of runs with an error of at most that. ``auc_error``
is the same quantile of the largest error in AUC over classifiers, against the world's true AUC,
``auc_bound`` the theorem's. The paper expects SSME to err no more than UL+, because labeled rows
enter its EM. ``ul_plus, labels in EM`` changes this alone. ``ssme, gmm`` is SSME with Gaussians,
and ``diagonal`` with one variance for each class and classifier: its AUC errors come from label
draws as always, and it has no separation.
"""

from __future__ import annotations

import warnings
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.experiment import Setup, experiment, run_jobs, save
from benchmarks.theory import auc_bound, separation_error, theorem_1, ul_plus
from ssme.bench.store import DECISIVE, describe_process
from ssme.data.scoreset import ScoreSet
from ssme.errors import ConvergenceWarning
from ssme.methods.registry import get_method
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass

SSME_RUNS = 50
SSME_ROWS = 3000
"""SSME is fitted in this many runs, and up to this many unlabeled rows: it takes a second."""
SSME = {"ssme, gmm": "full", "ssme, gmm, diagonal": "diagonal"}
"""The covariances of its Gaussians."""
P = 0.1
WORLDS = ("as assumed", "correlated", "skewed", "imbalanced")
BASE: dict[str, float] = {"n_u": 1000, "n_l": 20, "d": 4, "norm": 2.0}
GRID: dict[str, tuple[float, ...]] = {
    "n_u": (100, 300, 1000, 3000, 10_000),
    "n_l": (1, 2, 5, 20, 100),
    "d": (2, 4, 8, 16),
    "norm": (0.5, 1.0, 1.5, 2.0, 3.0),
}
TRUTH_ROWS = 100_000

FloatArray = NDArray[np.float64]


def draw(
    world: str, n: int, separation: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Scores (n, d) with unit variance within a class, and labels (n,)."""
    y = (rng.random(n) < (0.1 if world == "imbalanced" else 0.5)).astype(np.int64)
    noise = rng.standard_normal((n, len(separation)))
    if world == "correlated":
        noise = (noise + rng.standard_normal((n, 1))) / np.sqrt(2.0)
    elif world == "skewed":
        noise = (rng.standard_gamma(2.0, noise.shape) - 2.0) / np.sqrt(2.0)
    return noise + y[:, None] * separation, y


@lru_cache(maxsize=256)
def compute_true_auc(world: str, separation: tuple[float, ...]) -> FloatArray:
    """AUC (d,) of the world, from many rows."""
    rng = np.random.default_rng([7, WORLDS.index(world)])
    scores, y = draw(world, TRUTH_ROWS, np.array(separation), rng)
    probabilities = np.stack([1 - expit(scores), expit(scores)], axis=2)
    value: FloatArray = get_metric("roc_auc")(probabilities, one_hot_mass(y, 2))[0]
    return value


def run_once(job: tuple[str, str, float, int], runs_of_ssme: int) -> list[dict[str, Any]]:
    """The errors of UL+, and of SSME in the first runs, at one point of one world."""
    world, axis, value, number = job
    point = BASE | {axis: value}
    d, n_l, n_u = (int(point[name]) for name in ("d", "n_l", "n_u"))
    separation = np.full(d, point["norm"] / np.sqrt(d))
    rng = np.random.default_rng([2025, number, WORLDS.index(world), *map(int, (d, n_l, n_u))])
    scores, y = draw(world, n_l + n_u, separation, rng)
    labels = np.where(np.arange(len(y)) < n_l, y, -1)
    truth = compute_true_auc(world, tuple(separation.tolist()))
    head, rows = {"world": world, "axis": axis, "value": value, "run": number}, []

    def add(method: str, error: float, auc: FloatArray) -> None:
        gap = float(np.abs(auc - truth).max())
        rows.append({**head, "method": method, "error": error, "auc": gap})

    for labels_in_em in (False, True):
        fit = ul_plus(scores, labels, labels_in_em=labels_in_em)
        error = float(np.linalg.norm(fit.separation - separation))
        add("ul_plus, labels in EM" if labels_in_em else "ul_plus", error, fit.auc)
    if number < runs_of_ssme and n_u <= SSME_ROWS:
        data = ScoreSet.from_arrays(expit(scores - separation / 2), np.where(labels < 0, np.nan, y))
        for name, covariance in SSME.items():
            add(name, float("nan"), estimate_ssme_auc(data, covariance, rng))
    return rows


def estimate_ssme_auc(data: ScoreSet, covariance: str, rng: np.random.Generator) -> FloatArray:
    """SSME's estimate of AUC (d,), its densities Gaussian."""
    options = {"n_bootstrap": 0, "n_draws": 100, "max_iter": 100, "tol": 1e-3}
    method = get_method("ssme", density="gmm", covariance=covariance, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return method.fit(data, rng).estimate([get_metric("roc_auc")], [None])[0][0].value


@experiment(runs=200)
def theory(setup: Setup) -> None:
    """Theorem 1 measured: the error of UL+ beside its bound, in worlds as assumed and not."""
    points = [(axis, value) for axis, values in GRID.items() for value in values]
    jobs = [(w, a, v, r) for r, w, (a, v) in product(range(setup.runs), WORLDS, points)]
    found = pd.DataFrame(run_jobs(partial(run_once, runs_of_ssme=SSME_RUNS), jobs, setup))
    keys = ["world", "axis", "value", "method"]
    rows = [
        {**dict(zip(keys, key, strict=True)), **compare_with_bound(part)}
        for key, part in found.groupby(keys, sort=False)
    ]
    order = {world: place for place, world in enumerate(WORLDS)}
    result = pd.DataFrame(rows).sort_values(
        keys, key=lambda column: column.map(order) if column.name == "world" else column
    )
    save(result.assign(**{name: describe_process()[name] for name in DECISIVE}), setup)


def compare_with_bound(part: pd.DataFrame) -> dict[str, Any]:
    """Quantiles of the errors of one point, the bounds, and the share of runs within them."""
    point = BASE | {part["axis"].iloc[0]: part["value"].iloc[0]}
    d, norm = int(point["d"]), point["norm"]
    bound = float(separation_error(point["n_u"], point["n_l"], d, norm, p=P))
    said = theorem_1(np.full(d, norm / np.sqrt(d)), int(point["n_u"]), int(point["n_l"]), p=P)
    auc = float(auc_bound(norm / np.sqrt(d), bound))
    known = part["error"].notna().all()
    return {
        "quantile": part["error"].quantile(1 - P),
        "mean_error": part["error"].mean(),
        "bound": bound,
        "within": (part["error"] <= bound).mean() if known else float("nan"),
        "auc_error": part["auc"].quantile(1 - P),
        "mean_auc_error": part["auc"].mean(),
        "ci95": 1.96 * part["auc"].std() / len(part) ** 0.5,
        "auc_bound": auc,
        "auc_within": (part["auc"] <= auc).mean(),
        "applies": said.applies,
        "runs": len(part),
    }
