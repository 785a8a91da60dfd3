"""How often is a shift between labeled and unlabeled rows found, with and without one?

    python -m benchmarks.decide.shift_alarms --runs 25

The shifts are those of `benchmarks.decide.shift`. benchmarks/results/decide_shift_alarms.csv has,
per set, shift and number of labels, the share of runs with an alarm (D104 or D108, and each alone),
and the share in which a correction was not refuted. For shifts of class frequencies two limits of
the power stand beside it, for a two-sided test at the level of one of the two tests of D108 (2%):

    limit_scores    of the mean pooled score. With n labels the shift is d D / (s sqrt(1/n + 1/N))
                    standard errors, d the change of the class's share, D the difference of the mean
                    score between the classes, s its standard deviation. Where classes differ in
                    frequency alone and scores are calibrated, no test on scores does better.
    limit_classes   of a test that knows the class of every unlabeled row: d / sqrt(p (1 - p) / n)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from benchmarks.decide.common import start_study
from benchmarks.decide.shift import SETS, SHIFTS, draw_sets, find_scene
from benchmarks.studies import Trial
from ssme.diagnostics import Case, ask_all
from ssme.diagnostics.check import Limits
from ssme.methods.votes import average_scores
from ssme.results.shift import find_shift

SHARES = {"halved": 0.5, "doubled": 2.0}
"""Factor of the share of positives."""


def compute(trial: Trial) -> list[dict[str, Any]]:
    rows = []
    for shift, (seen, _) in zip(SHIFTS, draw_sets(trial), strict=True):
        codes = {answer.check.code for answer in ask_all(Case(seen)) if answer.warning is not None}
        found = find_shift(seen)
        rows.append(
            {
                "shift": shift,
                "alarm": float(bool(codes & {"D104", "D108"})),
                "D104": float("D104" in codes),
                "D108": float("D108" in codes),
                "label_safe": float("label" in found.not_refuted),
                "covariate_safe": float("covariate" in found.not_refuted),
                **_compute_limits(trial, shift),
            }
        )
    return rows


def _compute_limits(trial: Trial, shift: str) -> dict[str, float]:
    """Power of the best tests, from all rows of the set; NaN without a shift of classes."""
    if shift not in SHARES:
        return {"limit_scores": np.nan, "limit_classes": np.nan}
    data = trial.data
    score, positive = average_scores(data.scores)[:, 1], data.labels == 1
    share = float(positive.mean())
    change = abs(SHARES[shift] - 1.0) * share
    apart = float(score[positive].mean() - score[~positive].mean())
    error = float(score.std()) * np.sqrt(1.0 / trial.n_labeled + 1.0 / trial.n_unlabeled)
    by_class = np.sqrt(share * (1.0 - share) / trial.n_labeled)
    return {
        "limit_scores": _compute_power(change * apart / error),
        "limit_classes": _compute_power(change / by_class),
    }


def _compute_power(errors: float) -> float:
    """Of a two-sided normal test, for an effect of so many standard errors."""
    bar = float(ndtri(1.0 - Limits().shift_level / 2.0))
    return float(ndtr(errors - bar) + ndtr(-errors - bar))


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    groups = pd.concat([frame.assign(dataset="all"), frame]).groupby(
        ["shift", "n_labeled", "dataset"]
    )
    limits = ["limit_scores", "limit_classes"]
    table = groups[["alarm", "D104", "D108", "label_safe", "covariate_safe", *limits]].mean()
    table.insert(0, "runs", groups.size())
    return {"decide_shift_alarms": table.reset_index()}


if __name__ == "__main__":
    start_study(
        "decide_shift_alarms",
        __doc__,
        compute,
        summarize,
        sets=SETS,
        labels=(50,),
        runs=25,
        scene=find_scene,
    )
