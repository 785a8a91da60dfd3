"""Classifiers that err independently: their evidence adds up, where that of others is averaged.

Real classifiers share their hard rows, so a pool averages them and is sharpened only a little. If
calibrated classifiers are independent given the class, as simulated ones often are, and raters who
do not know of each other may be, their log scores add,

    W_k  proportional to  p_k prod_j (q_jk / p_k),      p_k the mean score of class k:

the model with b = M and the geometric mean of the scores, pi', as its pool.

No label is needed to tell the two apart. Under W the log-odds of two independent classifiers are
uncorrelated within a class, and every classifier is right as often as it says. Let rho be that
correlation, averaged over pairs and classes, and tau the root mean square over classifiers of
accuracy under W minus mean confidence. In 36 sets of real classifiers rho is 0.37 +- 0.14, never
below 0.11; where they are independent both are zero up to chance. By Bayes, with a small prior
probability and real sets given no credit for a large tau, h is the probability of independence, and

    log pi  <-  (1 - h) log pi + h log pi',        mean of log b  <-  (1 - h) mu + h log M.

For real classifiers h is zero and nothing changes. Two classifiers are too few to ask.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ssme.methods.auto.constants import ALL_POOLS, Constants, IndependenceConstants
from ssme.methods.auto.pool import log_pool, log_softmax
from ssme.methods.auto.prior import answer_hard
from ssme.metrics.base import FloatArray

__all__ = [
    "Pooling",
    "added_posterior",
    "confidence_gap",
    "probability_of_independence",
    "within_class_correlation",
]


def probability_of_independence(q: FloatArray, constants: IndependenceConstants) -> float:
    """h: probability that the classifiers of clipped scores ``q`` (n, M, K) are independent."""
    n_models = q.shape[1]
    if n_models < constants.least_models or len(q) < 2:
        return 0.0
    q = q[:: max(1, len(q) // constants.rows)]
    w = added_posterior(q)
    rho, tau = within_class_correlation(q, w, constants), confidence_gap(q, w)
    if not np.isfinite(rho):
        return 0.0
    pairs = n_models * (n_models - 1) / 2.0
    rho_sd = np.sqrt(1.0 / (len(q) * pairs) + constants.almost_rho**2)
    tau_sd = np.sqrt(constants.noise_tau / len(q) + constants.almost_tau**2)
    mean, spread = constants.usual_rho
    log_odds = np.log(constants.prior / (1.0 - constants.prior)) + np.log(spread / rho_sd)
    log_odds += 0.5 * ((rho - mean) / spread) ** 2
    log_odds -= 0.5 * (rho / rho_sd) ** 2 + 0.5 * (tau / tau_sd) ** 2
    h = float(expit(log_odds))
    return h if h > constants.negligible else 0.0


def added_posterior(q: FloatArray) -> FloatArray:
    """W (n, K) of clipped scores ``q`` (n, M, K), were they independent and calibrated."""
    log_share = np.log(q.mean(axis=(0, 1)))
    out: FloatArray = np.exp(log_softmax((np.log(q) - log_share).sum(axis=1) + log_share))
    return out


def within_class_correlation(
    q: FloatArray, w: FloatArray, constants: IndependenceConstants
) -> float:
    """rho of clipped scores ``q`` (n, M, K) under W (n, K); NaN where a classifier is constant."""
    n_models = q.shape[1]
    log_odds = np.log(q) - np.log1p(-q)
    total = weight = 0.0
    for k in np.flatnonzero(w.sum(axis=0) > constants.least_class):
        size = w[:, k].sum()
        centered = log_odds[:, :, k] - w[:, k] @ log_odds[:, :, k] / size
        covariance = (centered * w[:, k : k + 1]).T @ centered / size
        sd = np.sqrt(np.diag(covariance))
        if sd.min() < constants.constant:
            return float("nan")
        correlation = covariance / np.outer(sd, sd)
        total += size * (correlation.sum() - n_models) / (n_models * (n_models - 1))
        weight += size
    return total / weight if weight else float("nan")


def confidence_gap(q: FloatArray, w: FloatArray) -> float:
    """tau of clipped scores ``q`` (n, M, K) under W (n, K)."""
    right = np.take_along_axis(w, q.argmax(axis=2), axis=1).mean(axis=0)
    return float(np.sqrt(((right - q.max(axis=2).mean(axis=0)) ** 2).mean()))


@dataclass(frozen=True, eq=False)
class Pooling:
    """How scores become one.

    ``weights`` (M,) are the classifiers' label weights, ``independent`` is the probability h,
    ``log_share`` (K,) is log p, and ``members`` are the pools that are averaged.
    """

    weights: FloatArray
    independent: float
    log_share: FloatArray
    members: tuple[str, ...] = ALL_POOLS

    @classmethod
    def of(
        cls, q: FloatArray, present: NDArray[np.bool_], weights: FloatArray, constants: Constants
    ) -> Pooling:
        """From the clipped scores of all rows; missing scores are not asked for independence.

        Classifiers that answer 0 or 1 state no shares of the classes: theirs are equal.
        """
        h = probability_of_independence(q, constants.independence) if present.all() else 0.0
        if constants.pool.stated_shares and not answer_hard(q, constants.prior):
            log_share = np.log(q.mean(axis=(0, 1)))
        else:
            log_share = np.full(q.shape[2], -np.log(q.shape[2]))
        return cls(weights, h, log_share, constants.pool.members)

    def __call__(self, q: FloatArray, present: NDArray[np.bool_]) -> FloatArray:
        """log pi (n, K) of clipped scores ``q`` (n, M, K)."""
        averaged = log_pool(q, present, self.weights, self.members)
        if self.independent == 0.0:
            return averaged
        h = self.independent
        return log_softmax((1.0 - h) * averaged + h * np.log(q).mean(axis=1))
