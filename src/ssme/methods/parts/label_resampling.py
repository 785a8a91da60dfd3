"""Intervals and joint draws from the labeled rows where no closed form exists.

Both resamplings add a little mass that contradicts the labels; without it twenty right answers
would leave no doubt at all. The amounts are Jeffreys' priors: 1/2 right and 1/2 wrong for one
proportion, 1/2 a cell for a 2 x 2 table.

- `make_bootstrap_mass`: mass of row i, class k ~ Gamma(1[y_i = k] + prior_ik), Bayesian bootstrap
  (Rubin, Annals of Statistics 9, 1981) with one pseudo-row, half as labeled and half not. Joint
  over classifiers: accuracy of one of them is Beta(k + 1/2, n - k + 1/2) for two classes.
- `TableDraws`: for metrics of decisions, confusion cells ~ Gamma(count + prior), the prior being
  one right and one wrong row spread over the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, stdtrit

from ssme.methods.parts.contrary_rows import ContraryRows
from ssme.methods.parts.label_intervals import Interval, find_normal_quantile
from ssme.methods.parts.label_tables import break_sticks, draw_tables
from ssme.metrics.base import FloatArray, Metric, one_hot_mass
from ssme.metrics.kinds import Statistic

__all__ = [
    "ResamplingSettings",
    "TableDraws",
    "find_bootstrap_interval",
    "make_bootstrap_mass",
    "resample_values",
]


@dataclass(frozen=True)
class ResamplingSettings:
    """Every number that changes an interval or a draw from labels alone."""

    bootstrap_pseudo_rows: float = 1.0
    """Pseudo-rows of the Bayesian bootstrap: half as labeled, half not."""

    prior_holders: int = 200
    """Rows, at most, that the pseudo-row is spread over: with more its place cannot matter."""

    contrary_rows: float = 4.0
    """Pseudo-rows of joint draws on which classifiers are right and wrong by themselves: one for
    each of the four ways in which two of them can be (`contrary_rows`)."""

    best: float = 0.6
    """Exponent of the shares of joint draws in which classifiers are the best, for P(best): the
    one that leads on few labels leads by luck more often than draws about its lead can tell. It
    was chosen on development sets, runs 0 to 7, and further sets, each counting alike."""

    few: float = 4.0
    """The exponent becomes one as ``1 - few / M^2``: of two classifiers the better is the best."""

    table_pseudo_rows: float = 2.0
    """Pseudo-rows of a confusion table: half right, half wrong."""

    table_draws: int = 1000
    """Confusion tables drawn for an interval."""

    dense_classes: int = 32
    """Most classes for which the prior mass of every cell is drawn; for more classes the same
    distribution is drawn through the few cells that hold mass."""

    noise_draws: int = 200
    """Labelings drawn from a classifier's own scores; their mean calibration error is chance."""

    gap_pseudo_squares: float = 0.5
    """Added to the sum of squared deviations of gaps, so that equal gaps do not look certain."""

    callable_draws: int = 200
    """Resamples of a metric that is a Python callable: each is one call per classifier."""

    least_defined: float = 0.5
    """Share of draws on which a metric must be defined for their quantiles to mean anything."""


def make_bootstrap_mass(
    exponential: FloatArray,
    labels: NDArray[np.int64],
    n_classes: int,
    weights: FloatArray,
    rng: np.random.Generator,
    settings: ResamplingSettings,
) -> FloatArray:
    """Mass (D, n, K) of hard ``labels`` (n,) whose rows weigh ``exponential`` (D, n), plus prior.

    The prior is one pseudo-row: half of it spread over the rows as labeled, half over the other
    classes. ``weights`` (n,) multiply the rows.
    """
    n_draws, n = exponential.shape
    mass = np.empty((n_draws, n, n_classes))
    for k in range(n_classes):
        np.multiply(exponential, labels == k, out=mass[:, :, k])
    holders = rng.permutation(n)[: settings.prior_holders]
    half = 0.5 * settings.bootstrap_pseudo_rows
    if n_classes <= settings.dense_classes:
        own = labels[holders, None] == np.arange(n_classes)
        share = np.where(own, half, half / (n_classes - 1)) / holders.size
        mass[:, holders] += rng.standard_gamma(np.broadcast_to(share, (n_draws, *share.shape)))
    else:
        right = np.broadcast_to(half / holders.size, (n_draws, holders.size))
        mass[:, holders, labels[holders]] += rng.standard_gamma(right)
        wrong = break_sticks(half, n_draws, rng)
        row = rng.choice(holders, wrong.shape)
        other = (labels[row] + rng.integers(1, n_classes, wrong.shape)) % n_classes
        np.add.at(mass, (np.arange(n_draws)[:, None], row, other), wrong)
    if (weights != 1.0).any():
        mass *= weights[:, None]
    return mass


def resample_values(
    metric: Metric,
    scores: FloatArray,
    labels: NDArray[np.int64],
    weights: FloatArray,
    n_draws: int,
    rng: np.random.Generator,
    settings: ResamplingSettings,
    contrary: ContraryRows | None = None,
) -> FloatArray:
    """The same for metrics that need whole rows (D, M): n rows drawn with replacement.

    A drawn row has a wrong label with the pseudo-row's probability, 1 / (2 (n + 1)). With
    ``contrary`` rows, these are drawn as often as there are such pseudo-rows.
    """
    n, n_classes = scores.shape[0], scores.shape[2]
    pseudo = settings.bootstrap_pseudo_rows
    wrong = 0.5 * pseudo / (n + pseudo)
    chance = np.concatenate([np.full(n, (1.0 - wrong) / n), np.full(n, wrong / n)])
    counts = rng.multinomial(n, chance, size=n_draws) * np.tile(weights, 2)
    other = (labels + rng.integers(1, n_classes, size=(n_draws, n))) % n_classes
    both = np.concatenate([np.broadcast_to(labels, other.shape), other], axis=1)
    mass = one_hot_mass(both, n_classes) * counts[:, :, None]
    if contrary is None:
        return metric.plan(np.concatenate([scores, scores]))(mass)
    mean = settings.contrary_rows / contrary.labels.size
    more = rng.poisson(mean, (n_draws, contrary.labels.size)) * contrary.weights
    added = one_hot_mass(contrary.labels, n_classes) * more[:, :, None]
    plan = metric.plan(np.concatenate([scores, scores, contrary.scores]))
    return plan(np.concatenate([mass, added], axis=1))


def find_bootstrap_interval(
    draws: FloatArray,
    value: FloatArray,
    n: FloatArray,
    metric: Metric,
    settings: ResamplingSettings,
    level: float,
) -> Interval:
    """Quantiles of ``draws`` (D, M) stretched about their median, the ``value`` inside.

    On the metric's natural scale (logit of a bounded, log of a half-bounded metric) distances from
    the median grow by t_{n-1} / z * sqrt(n / (n - 1)): the variance is itself estimated, from n
    effective rows, and the bootstrap's is too small by (n - 1) / n.
    """
    tail = (1.0 - level) / 2.0
    defined = np.isfinite(draws).mean(axis=0)
    known = np.isfinite(value) & (defined >= settings.least_defined) & (n > 1.0)
    freedom = np.maximum(n - 1.0, 1.0)
    stretch = (
        stdtrit(freedom, 1.0 - tail) / find_normal_quantile(level) * np.sqrt(1.0 + 1.0 / freedom)
    )
    low, middle, high = _find_quantiles(draws, [tail, 0.5, 1.0 - tail], known)
    to_line, from_line = _choose_natural_scale(metric.low, metric.high)
    center = to_line(middle)
    low = np.minimum(from_line(center + (to_line(low) - center) * stretch), value)
    high = np.maximum(from_line(center + (to_line(high) - center) * stretch), value)
    return low, high


@dataclass(frozen=True, eq=False)
class TableDraws:
    """Quantiles of a ``statistic`` over tables ~ Dirichlet(``counts`` (M, K, K) + prior).

    The tables are drawn when the first interval is asked for.
    """

    statistic: Statistic
    counts: FloatArray
    value: FloatArray
    seed: np.random.SeedSequence
    settings: ResamplingSettings

    def __call__(self, level: float) -> Interval:
        """Lower and upper ends (M,), the value between them."""
        known = np.isfinite(self.value) & np.isfinite(self._draws).any(axis=0)
        ends = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        low, high = _find_quantiles(self._draws, ends, known)
        return np.minimum(low, self.value), np.maximum(high, self.value)

    @cached_property
    def _draws(self) -> FloatArray:
        """The statistic (D, M) of drawn tables; NaN for classifiers that have no value."""
        settings, rng = self.settings, np.random.default_rng(self.seed)
        draws: FloatArray = np.full((settings.table_draws, self.value.size), np.nan)
        for m in np.flatnonzero(np.isfinite(self.value)):
            tables = draw_tables(
                self.counts[m],
                settings.table_pseudo_rows,
                settings.table_draws,
                rng,
                whole=len(self.counts[m]) <= settings.dense_classes,
            )
            draws[:, m] = self.statistic(tables)[:, 0]
        return draws


def _find_quantiles(draws: FloatArray, at: list[float], known: NDArray[np.bool_]) -> FloatArray:
    """Quantiles (len(at), M) of the defined draws, NaN where not ``known``."""
    out: FloatArray = np.full((len(at), draws.shape[1]), np.nan)
    if known.any():
        out[:, known] = np.nanquantile(draws[:, known], at, axis=0)
    return out


def _choose_natural_scale(
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
        return lambda x: np.log(np.maximum(x - low, least)), lambda z: low + _exp(z)
    return lambda x: x, lambda z: z


def _exp(z: FloatArray) -> FloatArray:
    """e^z, infinite where it is too large for a float."""
    with np.errstate(over="ignore"):
        out: FloatArray = np.exp(z)
    return out
