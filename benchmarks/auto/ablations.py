"""What each part of ``auto`` is worth: the study again with one part changed or taken away.

RMAE (geometric mean over set x metric cells), coverage (also of ECE alone) and width at 20 and 100
labels on the development sets, written to ``benchmarks/results/auto_ablations.csv``.

    python -m benchmarks.auto.campaign --only ablations
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.priors import SETS
from benchmarks.auto.study import (
    Methods,
    measure_beside_truth,
    plan_study,
    summarize_by_variant,
)
from benchmarks.studies import Measure, Study
from ssme.arrays import FloatArray
from ssme.bench.runner import Truth
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.correction import Recenter, recenter
from ssme.metrics import get_metric
from ssme.metrics.base import Metric
from ssme.results.evaluation import Evaluation

OF = Constants()
NONE = 1e-6
ALPHA, BETA, GAMMA = OF.prior.coefficients
ECE = get_metric("ece")


Options = dict[str, Any]


def change_constants(group: str, **values: Any) -> Options:
    """Options of `Auto` with some constants of one group replaced."""
    return {"constants": replace(OF, **{group: replace(getattr(OF, group), **values)})}


def recenter_unfolded(
    metric: Metric, value: FloatArray, draws: FloatArray, *rest: Any
) -> FloatArray:
    """Calibration errors of the draws with their upward bias taken out of the squares first."""
    if metric.kind == ECE.kind:
        excess = np.maximum((draws**2).mean(axis=0) - value**2, 0.0)
        draws = np.sqrt(np.maximum(draws**2 - excess, 0.0))
    return recenter(metric, value, draws, *rest)


def recenter_on_logit_scale(
    metric: Metric, value: FloatArray, draws: FloatArray, *rest: Any
) -> FloatArray:
    return recenter(replace(metric, greater_is_better=True), value, draws, *rest)


def leave_draws(metric: Metric, value: FloatArray, draws: FloatArray, *rest: Any) -> FloatArray:
    return draws


def measure_moved(move: Recenter, result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps where the draws of the fitted `Auto` are moved in another way."""
    belief: Any = replace(result.belief, recenter=move)  # type: ignore[type-var]
    estimates = tuple(belief.estimate(result.metrics, [None])[0])
    return measure_beside_truth(replace(result, estimates=(estimates,)), truth)


def measure_unfolded(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    return measure_moved(recenter_unfolded, result, truth)


def measure_on_logit_scale(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    return measure_moved(recenter_on_logit_scale, result, truth)


def measure_unmoved(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    return measure_moved(leave_draws, result, truth)


def exclude_regimes(*regimes: str) -> Options:
    """Options of `Auto` with some regimes impossible."""
    prior = {name: chance for name, chance in OF.regimes.prior.items() if name not in regimes}
    return change_constants("regimes", prior=prior)


CHANGES: Methods = {
    "as shipped": {},
    "scores clipped at 0.01": change_constants("pool", clip=1e-2),
    "temperature prior: 0.5 + 0.3 (1 - 1/M) + 0.3 log c": change_constants(
        "prior", coefficients=(0.5 + 0.3 * float(np.log(1e6)), 0.3, 0.3), knee=1e6
    ),
    "temperature prior: constant": change_constants("prior", coefficients=(0.1, 0.0, 0.0)),
    "temperature prior: margin 0.04": change_constants(
        "prior", coefficients=(ALPHA + 0.04, BETA, GAMMA)
    ),
    "temperature prior: scale 0.3": change_constants("prior", scale=(np.log(0.3), 0.0, 0.0)),
    "distorted scores: scale 0.2": change_constants("regimes", distorted_scale=0.2),
    "distorted scores: scale 0.8": change_constants("regimes", distorted_scale=0.8),
    "bias twice as large": change_constants("correction", bias=2.0 * OF.correction.bias),
    "no tilts": change_constants("model", sd_t=NONE),
    "narrow tilts (0.5)": change_constants("model", sd_t=0.5),
    "no class shifts": change_constants("model", sd_a=NONE, sd_a_few=NONE),
    "wide class shifts (0.3)": change_constants("model", sd_a=0.3),
    "no families beyond the mode": change_constants("model", sd_c=NONE, sd_v=NONE),
    "likelihood to the power 1": change_constants("sampler", power=1.0),
    "50 slice steps": change_constants("sampler", steps=50),
    "no factors of the spread": change_constants("recentering", kinds=()),
    "own part not evened out": change_constants("recentering", evenness=1.0),
    "odd regimes no wider": change_constants("regimes", widening=1.0),
    "draws shared out by probability": change_constants("regimes", sharing=NONE),
    **{
        f"no regime {name!r}": exclude_regimes(name) for name in OF.regimes.prior if name != "usual"
    },
    "the usual regime alone": exclude_regimes(*(set(OF.regimes.prior) - {"usual"})),
    "mean over regimes": change_constants("regimes", sureness=1.0),
    "the likeliest regime": change_constants("regimes", sureness=1e3),
    "all classifiers of one standing": change_constants("agreement", floor=1e9),
    "no residual correction": change_constants("correction", bias=NONE),
    "nothing unknown of the bias in the draws": change_constants("correction", noise=0.0),
}


MOVES: dict[str, Measure] = {
    "upward bias of ECE removed": measure_unfolded,
    "ECE moved on the logit scale": measure_on_logit_scale,
    "draws not moved": measure_unmoved,
}
"""Changes of how the draws of a fit are moved."""


def plan(labels: list[int], runs: range) -> list[Study]:
    """Every change on every development set."""
    moved = [
        plan_study({change: {}}, list(SETS), labels, runs, measure=measure)
        for change, measure in MOVES.items()
    ]
    return [plan_study(CHANGES, list(SETS), labels, runs), *moved]


def make_tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The result of the study, by its name."""
    return {"auto_ablations": summarize_by_variant(frame, "change")}
