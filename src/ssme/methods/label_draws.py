"""Pseudo-rows on which each classifier is right or wrong without regard to the others.

Two classifiers are distinguished by the rows on which one is right and the other wrong. Among few
labels there are few such rows, often none or one, and resampling what is there then calls the
lucky classifier better in every draw. Rows are of four kinds (both right, the one alone, the other
alone, none), and Bayes' uniform prior over their shares is one pseudo-row of each kind: with b rows
for the one and c for the other, P(better) is P(Beta(b + 1, c + 1) > 1/2), and not 0 or 1.

`make_contrary_rows` gives rows that are a quarter of each kind for every pair of classifiers at
once: who is right about which of them is a Hadamard matrix (Sylvester's), whose columns are
orthogonal. A row has the label and the scores of a labeled row, a classifier's scores of two
classes being swapped where it has to be right instead of wrong, or wrong instead of right.
Classifiers with the same scores everywhere are right and wrong together, so that they remain equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator, SeedSequence
from scipy.special import expit, logit, ndtri, stdtrit

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.methods.base import Estimate
from ssme.methods.clusters import draw_row_counts
from ssme.metrics import confusion, kinds
from ssme.metrics.base import Metric, one_hot_mass


@dataclass(frozen=True, eq=False)
class ContraryRows:
    """Scores (H, M, K), labels (H,) and weights (H,) of the pseudo-rows."""

    scores: FloatArray
    labels: IntArray
    weights: FloatArray

    def draw_mass(self, n_draws: int, pseudo_rows: float, rng: Generator) -> FloatArray:
        """Mass (D, H, K) that adds up to Gamma(``pseudo_rows``) in each draw."""
        n, n_classes = self.labels.size, self.scores.shape[2]
        drawn = rng.standard_gamma(pseudo_rows / n, (n_draws, n)) * self.weights
        mass = np.zeros((n_draws, n, n_classes))
        mass[:, np.arange(n), self.labels] = drawn
        return mass


def make_contrary_rows(
    scores: FloatArray,
    labels: IntArray,
    weights: FloatArray,
    originals: IntArray,
    rng: Generator,
    least_rows: int = 32,
) -> ContraryRows:
    """A power of two, at least ``least_rows``, of pseudo-rows made of the labeled rows at random.

    ``originals`` (M,) is what `find_originals` gives: copies are right and wrong together.
    """
    distinct, place = np.unique(originals, return_inverse=True)
    # who is right (H, M): columns of a Hadamard matrix, of which any two are orthogonal
    matrix = np.ones((1, 1), dtype=np.int64)
    while len(matrix) < max(least_rows, distinct.size + 1):
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    is_right = (matrix[:, 1 : distinct.size + 1] > 0)[:, place]
    taken: IntArray = np.resize(rng.permutation(labels.size), len(is_right))
    own, made = labels[taken], scores[taken]
    known = np.asarray(np.isfinite(made).all(axis=2))
    order = np.argsort(np.where(known[:, :, None], made, 0.0), axis=2)
    top, second = order[:, :, -1], order[:, :, -2]
    label = np.broadcast_to(own[:, None], top.shape)
    other = np.asarray(np.where(top != label, top, second))
    change = known & (is_right != (top == label))
    row, model = np.nonzero(change)
    one, two = label[change], other[change]
    swapped = made.copy()
    swapped[row, model, one] = made[row, model, two]
    swapped[row, model, two] = made[row, model, one]
    return ContraryRows(swapped, own, weights[taken])


# -------------------------------------------------------------------------------------------------
# Closed-form intervals that hold with 20 labels.
#
# Every function takes the point estimates (M,), what they rest on and a level, and returns
# ``(low, high)``, both (M,), NaN where the point is NaN or rests on nothing.
#
# ==========================  ==========================================================
# `wilson`                    a proportion k / n: Wilson, JASA 22, 1927
# `newcombe_auc`              ROC AUC: Newcombe, Statistics in Medicine 25, 2006, method 5,
#                             the variance of Hanley and McNeil (Radiology 143, 1982) inverted
# `boyd_ap`                   average precision: the logit interval of Boyd, Eng and Page (ECML
#                             2013), here with one pseudo-success and one pseudo-failure
# `find_ap_interval`               the same, its upper end no lower than Wilson's
# `find_ece_interval`              calibration error: mean signed gap below, noise removed above
# ==========================  ==========================================================
#
# Under sample weights the counts are Kish's effective ones, ``(sum w)^2 / sum w^2``
# (Survey Sampling, 1965).


BISECTIONS = 60
"""Halvings of [0, 1]: the ends are then exact to double precision."""

Interval = tuple[FloatArray, FloatArray]


def find_normal_quantile(level: float) -> float:
    """z with P(|N(0, 1)| < z) = ``level``."""
    return float(ndtri(0.5 + level / 2.0))


def kish(weights: FloatArray) -> FloatArray:
    """Effective number of rows (M,) of ``weights`` (n, M): (sum w)^2 / sum w^2, 0 for no rows."""
    total, squares = weights.sum(axis=0), (weights**2).sum(axis=0)
    return total**2 / np.where(squares > 0.0, squares, 1.0)


def wilson(proportion: FloatArray, n: FloatArray, level: float = 0.95) -> Interval:
    """Score interval of a binomial proportion: the p with (p_hat - p)^2 <= z^2 p (1 - p) / n."""
    z2 = find_normal_quantile(level) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        center = (proportion + z2 / (2.0 * n)) / (1.0 + z2 / n)
        spread = proportion * (1.0 - proportion) / n + z2 / (4.0 * n**2)
        half = np.sqrt(z2 * spread) / (1.0 + z2 / n)
    low, high = np.maximum(center - half, 0.0), np.minimum(center + half, 1.0)
    return _put_inside(proportion, low, high, defined=n > 0.0)


def newcombe_auc(
    auc: FloatArray, positives: FloatArray, negatives: FloatArray, level: float = 0.95
) -> Interval:
    """The A with (A_hat - A)^2 <= z^2 V(A), V after Hanley and McNeil with equal counts N*.

    V(A) = A (1 - A) [1 + N* (1 - A)/(2 - A) + N* A/(1 + A)] / (m n),   N* = (m + n)/2 - 1
    """
    z = find_normal_quantile(level)
    pairs = positives * negatives
    equal = (positives + negatives) / 2.0 - 1.0

    # both ends by bisection of [0, AUC] and [AUC, 1]
    left = np.stack([np.zeros_like(auc), auc])
    right = np.stack([auc, np.ones_like(auc)])
    for _ in range(BISECTIONS):
        area = (left + right) / 2.0
        shape = 1.0 + equal * ((1.0 - area) / (2.0 - area) + area / (1.0 + area))
        variance = area * (1.0 - area) * shape / np.where(pairs > 0.0, pairs, np.nan)
        outside = np.abs(auc - area) > z * np.sqrt(np.maximum(variance, 0.0))
        outside[1] = ~outside[1]
        left, right = np.where(outside, area, left), np.where(outside, right, area)
    low, high = (left + right) / 2.0
    return _put_inside(auc, low, high, defined=pairs > 0.0)


def boyd_ap(average_precision: FloatArray, positives: FloatArray, level: float = 0.95) -> Interval:
    """expit(logit(p) +- z / sqrt(n p (1 - p))), p = (n_pos AP + 1) / n and n = n_pos + 2."""
    z = find_normal_quantile(level)
    n = positives + 2.0
    p = (positives * average_precision + 1.0) / n
    half = z / np.sqrt(n * p * (1.0 - p))
    low, high = expit(logit(p) - half), expit(logit(p) + half)
    return _put_inside(average_precision, low, high, defined=positives > 0.0)


def find_ap_interval(
    average_precision: FloatArray, positives: FloatArray, level: float = 0.95
) -> Interval:
    """`boyd_ap`, its upper end no lower than Wilson's for a proportion of the positives.

    The pseudo-failure keeps Boyd's upper end away from 1, where near-perfect rankings belong.
    """
    low, high = boyd_ap(average_precision, positives, level)
    return low, np.maximum(high, wilson(average_precision, positives, level)[1])


def find_ece_interval(
    ece: FloatArray,
    gap: FloatArray,
    variance: FloatArray,
    noise: tuple[FloatArray, FloatArray],
    level: float = 0.95,
) -> Interval:
    """[ max(|g| - z s, sqrt((e - z s)^2 - M^2)),  max(|g|, sqrt(e^2 - m^2)) + z s ] in [0, 1].

    ``gap`` g is the mean of outcome minus score and s^2 = ``variance`` that of the mean: no
    binning makes the error e = ``ece`` smaller than |E g|, hence the first lower end. ``noise`` is
    the error that chance alone would show, a small guess m and a large one M; it adds to the true
    error in squares. The second lower end counts with many labels, when gaps of both signs cancel.
    """
    small, large = noise
    half = find_normal_quantile(level) * np.sqrt(variance)
    beyond = np.maximum(ece - half, 0.0) ** 2 - large**2
    low = np.maximum(np.abs(gap) - half, np.sqrt(np.maximum(beyond, 0.0)))
    true = np.sqrt(np.maximum(ece**2 - small**2, 0.0))
    high = np.minimum(np.maximum(np.abs(gap), true) + half, 1.0)
    return _put_inside(ece, low, high, defined=np.isfinite(half))


def _put_inside(
    point: FloatArray, low: FloatArray, high: FloatArray, defined: BoolArray
) -> Interval:
    """The interval with its ``point`` inside, NaN where nothing is ``defined``."""
    known = np.isfinite(point) & defined
    low = np.where(known, np.minimum(low, point), np.nan)
    high = np.where(known, np.maximum(high, point), np.nan)
    return low, high


# -------------------------------------------------------------------------------------------------
# Confusion tables drawn from a Dirichlet distribution about the counts of the labeled rows.
#
# A cell is Gamma(count + prior); metrics are ratios of cells, so the common scale does not matter.
# The prior holds ``pseudo_rows`` rows: half right, spread evenly over the diagonal, and half wrong,
# over the K (K - 1) other cells. For many classes almost all of these are zero to double precision,
# and the same distribution is drawn through the cells that hold mass: cell = Gamma(count) +
# Gamma(prior), the wrong part of the prior being a Gamma process of total shape A, which is a
# total ~ Gamma(A) times the weights of Sethuraman's stick-breaking (Statistica Sinica 4, 1994),
# w_j = v_j prod_{i < j} (1 - v_i), v_j ~ Beta(1, A). With A = 1, 64 sticks leave e^-64 of it.


def draw_tables(
    counts: FloatArray, pseudo_rows: float, n_draws: int, rng: Generator, *, whole: bool
) -> kinds.Tables:
    """Tables (D, one classifier) ~ Dirichlet(``counts`` (K, K) + prior), ``whole`` or as cells."""
    n_classes = len(counts)
    if whole:
        right = np.eye(n_classes)
        prior = (right + (1.0 - right) / (n_classes - 1)) * (pseudo_rows / 2.0 / n_classes)
        drawn = rng.standard_gamma((counts + prior).T, (n_draws, n_classes, n_classes))
        return confusion.FullTables(drawn.transpose(0, 2, 1)[:, None])
    return CellTables.draw(counts, pseudo_rows, n_draws, rng)


@dataclass(frozen=True, eq=False)
class CellTables:
    """Drawn tables of one classifier, as the cells that hold mass.

    ``observed`` (D, C) is the mass of the observed cells, of classes ``cell`` (true, predicted);
    ``right`` (D, K) is the prior on the diagonal; ``wrong`` (D, J) is the prior off it, on the
    cells ``true`` and ``said`` (D, J).
    """

    n_classes: int
    cell: tuple[IntArray, IntArray]
    observed: FloatArray
    right: FloatArray
    wrong: FloatArray
    true: IntArray
    said: IntArray

    @classmethod
    def draw(
        cls, counts: FloatArray, pseudo_rows: float, n_draws: int, rng: Generator
    ) -> CellTables:
        """``n_draws`` tables about ``counts`` (K, K)."""
        n_classes, half = len(counts), pseudo_rows / 2.0
        cell = np.nonzero(counts)
        wrong = break_sticks(half, n_draws, rng)
        true = rng.integers(0, n_classes, wrong.shape)
        other = rng.integers(1, n_classes, wrong.shape)
        return cls(
            n_classes=n_classes,
            cell=(cell[0], cell[1]),
            observed=rng.standard_gamma(counts[cell], (n_draws, cell[0].size)),
            right=rng.standard_gamma(half / n_classes, (n_draws, n_classes)),
            wrong=wrong,
            true=true,
            said=(true + other) % n_classes,
        )

    @cached_property
    def hits(self) -> FloatArray:
        """Mass (D, 1, K) of the rows of each class that are predicted as that class."""
        true, said = self.cell
        hit = true == said
        return (self._sum_by_class(true[hit], self.observed[:, hit]) + self.right)[:, None]

    @cached_property
    def occurring(self) -> FloatArray:
        """Mass (D, 1, K) of the rows of each true class."""
        observed = self._sum_by_class(self.cell[0], self.observed)
        return (observed + self.right + self._sum_by_drawn_class(self.true))[:, None]

    @cached_property
    def predicted(self) -> FloatArray:
        """Mass (D, 1, K) of the rows predicted as each class."""
        observed = self._sum_by_class(self.cell[1], self.observed)
        return (observed + self.right + self._sum_by_drawn_class(self.said))[:, None]

    def total_of(self, values: FloatArray) -> FloatArray:
        """Sum (D, 1) over all rows of ``values[true class, predicted class]``."""
        summed = self.observed @ values[self.cell] + self.right @ np.diagonal(values)
        out: FloatArray = summed + (self.wrong * values[self.true, self.said]).sum(axis=1)
        return out[:, None]

    def _sum_by_class(self, classes: IntArray, mass: FloatArray) -> FloatArray:
        """Sums (D, K) of ``mass`` (D, C) over the cells of each class."""
        out: FloatArray = np.zeros((len(mass), self.n_classes))
        order = np.argsort(classes, kind="stable")
        found, starts = np.unique(classes[order], return_index=True)
        if found.size:
            out[:, found] = np.add.reduceat(mass[:, order], starts, axis=1)
        return out

    def _sum_by_drawn_class(self, classes: IntArray) -> FloatArray:
        """Sums (D, K) of the wrong prior over the drawn ``classes`` (D, J)."""
        n_draws = len(classes)
        place = np.arange(n_draws)[:, None] * self.n_classes + classes
        size = n_draws * self.n_classes
        summed = np.zeros(size)
        np.add.at(summed, place.ravel(), self.wrong.ravel())
        return summed.reshape(n_draws, self.n_classes)


def break_sticks(total: float, n_draws: int, rng: Generator, n_sticks: int = 64) -> FloatArray:
    """Masses (D, J) of a Gamma process of total shape ``total``; the last stick takes the rest."""
    broken = rng.beta(1.0, total, (n_draws, n_sticks))
    broken[:, -1] = 1.0
    left = np.cumprod(1.0 - broken[:, :-1], axis=1)
    share = broken * np.concatenate([np.ones((n_draws, 1)), left], axis=1)
    return share * rng.standard_gamma(total, (n_draws, 1))


# -------------------------------------------------------------------------------------------------
# Intervals and joint draws from the labeled rows where no closed form exists.
#
# Both resamplings add a little mass that contradicts the labels; without it twenty right answers
# would leave no uncertainty. The amounts are Jeffreys' priors: 1/2 right and 1/2 wrong for one
# proportion, 1/2 a cell for a 2 x 2 table.
#
# - `make_bootstrap_mass`: mass of row i, class k ~ Gamma(1[y_i = k] + prior_ik), Bayesian bootstrap
#   (Rubin, Annals of Statistics 9, 1981) with one pseudo-row, half as labeled and half not. Joint
#   over classifiers: accuracy of one of them is Beta(k + 1/2, n - k + 1/2) for two classes.
# - `TableDraws`: for metrics of decisions, confusion cells ~ Gamma(count + prior), the prior being
#   one right and one wrong row spread over the classes.


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
    one that leads on few labels leads by luck more often than draws about its lead can show. It
    was chosen on development sets, runs 0 to 7, and further sets, each counting equally."""

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

    effect_draws: int = 400
    """Draws behind the design effect of a metric that is not a share of rows."""

    callable_draws: int = 200
    """Resamples of a metric that is a Python callable: each is one call per classifier."""

    least_defined: float = 0.5
    """Share of draws on which a metric must be defined for their quantiles to mean anything."""


def make_bootstrap_mass(
    exponential: FloatArray,
    labels: IntArray,
    n_classes: int,
    weights: FloatArray,
    rng: Generator,
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
        mass[:, holders] += rng.standard_gamma(share, (n_draws, *share.shape))
    else:
        right = rng.standard_gamma(half / holders.size, (n_draws, holders.size))
        mass[:, holders, labels[holders]] += right
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
    labels: IntArray,
    weights: FloatArray,
    n_draws: int,
    rng: Generator,
    settings: ResamplingSettings,
    contrary: ContraryRows | None = None,
    clusters: IntArray | None = None,
) -> FloatArray:
    """The same for metrics that need whole rows (D, M): n rows drawn with replacement.

    With ``clusters`` (n,) as many clusters are drawn as there are, with all of their rows.

    A drawn row has a wrong label with the pseudo-row's probability, 1 / (2 (n + 1)). With
    ``contrary`` rows, these are drawn as often as there are such pseudo-rows.
    """
    n, n_classes = scores.shape[0], scores.shape[2]
    pseudo = settings.bootstrap_pseudo_rows
    wrong = 0.5 * pseudo / (n + pseudo)
    if clusters is None:
        chance = np.concatenate([np.full(n, (1.0 - wrong) / n), np.full(n, wrong / n)])
        counts = rng.multinomial(n, chance, size=n_draws) * np.tile(weights, 2)
    else:
        drawn = draw_row_counts(rng, n_draws, n, clusters) * weights
        flipped = rng.random(drawn.shape) < wrong
        counts = np.concatenate([np.where(flipped, 0.0, drawn), np.where(flipped, drawn, 0.0)], 1)
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
    ends: FloatArray = np.full((3, value.size), np.nan)
    if known.any():
        ends[:, known] = np.nanquantile(draws[:, known], [tail, 0.5, 1.0 - tail], axis=0)
    to_line, from_line = _choose_natural_scale(metric.low, metric.high)
    low, center, high = to_line(ends)
    with np.errstate(over="ignore"):  # infinite where it is too large for a float
        low, high = (from_line(center + (end - center) * stretch) for end in (low, high))
    return np.minimum(low, value), np.maximum(high, value)


@dataclass(frozen=True, eq=False)
class TableDraws:
    """Quantiles of a ``statistic`` over tables ~ Dirichlet(``counts`` (M, K, K) + prior).

    The tables are drawn when the first interval is asked for.
    """

    statistic: kinds.Statistic
    counts: FloatArray
    value: FloatArray
    seed: SeedSequence
    settings: ResamplingSettings

    def __call__(self, level: float) -> Interval:
        """Lower and upper ends (M,), the value between them."""
        return Estimate(self.value, self._draws).interval(level)

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
        return lambda x: np.log(np.maximum(x - low, least)), lambda z: low + np.exp(z)
    return lambda x: x, lambda z: z
