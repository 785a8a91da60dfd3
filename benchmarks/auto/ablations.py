"""What each part of ``auto`` is worth: the study again with one part changed or taken away.

RMAE (geometric mean over set x metric cells), coverage (also of ECE alone) and width at 20, 100 and
300 labels on the development sets, written to ``benchmarks/results/auto_ablations.csv``.

    python -m benchmarks.auto.ablations
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.auto.priors import SETS
from benchmarks.auto.study import (
    by_variant,
    load,
    measure_on,
    spread_over,
    study_arguments,
    write,
)
from ssme.methods.auto.independence import Pooling
from ssme.methods.auto.model import Design, Family, posterior_draws
from ssme.methods.auto.pool import label_weights, log_softmax
from ssme.methods.auto.prior import COEFFICIENTS, MARGIN
from ssme.methods.auto.recentering import recentered
from ssme.metrics.base import FloatArray, Metric

PARTS = "ssme.methods.auto"
NONE = 1e-6

ALPHA, BETA, GAMMA = COEFFICIENTS


def pool_of(value: Callable[[FloatArray, FloatArray], FloatArray], weighted: bool) -> Any:
    """A replacement of the six pools by one: ``value(q, weights)``."""

    def log_pool(q: FloatArray, present: Any, weights: FloatArray) -> FloatArray:
        used = weights if weighted else np.full(q.shape[1], 1.0 / q.shape[1])
        return log_softmax(value(q, used))

    return log_pool


def linear(q: FloatArray, weights: FloatArray) -> FloatArray:
    return np.log(np.einsum("nmk,m->nk", q, weights))


def logarithmic(q: FloatArray, weights: FloatArray) -> FloatArray:
    return np.einsum("nmk,m->nk", np.log(q), weights)


def label_weights_to(power: float) -> Any:
    """The label weights of the classifiers raised to ``power``."""

    def changed_weights(q: FloatArray, present: Any, labels: Any) -> FloatArray:
        weights = label_weights(q, present, labels) ** power
        return weights / weights.sum()

    return changed_weights


def about_equal_shares(q: FloatArray, present: Any, weights: FloatArray) -> Pooling:
    """The pool sharpened about equal class shares, not those that the scores state."""
    pooling = POOLING(q, present, weights)
    return replace(pooling, log_share=np.full(q.shape[2], -np.log(q.shape[2])))


def all_in_center(design: Design) -> tuple[Family, ...]:
    return tuple(replace(family, in_center=True) for family in FAMILIES(design))


def full_center(design: Design, theta: FloatArray, rows: slice) -> FloatArray:
    kept = theta[: 1 + design.families[-1].columns.stop]
    features = design.features(rows)
    return posterior_draws(design.ratio(rows), design.log_share, features, kept[None])[0]


def unfolded(metric: Metric, value: FloatArray, draws: FloatArray, weight: float) -> FloatArray:
    """Calibration errors of the draws with their upward bias taken out of the squares first."""
    if metric.name == "ece":
        excess = np.maximum((draws**2).mean(axis=0) - value**2, 0.0)
        draws = np.sqrt(np.maximum(draws**2 - excess, 0.0))
    return recentered(metric, value, draws, weight)


def on_logit_scale(
    metric: Metric, value: FloatArray, draws: FloatArray, weight: float
) -> FloatArray:
    return recentered(replace(metric, greater_is_better=True), value, draws, weight)


FAMILIES, POOLING = Design.families.fget, Pooling.of
DOUBT = {f"{PARTS}.recalibration.SD_{family}": NONE for family in "CVRS"}

CHANGES: dict[str, dict[str, Any]] = {
    "as shipped": {},
    "mean pool, equal weights": {f"{PARTS}.pool._log_pool": pool_of(linear, weighted=False)},
    "mean pool, label weights": {f"{PARTS}.pool._log_pool": pool_of(linear, weighted=True)},
    "geometric pool, label weights": {f"{PARTS}.pool._log_pool": pool_of(logarithmic, True)},
    "label weights squared": {"ssme.methods.auto.method.label_weights": label_weights_to(2.0)},
    "label weights, square root": {"ssme.methods.auto.method.label_weights": label_weights_to(0.5)},
    "scores clipped at 0.01": {f"{PARTS}.pool.CLIP": 1e-2},
    "temperature prior: 0.5 + 0.3 (1 - 1/M) + 0.3 log c": {
        "temperature": (0.5 + 0.3 * float(np.log(1e6)), 0.3, 0.3),
        f"{PARTS}.temperature.KNEE": 1e6,
    },
    "temperature prior: constant": {"temperature": (0.1, 0.0, 0.0)},
    "temperature prior: no margin": {"temperature": (ALPHA - MARGIN, BETA, GAMMA)},
    "temperature prior: scale 0.3": {f"{PARTS}.temperature.SCALE": 0.3},
    "temperature prior: scale 0.1": {f"{PARTS}.temperature.SCALE": 0.1},
    "sharpened about equal class shares": {
        "temperature": (0.02, 0.37, 1.12),
        f"{PARTS}.independence.Pooling.of": about_equal_shares,
    },
    "no tilts": {f"{PARTS}.recalibration.SD_T": NONE},
    "narrow tilts (0.5)": {f"{PARTS}.recalibration.SD_T": 0.5},
    "no class shifts": {
        f"{PARTS}.recalibration.SD_A": NONE,
        f"{PARTS}.recalibration.SD_A_FEW": NONE,
    },
    "wide class shifts (0.3)": {f"{PARTS}.recalibration.SD_A": 0.3},
    "no label intercepts": {f"{PARTS}.recalibration.SD_D": NONE},
    "no doubt families": DOUBT,
    "doubt families in the center": {
        f"{PARTS}.recalibration.Design.families": property(all_in_center),
        f"{PARTS}.recalibration.Design.center": full_center,
    },
    "likelihood to the power 1": {f"{PARTS}.sampler.POWER": 1.0},
    "50 slice steps": {f"{PARTS}.sampler.STEPS": 50},
    "no stretch": {f"{PARTS}.recentering.STRETCH": {}},
    "upward bias of ECE removed": {"ssme.methods.auto.method.recentered": unfolded},
    "ECE moved on the logit scale": {"ssme.methods.auto.method.recentered": on_logit_scale},
    "draws not moved": {
        "ssme.methods.auto.method.recentered": lambda metric, value, draws, weight: draws
    },
    "no residual correction": {f"{PARTS}.correction.HALF": 1e9},
    "correction blind to misfit": {
        f"{PARTS}.correction.LEAST_MISFIT": 1.0,
        f"{PARTS}.correction.MOST_MISFIT": 1.0,
    },
    "no doubt about the correction": {f"{PARTS}.correction.DOUBT": 0.0},
}


@contextmanager
def changed(change: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The package with constants replaced; yields the options that are `Auto`'s own."""
    with ExitStack() as stack:
        for target, value in change.items():
            if "." in target:
                stack.enter_context(patch(target, value))
        yield {option: value for option, value in change.items() if "." not in option}


def measure(job: tuple[str, str, int, int]) -> list[dict[str, Any]]:
    name, change, n_labeled, run = job
    with changed(CHANGES[change]) as options:
        return measure_on(load(name), name, n_labeled, 1000, run, {change: options})


def main() -> None:
    args = study_arguments(__doc__, runs=6, labels=[20, 100, 300]).parse_args()
    jobs = [
        (name, change, n_labeled, run)
        for name in SETS
        for n_labeled in args.labels
        for run in range(args.runs)
        for change in CHANGES
    ]
    frame = spread_over(measure, jobs, args.workers, len(CHANGES))
    table = by_variant(frame, "change")
    write("auto_ablations", table)
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
