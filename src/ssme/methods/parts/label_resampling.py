"""Intervals and joint draws from the labeled rows where no closed form exists.

Both resamplings add a little mass that contradicts the labels; without it twenty right answers
would leave no doubt at all. The amounts are Jeffreys' priors: 1/2 right and 1/2 wrong for one
proportion, 1/2 a cell for a 2 x 2 table.

- `bootstrap_mass`: mass of row i, class k ~ Gamma(1[y_i = k] + prior_ik), the Bayesian bootstrap
  (Rubin, Annals of Statistics 9, 1981) with one pseudo-row, half as labeled and half not. Joint
  over classifiers: accuracy of one of them is Beta(k + 1/2, n - k + 1/2) for two classes.
- `confusion_interval`: for metrics that see predicted classes only, confusion cells ~
  Gamma(count + prior), the prior being one right and one wrong row spread over the classes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, stdtrit

from ssme.methods.parts.label_intervals import Interval, normal_quantile
from ssme.metrics.base import FloatArray, Metric, one_hot_mass

__all__ = [
    "bootstrap_interval",
    "bootstrap_mass",
    "confusion_interval",
    "resampled_values",
    "sees_decisions_only",
]

BOOTSTRAP_PSEUDO_ROWS = 1.0
CONFUSION_PSEUDO_ROWS = 2.0
PRIOR_HOLDERS = 200
"""Rows, at most, that the pseudo-row is spread over: with more its whereabouts cannot matter."""

PROBES = 8
"""Random labelings on which a metric must not notice that scores were made 0 and 1."""

LEAST_DEFINED = 0.5
"""Share of draws on which a metric must be defined for their quantiles to mean anything."""


def bootstrap_mass(
    exponential: FloatArray,
    labels: NDArray[np.int64],
    n_classes: int,
    weights: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Mass (D, n, K) of hard ``labels`` (n,) whose rows weigh ``exponential`` (D, n), plus prior.

    The prior is one pseudo-row: half of it spread over the rows as labeled, half over the other
    classes. ``weights`` (n,) multiply the rows.
    """
    n_draws, n = exponential.shape
    mass = np.zeros((n_draws, n, n_classes))
    holders = rng.permutation(n)[:PRIOR_HOLDERS]
    own = labels[holders, None] == np.arange(n_classes)
    share = np.where(own, 0.5, 0.5 / (n_classes - 1)) * (BOOTSTRAP_PSEUDO_ROWS / holders.size)
    mass[:, holders] = rng.standard_gamma(np.broadcast_to(share, (n_draws, *share.shape)))
    mass[:, np.arange(n), labels] += exponential
    mass *= weights[:, None]
    return mass


def resampled_values(
    metric: Metric,
    scores: FloatArray,
    labels: NDArray[np.int64],
    weights: FloatArray,
    n_draws: int,
    rng: np.random.Generator,
) -> FloatArray:
    """The same for metrics that need whole rows (D, M): n rows drawn with replacement.

    A drawn row has a wrong label with the pseudo-row's probability, 1 / (2 (n + 1)).
    """
    n, n_classes = scores.shape[0], scores.shape[2]
    wrong = 0.5 * BOOTSTRAP_PSEUDO_ROWS / (n + BOOTSTRAP_PSEUDO_ROWS)
    chance = np.concatenate([np.full(n, (1.0 - wrong) / n), np.full(n, wrong / n)])
    counts = rng.multinomial(n, chance, size=n_draws) * np.tile(weights, 2)
    other = (labels + rng.integers(1, n_classes, size=(n_draws, n))) % n_classes
    both = np.concatenate([np.broadcast_to(labels, other.shape), other], axis=1)
    mass = one_hot_mass(both, n_classes) * counts[:, :, None]
    return metric.plan(np.concatenate([scores, scores]))(mass)


def bootstrap_interval(
    draws: FloatArray, value: FloatArray, n: FloatArray, metric: Metric, level: float
) -> Interval:
    """Quantiles of ``draws`` (D, M) stretched about their median, the ``value`` inside.

    On the metric's natural scale (logit of a bounded, log of a half-bounded metric) distances from
    the median grow by t_{n-1} / z * sqrt(n / (n - 1)): the variance is itself estimated, from n
    effective rows, and the bootstrap's is too small by (n - 1) / n.
    """
    tail = (1.0 - level) / 2.0
    defined = np.isfinite(draws).mean(axis=0)
    known = np.isfinite(value) & (defined >= LEAST_DEFINED) & (n > 1.0)
    freedom = np.maximum(n - 1.0, 1.0)
    stretch = stdtrit(freedom, 1.0 - tail) / normal_quantile(level) * np.sqrt(1.0 + 1.0 / freedom)
    low, middle, high = _quantiles(draws, [tail, 0.5, 1.0 - tail], known)
    to_line, from_line = _natural_scale(metric.low, metric.high)
    center = to_line(middle)
    low = np.minimum(from_line(center + (to_line(low) - center) * stretch), value)
    high = np.maximum(from_line(center + (to_line(high) - center) * stretch), value)
    return low, high


def confusion_interval(
    metric: Metric,
    counts: FloatArray,
    value: FloatArray,
    n_draws: int,
    level: float,
    rng: np.random.Generator,
) -> Interval:
    """Quantiles of ``metric`` over tables ~ Dirichlet(``counts`` (M, K, K) + prior).

    A table is shown to the metric as K rows, the k-th scored 1 for class k; row k's mass on class
    l is the cell (true l, predicted k).
    """
    n_models, n_classes = counts.shape[:2]
    right = np.eye(n_classes)
    prior = (right + (1.0 - right) / (n_classes - 1)) * (CONFUSION_PSEUDO_ROWS / 2.0 / n_classes)
    plan = metric.plan(right[:, None, :])
    low, high = np.full(n_models, np.nan), np.full(n_models, np.nan)
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    for m in np.flatnonzero(np.isfinite(value)):
        shape = (counts[m] + prior).T
        draws = plan(rng.standard_gamma(np.broadcast_to(shape, (n_draws, n_classes, n_classes))))
        low[m], high[m] = np.nanquantile(draws[:, 0], tails)
    return np.minimum(low, value), np.maximum(high, value)


def sees_decisions_only(
    metric: Metric,
    scores: FloatArray,
    predicted: NDArray[np.int64],
    rng: np.random.Generator,
) -> bool:
    """Whether ``metric`` stays the same when scores become 0 and 1 at the ``predicted`` class."""
    n, _, n_classes = scores.shape
    certain = (predicted[:, :, None] == np.arange(n_classes)).astype(np.float64)
    certain[predicted < 0] = np.nan
    mass = one_hot_mass(rng.integers(0, n_classes, size=(PROBES, n)), n_classes)
    return np.allclose(metric(scores, mass), metric(certain, mass), rtol=1e-9, equal_nan=True)


def _quantiles(draws: FloatArray, at: list[float], known: NDArray[np.bool_]) -> FloatArray:
    """Quantiles (len(at), M) of the defined draws, NaN where not ``known``."""
    out: FloatArray = np.full((len(at), draws.shape[1]), np.nan)
    if known.any():
        out[:, known] = np.nanquantile(draws[:, known], at, axis=0)
    return out


def _natural_scale(
    low: float, high: float
) -> tuple[Callable[[FloatArray], FloatArray], Callable[[FloatArray], FloatArray]]:
    """The map from the metric's range to the real line, and back."""
    if np.isfinite(low) and np.isfinite(high):
        span = high - low
        edge = np.finfo(np.float64).eps
        return (
            lambda x: logit(np.clip((x - low) / span, edge, 1.0 - edge)),
            lambda z: low + span * expit(z),
        )
    if np.isfinite(low):
        least = float(np.finfo(np.float64).tiny)
        return lambda x: np.log(np.maximum(x - low, least)), lambda z: low + np.exp(z)
    return lambda x: x, lambda z: z
