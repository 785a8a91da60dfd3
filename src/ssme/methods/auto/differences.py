"""What labels of suggested rows say about the differences between classifiers.

Rows on which classifiers decide differently tell their accuracies apart, and `ssme suggest` draws
such rows with known probabilities p_i. With e_ij = [j is right about row i] - W_i(its decision),
less the mean over classifiers, the label of row i standing for w_i of N rows,

    R = sum_i w_i e_i / N          the weighted residual of the differences,
    V = sum_i w_i^2 C_i / N^2      its variance, C_i the covariance of e_i (half under W, half seen)
    B = mean_i C_i / n_0           that of the model's bias: the noise of n_0 labels at random

the best guess of the bias given R is B (B + V)^-1 R (a Kalman gain). Labels drawn at random have
V = mean C / n, and few of them hardly move anything. Labels of rows on which classifiers differ
have a V many times smaller, which is what they were drawn for. Only labels that came in rounds,
with the probabilities of each round known, are used in this way. `correct_differences` computes the
guess, and `suggested` adds it to the accuracies.

n_0 = 423 was chosen on the sets of ``benchmarks.decide.suggestion``, runs 0 to 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ssme.metrics.base import FloatArray

__all__ = ["correct_differences"]


def correct_differences(
    decisions: NDArray[np.int64],
    soft: FloatArray,
    known: NDArray[np.int64],
    known_soft: FloatArray,
    labels: NDArray[np.int64],
    weights: FloatArray,
    bias_labels: float,
    least_variance: float = 1e-7,
) -> FloatArray:
    """The best guess of the model's bias: what to add to the accuracies (M,). It sums to zero.

    Parameters
    ----------
    decisions, soft : arrays (n, M) of int and (n, K)
        Classes that the classifiers decide for, and W, on rows that stand for all rows.
    known, known_soft, labels : arrays (r, M) of int, (r, K) and (r,) of int
        The same on the labeled rows, and their labels.
    weights : array (r,)
        Share of all rows that each label stands for.
    bias_labels : float
        n_0: how many labels drawn at random have as much noise as the model has bias.
    least_variance : float
        Added to V, so that it can be inverted where classifiers never differ.
    """
    n_models = decisions.shape[1]
    mean = _compute_covariances(decisions, soft).mean(axis=0)
    each = _compute_covariances(known, known_soft)
    chosen = np.take_along_axis(known_soft, known, axis=1)
    off = (known == labels[:, None]) - chosen
    off = off - off.mean(axis=1, keepdims=True)
    residual = weights @ off
    by_model = np.einsum("r,rab->ab", weights**2, each)
    seen = (off * (weights**2)[:, None]).T @ off
    noise = 0.5 * (by_model + seen) + least_variance * np.eye(n_models)
    bias = mean / bias_labels
    out: FloatArray = bias @ np.linalg.solve(bias + noise, residual)
    return out


def _compute_covariances(decisions: NDArray[np.int64], soft: FloatArray) -> FloatArray:
    """C (n, M, M): under W, the covariance of being right less the mean over classifiers."""
    chosen = np.take_along_axis(soft, decisions, axis=1)
    same = decisions[:, :, None] == decisions[:, None, :]
    each = np.where(same, chosen[:, :, None], 0.0) - chosen[:, :, None] * chosen[:, None, :]
    each = each - each.mean(axis=1, keepdims=True)
    out: FloatArray = each - each.mean(axis=2, keepdims=True)
    return out
