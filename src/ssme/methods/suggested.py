"""What labels of rows that `ssme suggest` chose, with known probabilities, say beyond a model.

With e_i the residual of row i, its label standing for w_i rows,

    R = sum_i w_i e_i      the weighted residual, unbiased for the model's bias,
    V                      its variance, from C_i = Cov e_i (half under W, half seen),
    B = mean_i C_i / n_0   that of the bias: the noise of n_0 labels at random,

the best guess of the bias is B (B + V)^-1 R (a Kalman gain), and what is left of it has the
covariance B - B (B + V)^-1 B. Labels drawn at random have V = mean C / n, and few of them hardly
move anything; labels of rows on which classifiers differ have a V many times smaller.

For accuracy, e_ij = [j is right about row i] - W_i(its decision) less the mean over classifiers:
what is corrected are differences. For ROC AUC, e_i = psi_i(y_i) - E_W psi_i with psi_i(k) the
change of the metrics if row i were known to be of class k (`ssme.metrics.influence`). n_0 = 423
and 300 were chosen on the sets of ``benchmarks.decide.suggestion``.
"""

from __future__ import annotations

import numpy as np

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.metrics import confusion, influence, kinds
from ssme.metrics.base import Metric


def correct_differences(
    decisions: IntArray,
    soft: FloatArray,
    known: IntArray,
    known_soft: FloatArray,
    labels: IntArray,
    weights: FloatArray,
    bias_labels: float,
    least_variance: float = 1e-7,
) -> FloatArray:
    """The best guess of the model's bias: what to add to the accuracies (M,). It sums to zero where
    no decision is missing.

    ``decisions`` (n, M) and W ``soft`` (n, K) are of rows that represent all, ``known`` (r, M) and
    ``known_soft`` (r, K) of those with ``labels``, which represent the shares ``weights`` (r,) of
    all rows; ``bias_labels`` is n_0. ``least_variance`` keeps V invertible. A missing decision (-1)
    says nothing.
    """
    n_models = decisions.shape[1]
    mean = _compute_covariances(decisions, soft).mean(axis=0)
    each = _compute_covariances(known, known_soft)
    there, chosen = _find_chosen(known, known_soft)
    off = (known == labels[:, None]) - chosen
    off = (off - off.sum(axis=1, keepdims=True) / _count(there)) * there
    residual = weights @ off
    by_model = np.einsum("r,rab->ab", weights**2, each)
    seen = (off * (weights**2)[:, None]).T @ off
    noise = 0.5 * (by_model + seen) + least_variance * np.eye(n_models)
    # a mean over all rows, of a bias that a classifier has where it decides
    decided = np.maximum((decisions >= 0).mean(axis=0), 1.0 / len(decisions))
    bias = mean * np.sqrt(np.outer(decided, decided)) / bias_labels
    step: FloatArray = bias @ np.linalg.solve(bias + noise, residual)
    return step / decided


def _find_chosen(decisions: IntArray, soft: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Which ``decisions`` (n, M) there are, and their probabilities under W ``soft`` (n, K)."""
    there = decisions >= 0
    return there, np.take_along_axis(soft, np.maximum(decisions, 0), axis=1) * there


def _count(there: BoolArray) -> IntArray:
    """Decisions of each row (n, 1), at least one."""
    counts: IntArray = np.maximum(there.sum(axis=1, keepdims=True), 1)
    return counts


def _compute_covariances(decisions: IntArray, soft: FloatArray) -> FloatArray:
    """C (n, M, M): under W, the covariance of being right less the mean over classifiers."""
    there, chosen = _find_chosen(decisions, soft)
    same = (decisions[:, :, None] == decisions[:, None, :]) & there[:, :, None]
    each = np.where(same, chosen[:, :, None], 0.0) - chosen[:, :, None] * chosen[:, None, :]
    size = _count(there)[:, :, None]
    each = each - there[:, :, None] * (each.sum(axis=1, keepdims=True) / size)
    return each - there[:, None, :] * (each.sum(axis=2, keepdims=True) / size)


def guess_decision_bias(
    metric: Metric,
    data: ScoreSet,
    soft: FloatArray,
    rows: IntArray,
    bias_labels: float,
    least_variance: float = 1e-7,
) -> FloatArray | None:
    """`correct_differences` of a metric such as accuracy, the share of all rows that are decided
    rightly; None for another. ``rows`` represent all rows, W ``soft`` (n, K) is of all rows."""
    kind, weights = metric.kind, data.design.weights
    if not isinstance(kind, kinds.Decision) or kind.share_of != kinds.Rows() or data.n_models < 2:
        return None
    assert weights is not None
    labeled = np.flatnonzero(data.labeled)
    return correct_differences(
        confusion.predicted_classes(data.scores[rows], kind.threshold),
        soft[rows],
        confusion.predicted_classes(data.scores[labeled], kind.threshold),
        soft[labeled],
        data.labels[labeled],
        weights[labeled] / data.n_rows,
        bias_labels,
        least_variance,
    )


def guess_bias(
    metric: Metric,
    scores: FloatArray,
    soft: FloatArray,
    known: IntArray,
    labels: IntArray,
    weights: FloatArray,
    bias_labels: float,
    least_variance: float = 1e-8,
) -> tuple[FloatArray, FloatArray]:
    """The best guess of the bias (M,) of the metrics of W ``soft`` (n, K), on rows that represent
    all, and the covariance (M, M) of the rest.

    ``known`` (r,) are the places of the labeled ones, which represent ``weights`` (r,) rows each;
    ``bias_labels`` is n_0, and ``least_variance`` keeps V invertible.
    """
    asked = np.zeros(len(soft), dtype=bool)
    asked[known] = True
    psi = influence.measure_influence(metric, scores, soft, None, asked, 0.0)[known]
    own = soft[known]
    mean = np.einsum("rk,rkm->rm", own, psi)
    off = psi[np.arange(known.size), labels] - mean
    each = np.einsum("rk,rkm,rkl->rml", own, psi, psi) - mean[:, :, None] * mean[:, None, :]
    spread = weights * np.maximum(weights - 1.0, 0.0)
    noise = 0.5 * (np.einsum("r,rml->ml", spread, each) + (off * spread[:, None]).T @ off)
    noise += least_variance * np.eye(len(noise))
    bias = len(soft) / bias_labels * np.einsum("r,rml->ml", weights, each)
    gain = np.linalg.solve(bias + noise, bias).T
    left = bias - gain @ bias
    return gain @ (weights @ off), 0.5 * (left + left.T)
