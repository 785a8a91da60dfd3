"""What scripts share that set our numbers beside those of the SSME paper (sec. 4.3, app. B).

Splits, errors and their averages are those of `ssme.bench`; here are the paper's names and numbers,
and the mean over label draws without the work behind its interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ssme.methods.beliefs import LabelPosterior
from ssme.metrics.base import FloatArray, MetricPlan, one_hot_mass

N_UNLABELED = 1000
RESULTS = Path(__file__).resolve().parents[1] / "results"
METRICS = {
    "civilcomments": ("accuracy", "ece", "roc_auc", "average_precision"),
    "multinli": ("accuracy", "ece"),
}


def average_over_draws(belief: LabelPosterior, plans: Sequence[MetricPlan]) -> list[FloatArray]:
    """The belief's estimates (M,), one per plan, without the work behind its intervals."""
    n_classes = belief.posterior.shape[1]
    values = []
    for labels in belief.draw_label_batches():
        mass = one_hot_mass(labels, n_classes)
        values.append([plan(mass) for plan in plans])
    return [np.concatenate(draws).mean(axis=0) for draws in zip(*values, strict=True)]


def summarize_errors(cells: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Mean of ``error`` over the runs of each group, its 95 % half-width and their number."""
    found = cells.groupby(keys, sort=False)["error"].agg(["mean", "sem", "size"]).reset_index()
    found["ci95"] = 1.96 * found.pop("sem")
    return found.rename(columns={"mean": "mae", "size": "runs"})
