"""How far the label of one row would move a metric.

    psi_i(k) = m(W with row i known to be k) - m(W)          (n, K, M)

where m is the metric of every classifier on the soft labeling W of all rows. Learning the label of
row i moves the metric by psi_i(y_i), whose mean under W is close to zero and whose variance,
Var_{k ~ W_i} psi_i(k), is the information in the label. No formula of a metric is used, which is a
function of mass. Where it is a mean over rows of what a decision is worth, as accuracy and costs
are, the change of the mean is that of the row, and nothing is computed anew.
"""

from __future__ import annotations

import numpy as np

from ssme.arrays import BoolArray, FloatArray
from ssme.metrics import confusion, decisions, kinds
from ssme.metrics.base import Metric, one_hot_mass

CELLS = 1 << 21
"""Cells of mass (changed rows x rows x classes) held at once."""


def measure_influence(
    metric: Metric,
    scores: FloatArray,
    belief: FloatArray,
    weights: FloatArray | None,
    asked: BoolArray,
    least_share: float = 0.005,
) -> FloatArray:
    """psi (n, K, M) of the ``asked`` rows (n,), where ``belief`` (n, K) is W; elsewhere zero.

    It is zero too for classes below ``least_share`` and where the metric is undefined. A metric
    that needs hard labels takes the most probable class of every row for W.
    """
    if isinstance(metric.kind, kinds.Decision) and isinstance(
        metric.kind.statistic, decisions.MeanWorth
    ):
        return _measure_mean(metric.kind, scores, belief, weights, asked, least_share)
    n, n_classes = belief.shape
    settled = one_hot_mass(belief.argmax(axis=1), n_classes)[0] if metric.hard_only else belief
    mass = settled if weights is None else settled * weights[:, None]
    plan = metric.plan(scores)
    value = plan(mass[None])[0]
    out: FloatArray = np.zeros((n, n_classes, value.size))
    rows, classes = np.nonzero((belief >= least_share) & asked[:, None])
    step = max(1, CELLS // mass.size)
    for start in range(0, rows.size, step):
        row, known = rows[start : start + step], classes[start : start + step]
        changed = np.repeat(mass[None], row.size, axis=0)
        place = np.arange(row.size)
        changed[place, row] = 0.0
        changed[place, row, known] = 1.0 if weights is None else weights[row]
        moved = plan(changed) - value
        out[row, known] = np.where(np.isfinite(moved), moved, 0.0)
    return out


def _measure_mean(
    kind: kinds.Decision,
    scores: FloatArray,
    belief: FloatArray,
    weights: FloatArray | None,
    asked: BoolArray,
    least_share: float,
) -> FloatArray:
    """psi (n, K, M) of a mean over rows; a classifier counts the rows that it has scores for."""
    assert isinstance(kind.statistic, decisions.MeanWorth)
    decided = confusion.predicted_classes(scores, kind.threshold)
    worth = kind.statistic.make_table(belief.shape[1])[:, decided].transpose(1, 0, 2)
    mean = np.einsum("nk,nkm->nm", belief, worth)
    counts = decided >= 0 if weights is None else (decided >= 0) * weights[:, None]
    total = counts.sum(axis=0)
    share = counts / np.where(total > 0.0, total, 1.0)
    out: FloatArray = (worth - mean[:, None]) * share[:, None]
    out[~((belief >= least_share) & asked[:, None])] = 0.0
    return out


def measure_spread(influence: FloatArray, belief: FloatArray) -> FloatArray:
    """Variance (n, C) over the classes of a row of ``influence`` (n, K, C) under ``belief``."""
    mean = np.einsum("nk,nkc->nc", belief, influence)
    square = np.einsum("nk,nkc->nc", belief, influence**2)
    return np.maximum(square - mean**2, 0.0)
