"""Do classifiers err independently? Their correlation within a class, told without labels.

If calibrated classifiers are independent given the class their log scores add,

    W_k  proportional to  p_k prod_j (q_jk / p_k),      p_k the mean score of class k,

and under this W the log-odds of two classifiers are uncorrelated within a class. Let rho be that
correlation, averaged over classes and over pairs, a pair counting by the product of the two
standings: in the sets of real classifiers behind the prior it is 0.47 +- 0.17, at least 0.05
(``benchmarks/results/auto_priors.csv``). Two classifiers are too few to ask. `add_evidence` gives
this W and `measure_correlation` rho; the regime "added" of `regimes` uses both.
"""

from __future__ import annotations

import numpy as np

from ssme.methods.auto.constants import IndependenceConstants
from ssme.methods.auto.pool import log_softmax
from ssme.metrics.base import FloatArray

__all__ = ["add_evidence", "measure_correlation"]


def add_evidence(q: FloatArray) -> FloatArray:
    """W (n, K) if the clipped scores ``q`` (n, M, K) were calibrated and erred independently."""
    log_share = np.log(q.mean(axis=(0, 1)))
    out: FloatArray = np.exp(log_softmax((np.log(q) - log_share).sum(axis=1) + log_share))
    return out


def measure_correlation(
    q: FloatArray, w: FloatArray, standing: FloatArray, constants: IndependenceConstants
) -> float:
    """rho of clipped scores ``q`` (n, M, K) when the classes have the probabilities ``w`` (n, K).

    It is NaN where a classifier is constant, and where all classes are too rare to be looked at.
    """
    log_odds = np.log(q) - np.log1p(-q)
    pairs = np.outer(standing, standing)
    np.fill_diagonal(pairs, 0.0)
    pairs /= pairs.sum()
    total = weight = 0.0
    for k in np.flatnonzero(w.sum(axis=0) > constants.least_class):
        size = w[:, k].sum()
        centered = log_odds[:, :, k] - w[:, k] @ log_odds[:, :, k] / size
        covariance = (centered * w[:, k : k + 1]).T @ centered / size
        sd = np.sqrt(np.diag(covariance))
        if sd.min() < constants.constant:
            return float("nan")
        total += size * float((pairs * covariance / np.outer(sd, sd)).sum())
        weight += size
    return total / weight if weight else float("nan")
