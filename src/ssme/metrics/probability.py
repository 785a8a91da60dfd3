"""Proper scoring rules of the scores: means over rows, hence linear in the mass.

Log loss clips scores to [eps, 1 - eps], eps of float64, as scikit-learn does for float64 scores.
The Brier score follows scikit-learn's ``brier_score_loss`` (``scale_by_half="auto"``): two
classes, ``(P(1) - y)^2`` in [0, 1]; more, ``sum_k (P(k) - [y = k])^2`` in [0, 2]
(Brier, Monthly Weather Review 78, 1950).
"""

from __future__ import annotations

import numpy as np

from ssme.metrics.base import FloatArray, Metric, MetricPlan
from ssme.metrics.kinds import Loss
from ssme.metrics.mass import linear_plan

__all__ = ["PROBABILITY_METRICS"]

_EPS = float(np.finfo(np.float64).eps)


def _plan_log_loss(scores: FloatArray) -> MetricPlan:
    loss: FloatArray = -np.log(np.clip(scores, _EPS, 1.0 - _EPS))
    return linear_plan(loss)


def _plan_brier(scores: FloatArray) -> MetricPlan:
    if scores.shape[2] == 2:
        return linear_plan((1.0 - scores) ** 2)
    # sum_k (p_k - [y = k])^2 = sum_k p_k^2 - 2 p_y + 1
    return linear_plan((scores**2).sum(axis=2, keepdims=True) - 2.0 * scores + 1.0)


PROBABILITY_METRICS: tuple[Metric, ...] = (
    Metric(
        name="log_loss",
        title="Log loss",
        plan=_plan_log_loss,
        kind=Loss(),
        high=float("inf"),
        greater_is_better=False,
        definition="mean of -log of the score given to the true class, scores clipped by 2.2e-16",
        of_probabilities=True,
    ),
    Metric(
        name="brier_score",
        title="Brier score",
        plan=_plan_brier,
        kind=Loss(),
        high=2.0,
        greater_is_better=False,
        definition="mean squared error: of P(1) for two classes, summed over classes for more",
        of_probabilities=True,
    ),
)
