"""What labels of suggested rows say about a metric beyond the model.

Rows that `ssme suggest` chose are unlike the rest, and the model's coefficients, fitted to them,
may be off for the rest. The probabilities of the draw are known, so that the labels still tell by
how much. With psi_i(k) the change of the metrics m(W) of all classifiers if row i were known to be
of class k (`ssme.metrics.influence`), e_i = psi_i(y_i) - E_W psi_i, the label of row i standing for
w_i of the N rows,

    R = sum_i w_i e_i                        the weighted residual, unbiased for the model's bias,
    V = sum_i w_i (w_i - 1) C_i              its variance, C_i = Cov psi_i (half under W, half seen)
    B = N sum_i w_i C_i / n_0                that of the bias: the noise of n_0 labels at random,

the best guess of the bias given R is B (B + V)^-1 R, and what is left of it has the covariance
B - B (B + V)^-1 B, which the draws get as noise. `differences` is the same for differences in
accuracy, where C_i has a formula.

It is done for ROC AUC. n_0 = 300 was chosen on the sets of ``benchmarks.decide.suggestion``: runs 0
to 9 of rows drawn for ROC AUC and at random, runs 0 to 3 of rows drawn for the best model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.metrics.base import FloatArray, Metric
from ssme.metrics.influence import measure_influence

__all__ = ["BiasGuess", "guess_bias"]


@dataclass(frozen=True, eq=False)
class BiasGuess:
    """The model's bias: what to add to the metrics (M,), and the covariance (M, M) of the rest."""

    step: FloatArray
    left: FloatArray

    def draw_left(self, normal: FloatArray) -> FloatArray:
        """Noise (D, M) with the covariance of what is left, from standard normal (D, M)."""
        size, axes = np.linalg.eigh(self.left)
        out: FloatArray = normal @ (axes * np.sqrt(np.maximum(size, 0.0))).T
        return out


def guess_bias(
    metric: Metric,
    scores: FloatArray,
    soft: FloatArray,
    known: NDArray[np.int64],
    labels: NDArray[np.int64],
    weights: FloatArray,
    bias_labels: float,
    least_variance: float = 1e-8,
) -> BiasGuess:
    """The bias of the metrics of ``soft`` on rows, of which some are labeled.

    Parameters
    ----------
    metric : Metric
        The metric.
    scores, soft : arrays (n, M, K) and (n, K)
        Scores and W of rows that stand for all, labeled ones among them.
    known, labels : arrays (r,) of int
        Places of the labeled rows, and their labels.
    weights : array (r,)
        How many of these n rows each label stands for.
    bias_labels : float
        n_0.
    least_variance : float
        Added to V, so that it can be inverted where classifiers are alike.
    """
    asked = np.zeros(len(soft), dtype=bool)
    asked[known] = True
    psi = measure_influence(metric, scores, soft, None, asked, 0.0)[known]
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
    return BiasGuess(gain @ (weights @ off), 0.5 * (left + left.T))
