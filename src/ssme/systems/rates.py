"""Rates of systems from verdicts of judges on all rows and of people on few.

What people say about row i, y_i in [0, 1], is regressed on what judges say (the nested error
regression of Battese, Harter and Fuller, JASA 83, 1988, with informative priors):

    y_i = m_i + a + b (m_i - m_s) + sum_j g_j (x_ij - m_i) + v_s(i) + e_i

m_i is the consensus of the judges, each weighted by how it correlates with the others, and m_s its
mean over system s; a is what all judges have in common wrong, b how much of their differences
within a system is real, g_j how far one judge is to be trusted beyond the consensus, and v_s what
judges get wrong about system s. The variance of e_i is phi p (1 - p), p the rate of the system by a
first fit. Repeats of an answer count as their mean. Residuals of rows of one item are correlated;
they are made independent as Fuller and Battese (JASA 68, 1973) do.

Coefficients are normal with the standard deviations of `Prior`, phi is inverse gamma, and the
posterior is averaged over the standard deviations, weighted by their marginal likelihood. The rate
of a system is the mean of the regression over its rows, for items like those that were given: the
covariance of means over items, within which systems are paired, is added to that of the posterior.

Draws keep between 0 and 1 as Wilson's interval does: the variance of a rate r is r (1 - r) over the
labels that the posterior is worth. Where labels alone have a narrower interval, the draws are
pulled together to its width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ssme.arrays import FloatArray, IntArray
from ssme.methods import clusters, label_draws


class Prior(NamedTuple):
    """Standard deviations of the coefficients; tuples are averaged over.

    Chosen on simulations and on half of the judge sets of ``benchmarks/systems/systems.py``.
    """

    shared: tuple[float, ...] = (0.02, 0.06, 0.15, 0.4)
    system: tuple[float, ...] = (0.03, 0.08, 0.16, 0.3)
    judge: tuple[float, ...] = (0.1, 0.3)
    slope: tuple[float, float] = (-0.25, 0.3)
    """Mean and standard deviation of b: judges separate rows more than people do."""
    dispersion: tuple[float, float] = (0.8, 0.25)
    """Variance of residuals over that of pass and fail: of 0 and 1, and of numbers between."""
    worth: float = 4.0
    """Labels that the dispersion counts for."""
    correlation: tuple[float, float] = (0.3, 10.0)
    """Correlation of residuals within items, and the pairs of rows that it counts for."""


PRIOR = Prior()
HIGHEST_CORRELATION = 0.95
LEAST_WEIGHT = 0.05
"""Least weight of a judge in the consensus."""
LEAST_RATE = 0.02
"""Least distance of a rate from 0 and 1 in the variance of its rows."""
FIRST, FIRST_VARIANCE = (0.2, 0.1, 0.1, 0.1), 0.15
"""Standard deviations and the variance of residuals for a first look at the variances of rows."""
HALVINGS = 20
FEWEST_PAIRS = 10
"""Rows that two people have to have judged for the rate of their errors to be estimated."""
NORMAL = ndtri((np.arange(200) + 0.5) / 200)
"""Values of a normal variable over which a rate is the mean."""


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Rows that judges judged, and people judged some of.

    ``verdicts`` (n, J) and ``outcomes`` (n,) are from 0 to 1, NaN where missing; ``systems`` and
    ``items`` are codes (n,). ``binary`` says that outcomes are 0 or 1. Where two answers are
    compared, ``systems`` gave the first and ``seconds`` (n,) the second, and 1 prefers the first.
    """

    verdicts: FloatArray
    outcomes: FloatArray
    systems: IntArray
    items: IntArray
    binary: bool
    seconds: IntArray | None = None

    @property
    def labeled(self) -> IntArray:
        """The rows that people judged."""
        return np.flatnonzero(np.isfinite(self.outcomes))

    def find_repeats(self, chosen: IntArray) -> IntArray:
        """Codes of the ``chosen`` rows, the same for repeats: one system, or pair, and one item."""
        keys = [self.items, self.systems, *(() if self.seconds is None else (self.seconds,))]
        codes: IntArray = np.unique(np.stack(keys)[:, chosen], axis=1, return_inverse=True)[1]
        return codes.reshape(-1)


@dataclass(frozen=True, eq=False)
class Rates:
    """Rates (T,) with joint draws (D, T), and those of labels alone with their ends (2, T).

    ``fitted`` (n,) is what people are expected to say about each row, ``judges`` (T,) what the
    judges say on average.
    """

    values: FloatArray
    draws: FloatArray
    labels_only: FloatArray
    labels_only_ends: FloatArray
    counts: IntArray
    fitted: FloatArray
    judges: FloatArray


def find_consensus(verdicts: FloatArray) -> FloatArray:
    """The mean verdict (n,), judges weighted by their correlation with the mean of the others."""
    given = np.isfinite(verdicts)
    number = given.sum(axis=1)
    centers = np.array([_mean(verdicts[given[:, j], j]) for j in range(verdicts.shape[1])])
    off = np.where(given, verdicts - centers, 0.0)
    weights = np.ones(verdicts.shape[1])
    for j in range(weights.size if weights.size > 1 else 0):
        both = given[:, j] & (number > 1)
        mine, others = off[both, j], (off.sum(axis=1) - off[:, j])[both] / (number[both] - 1.0)
        spread = mine.std() * others.std() if both.sum() > 2 else 0.0
        shared = ((mine - mine.mean()) * (others - others.mean())).mean() if spread > 0.0 else 0.0
        weights[j] = max(shared / spread if spread > 0.0 else 0.0, LEAST_WEIGHT)
    total = (given * weights).sum(axis=1)
    found = (np.where(given, verdicts, 0.0) * weights).sum(axis=1) / np.where(total > 0, total, 1.0)
    return np.where(total > 0.0, found, _mean(verdicts[given]))


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if values.size else 0.5


def estimate_rates(
    rows: JudgedRows,
    targets: IntArray,
    levels: Sequence[IntArray],
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    n_draws: int = 4000,
    prior: Prior = PRIOR,
) -> Rates:
    """The rate of each of the ``targets`` (n,), codes of systems or of systems within groups.

    ``levels`` are the codes (n,) of what judges may be wrong about: systems, and parts of them.
    """

    def average(codes: IntArray, values: FloatArray) -> FloatArray:
        found: FloatArray = (np.bincount(codes, values) / np.bincount(codes))[codes]
        return found

    consensus = find_consensus(rows.verdicts)
    columns = [((codes, 1.0),) for codes in levels]
    design = Design.of(rows.verdicts, consensus, average(levels[0], consensus), columns, prior)
    fit = fit_verdicts(rows, design, lambda fitted: average(levels[-1], fitted), prior)
    counts = np.bincount(targets)
    sums, starts = design.add_up(((targets, 1.0),), counts.size)
    means, center = sums / counts[:, None], starts / counts
    values = center + means @ fit.mode
    joint = center + fit.draw(means, n_draws, rng)
    fitted = design.predict(fit.mode)
    noise = _find_item_covariance(fitted, targets, rows.items)
    joint = joint + rng.multivariate_normal(np.zeros(values.size), noise, n_draws, method="eigh")
    alone, ends, counts = find_labels_only(rows, targets, level)
    spread = np.maximum(joint.std(axis=0), 1e-9)
    spreads = fit.expected * (1.0 - fit.expected)
    worth = np.bincount(targets, spreads) / np.bincount(targets)
    score = _fit_scores(
        np.clip(values, 0.0, 1.0),
        worth / spread**2,
        (joint - values) / spread,
        ends[1] - ends[0],
        level,
    )
    return Rates(
        score(NORMAL[:, None]).mean(axis=0),
        score((joint - values) / spread),
        alone,
        ends,
        counts,
        np.clip(fitted, 0.0, 1.0),
        np.array([np.nanmean(rows.verdicts[targets == at]) for at in range(values.size)]),
    )


def _fit_scores(
    rates: FloatArray, worth: FloatArray, off: FloatArray, widest: FloatArray, level: float
) -> Callable[[FloatArray], FloatArray]:
    """From standard deviations (D, T) to draws of ``rates`` that are worth so many labels.

    Those r for which r - rate = off sqrt(r (1 - r) / worth), as in Wilson's interval. They are
    pulled together where the interval of draws at ``off`` would be wider than ``widest`` (T,).
    """

    def solve(off: FloatArray) -> FloatArray:
        part = off**2 / worth
        root = np.sqrt(np.maximum(rates * (1.0 - rates) * part + part**2 / 4.0, 0.0))
        found: FloatArray = (rates + part / 2.0 + np.sign(off) * root) / (1.0 + part)
        return found

    tails = np.quantile(off, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    low, high = solve(tails)
    fits = high - low <= widest
    narrow, wide = np.zeros(rates.size), np.ones(rates.size)
    for _ in range(0 if fits.all() else HALVINGS):
        middle = (narrow + wide) / 2.0
        low, high = solve(tails * middle)
        inside = high - low <= widest
        narrow, wide = np.where(inside, middle, narrow), np.where(inside, wide, middle)
    ratio = np.where(fits, 1.0, narrow)
    return lambda off: solve(off * ratio)


Column = tuple[tuple[IntArray, float], ...]
"""Codes (n,) of what judges may be wrong about, with the factor of its coefficient; their sum."""


@dataclass(frozen=True, eq=False)
class Design:
    """The regression's columns: ``shared`` (n, 2 + J), then one for each value of each level."""

    start: FloatArray
    shared: FloatArray
    levels: tuple[Column, ...]
    slopes: int

    @classmethod
    def of(
        cls,
        verdicts: FloatArray,
        consensus: FloatArray,
        center: FloatArray,
        levels: Sequence[Column],
        prior: Prior,
        between: FloatArray | None = None,
    ) -> Design:
        """``center`` (n,) is the consensus that the systems of a row have on average.

        ``between`` (n,) is a column more, of differences of systems of which the same is true.
        """
        off = consensus - center
        columns = [np.ones(off.size), off, *(() if between is None else (between,))]
        if verdicts.shape[1] > 1:
            own = verdicts - consensus[:, None]
            own = np.where(np.isfinite(own), own, 0.0)
            columns += [*(own - own.mean(axis=0)).T]
        # the mean of b is not zero: what it says is a part of the start
        start = consensus + prior.slope[0] * off
        slopes = 1 if between is None else 2
        return cls(start, np.stack(columns, axis=1), tuple(levels), slopes)

    @property
    def sizes(self) -> list[int]:
        return [1 + max(int(codes.max()) for codes, _ in level) for level in self.levels]

    def find_sd(
        self, shared: float, system: float, part: float, judge: float, prior: Prior
    ) -> FloatArray:
        """Prior standard deviations of all coefficients; ``part`` are those of further levels."""
        own = self.shared.shape[1] - 1 - self.slopes
        slopes = [prior.slope[1]] * self.slopes
        first, *others = self.sizes
        effects = [*[system] * first, *[part] * sum(others)]
        return np.array([shared, *slopes, *[judge] * own, *effects])

    def take(self, rows: IntArray) -> FloatArray:
        """The columns of some rows."""
        parts = [self.shared[rows]]
        for level, size in zip(self.levels, self.sizes, strict=True):
            part = np.zeros((rows.size, size))
            for codes, factor in level:
                part[np.arange(rows.size), codes[rows]] += factor
            parts.append(part)
        return np.concatenate(parts, axis=1)

    def add_up(self, targets: Column, number: int) -> tuple[FloatArray, FloatArray]:
        """Sums of the columns (T, p) and of the start (T,) over the rows of each target."""
        sums = np.zeros((number, self.shared.shape[1] + sum(self.sizes)))
        start = np.zeros(number)
        for codes, sign in targets:
            start += sign * np.bincount(codes, self.start, number)
            shared = [np.bincount(codes, c, number) for c in self.shared.T]
            parts: list[FloatArray] = [np.stack(shared, axis=1)]
            for level, size in zip(self.levels, self.sizes, strict=True):
                both = np.zeros(number * size)
                for other, factor in level:
                    both += factor * np.bincount(codes * size + other, minlength=number * size)
                parts.append(both.reshape(number, size))
            sums += sign * np.concatenate(parts, axis=1)
        return sums, start

    def predict(self, coefficients: FloatArray) -> FloatArray:
        """The regression (n,) at all rows."""
        at = self.shared.shape[1]
        found = self.start + self.shared @ coefficients[:at]
        for level, size in zip(self.levels, self.sizes, strict=True):
            for codes, factor in level:
                found = found + factor * coefficients[at : at + size][codes]
            at += size
        return found


@dataclass(frozen=True, eq=False)
class VerdictFit:
    """The posterior of the coefficients, averaged over prior standard deviations.

    ``expected`` (n,) is the mean outcome of rows like each, from 0 to 1.
    """

    fits: tuple[_Fit, ...]
    weights: FloatArray
    expected: FloatArray

    @property
    def mode(self) -> FloatArray:
        """The posterior mean of the coefficients."""
        pairs = zip(self.weights, self.fits, strict=True)
        return sum((w * fit.mode for w, fit in pairs), np.zeros(1))

    def draw(self, columns: FloatArray, number: int, rng: np.random.Generator) -> FloatArray:
        """Draws (number, T) of the coefficients times ``columns`` (T, p)."""
        counts = rng.multinomial(number, self.weights)
        parts = [
            fit.draw(count, rng) @ columns.T for fit, count in zip(self.fits, counts, strict=True)
        ]
        return np.concatenate(parts)


def fit_verdicts(
    rows: JudgedRows,
    design: Design,
    smooth: Callable[[FloatArray], FloatArray],
    prior: Prior = PRIOR,
) -> VerdictFit:
    """The regression of what people say on what judges say.

    ``smooth`` makes of predictions (n,) the mean outcomes (n,) by which the variance is known.
    """
    known = rows.labeled
    features, rest = design.take(known), rows.outcomes[known] - design.start[known]
    first = _fit(features, rest, design.find_sd(*FIRST, prior), FIRST_VARIANCE, prior).mode
    expected = np.clip(smooth(design.predict(first)), LEAST_RATE, 1.0 - LEAST_RATE)
    root = np.sqrt(expected * (1.0 - expected))[known]
    # the squared residual of a pass or fail varies more, relative to its mean, the rarer one of
    # them is: by (1 - 4 v) / v, v = p (1 - p), where that of a normal residual varies by 2
    rare = np.minimum(2.0 * root**2 / np.maximum(1.0 - 4.0 * root**2, 1e-9), 1.0)
    features, rest = features / root[:, None], rest / root
    repeats, own_items = rows.find_repeats(known), rows.items[known]
    left = rest - features @ first
    if clusters.has_repeats(repeats):
        # answers of a system to one item count as their mean, so that the variance is that of items
        sizes, own_items = np.bincount(repeats), own_items[np.unique(repeats, return_index=True)[1]]
        correlation = clusters.find_correlation(left[:, None], repeats, prior.correlation)
        worth = np.sqrt(sizes / (1.0 + (sizes - 1.0) * correlation))
        features, rest, left = (
            (worth * (clusters.sum_by_cluster(each, repeats).T / sizes)).T
            for each in (features, rest, left)
        )
        rare = np.bincount(repeats, rare) / sizes
    informed, clustered = float(rare.sum()), clusters.has_repeats(own_items)
    own_items = clusters.number_clusters(own_items)
    if clustered:
        correlation = clusters.find_correlation(left[:, None], own_items, prior.correlation)
        correlation = min(correlation, HIGHEST_CORRELATION)
        features = _decorrelate(features, own_items, correlation)
        rest = _decorrelate(rest[:, None], own_items, correlation)[:, 0]
    # numbers at the ends of the scale vary as passes and fails do
    at_ends = float(np.isin(rows.outcomes[known], (0.0, 1.0)).mean())
    if rows.binary or rows.seconds is not None:
        at_ends = 1.0
    variance = at_ends * prior.dispersion[0] + (1.0 - at_ends) * prior.dispersion[1]
    grid = product(
        prior.shared,
        prior.system if design.sizes[0] > 1 else (1e-4,),
        prior.system if max(design.sizes[1:], default=0) > 1 else (1e-4,),
        prior.judge if rows.verdicts.shape[1] > 1 else (1e-4,),
    )
    items = own_items if clustered else None
    fits = tuple(
        _fit(features, rest, design.find_sd(*sds, prior), variance, prior, informed, items)
        for sds in grid
    )
    evidence = np.array([fit.evidence for fit in fits])
    weights = np.exp(evidence - evidence.max())
    return VerdictFit(fits, weights / weights.sum(), expected)


class _Fit(NamedTuple):
    """The posterior of the coefficients for one set of prior standard deviations."""

    mode: FloatArray
    factor: FloatArray
    variance: float
    freedom: float
    evidence: float

    def draw(self, number: int, rng: np.random.Generator) -> FloatArray:
        """Draws (number, p): Student's t."""
        normal = rng.normal(size=(self.mode.size, number))
        spread = np.linalg.solve(self.factor.T, normal)
        scale = np.sqrt(self.variance * self.freedom / rng.chisquare(self.freedom, number))
        return self.mode + (spread * scale).T


def _fit(
    features: FloatArray,
    rest: FloatArray,
    sd: FloatArray,
    variance: float,
    prior: Prior,
    informed: float | None = None,
    items: IntArray | None = None,
) -> _Fit:
    """The conjugate normal regression of ``rest`` (n,) on ``features`` (n, p).

    ``informed`` is the number of rows that the residuals count for in the variance, n by default;
    ``items`` (n,) are those of the rows where several belong to one.
    """
    precision = variance / sd**2
    matrix, right = features.T @ features + np.diag(precision), features.T @ rest
    factor = np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    mode = np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    start, squares = prior.worth * variance, max(float(rest @ rest - right @ mode), 1e-12)
    evidence = 0.5 * np.log(precision).sum() - np.log(np.diag(factor)).sum()
    evidence -= 0.5 * (prior.worth + rest.size) * np.log(start + squares)
    informed = float(rest.size) if informed is None else informed
    freedom = prior.worth + informed
    found = (start + squares * informed / rest.size) / freedom
    if items is not None:
        # the variance of the common error by item, where it is larger than that by row
        errors = features[:, 0] * (rest - features @ mode)
        by_item = clusters.sum_by_cluster(errors, items)
        ratio = float(by_item @ by_item) / max(float(errors @ errors), 1e-12)
        found *= max(1.0, (prior.worth + len(by_item) * ratio) / (prior.worth + len(by_item)))
    return _Fit(mode, factor, found, freedom, float(evidence))


def _decorrelate(values: FloatArray, items: IntArray, correlation: float) -> FloatArray:
    """Values (n, p) less a part of the mean of their item, so that residuals are independent."""
    sizes = np.bincount(items).astype(np.float64)
    means = np.stack([np.bincount(items, column) for column in values.T], axis=1) / sizes[:, None]
    part = 1.0 - np.sqrt((1.0 - correlation) / (1.0 + (sizes - 1.0) * correlation))
    out: FloatArray = (values - (part[:, None] * means)[items]) / np.sqrt(1.0 - correlation)
    return out


def _find_item_covariance(fitted: FloatArray, targets: IntArray, items: IntArray) -> FloatArray:
    """Covariance (T, T) of the targets' means of ``fitted``, were other items drawn."""
    from scipy.sparse import coo_array

    counts = np.bincount(targets)
    means = np.bincount(targets, fitted) / counts
    share = (fitted - means[targets]) / counts[targets]
    # each target has a number of items: the factor for few is taken on both sides
    pairs = np.unique(items * counts.size + targets) % counts.size
    factor = np.sqrt(np.minimum(clusters.correct_few(np.bincount(pairs).astype(np.float64)), 2.0))
    shape = (int(items.max()) + 1, counts.size)
    by_item = coo_array((share * factor[targets], (items, targets)), shape=shape).tocsr()
    found: FloatArray = (by_item.T @ by_item).toarray()
    return found


def find_labels_only(
    rows: JudgedRows, targets: IntArray, level: float
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Means of the labels (T,) of each target, their ends (2, T) and the number of labels."""
    number = int(targets.max()) + 1
    values, ends = np.full(number, np.nan), np.tile([[0.0], [1.0]], number)
    known = rows.labeled
    counts = np.bincount(targets[known], minlength=number)
    for target in np.flatnonzero(counts):
        own = known[targets[known] == target]
        values[target], *ends[:, target] = find_mean_interval(
            rows.outcomes[own], rows.items[own], level, binary=rows.binary
        )
    return values, ends, counts


def find_mean_interval(
    values: FloatArray, items: IntArray, level: float, *, binary: bool
) -> tuple[float, float, float]:
    """The mean of ``values`` (n,) from 0 to 1 and the ends of its interval.

    Wilson's interval with as many values as give the cluster-robust variance of the mean.
    """
    codes = clusters.number_clusters(items)
    mean, worth, groups = float(values.mean()), float(values.size), float(codes.max() + 1)
    if not binary or groups < values.size:
        ones = np.ones((values.size, 1))
        variance = clusters.find_mean_variance(values[:, None], ones, codes)[0]
        spread = mean * (1.0 - mean)
        if not binary:  # few numbers may miss those that are far off: one more item, pass or fail
            variance = (groups * variance + spread / groups) / (groups + 1.0)
        worth = spread / variance if 1e-12 < variance < np.inf and spread > 0.0 else groups
        worth = min(worth, float(values.size)) if binary else worth
        worth /= float(clusters.find_t_factor(level, groups)) ** 2
    low, high = label_draws.wilson(np.array([mean]), np.array([worth]), level)
    return mean, float(low[0]), float(high[0])


def find_label_errors(labels: FloatArray, number: int, rng: np.random.Generator) -> FloatArray:
    """How often people err, the value and then ``number`` draws, from labels (n, P) of two or more.

    Two people who are each wrong with probability e differ with d = 2 e (1 - e), d of the rows that
    several judged; draws of d are those of a beta distribution. NaN where there are too few rows.
    """
    given = np.isfinite(labels)
    count = given.sum(axis=1).astype(np.float64)
    several = count > 1
    if several.sum() < FEWEST_PAIRS:
        return np.full(number + 1, np.nan)
    passed = np.where(given, labels, 0.0).sum(axis=1)[several]
    count = count[several]
    differ = (passed * (count - passed) / (count * (count - 1.0) / 2.0)).sum()
    drawn = rng.beta(differ + 0.5, several.sum() - differ + 0.5, number)
    share = np.minimum(np.append(differ / several.sum(), drawn), 0.499)
    return np.asarray((1.0 - np.sqrt(1.0 - 2.0 * share)) / 2.0)


def allow_for_errors(rates: Rates, errors: FloatArray) -> Rates:
    """Rates of what is true from those of what people say, who err with probability e.

    What people say passes with e + (1 - 2 e) p. ``errors`` are e and its draws (1 + D,).
    """

    def undo(said: FloatArray, error: FloatArray | float) -> FloatArray:
        return np.clip((said - error) / (1.0 - 2.0 * error), 0.0, 1.0)

    first = float(errors[0])
    return replace(
        rates,
        values=undo(rates.values, first),
        draws=undo(rates.draws, errors[1:, None]),
        labels_only=undo(rates.labels_only, first),
        labels_only_ends=undo(rates.labels_only_ends, first),
        judges=undo(rates.judges, first),
    )


def count_repeats(rows: JudgedRows, k: int, *, any_pass: bool) -> tuple[JudgedRows, IntArray]:
    """Rows that are an item of a system each: whether any, or all, of k of its repeats pass.

    Of n repeats, c of which pass, any of k passes with probability 1 - C(n - c, k) / C(n, k), and
    all with C(c, k) / C(n, k). Items with fewer than k repeats, of which people judged fewer than
    k, or a judge, have no outcome, or no verdict. The second result is a row of each item.
    """
    pairs = rows.systems * (int(rows.items.max()) + 1) + rows.items
    kept = np.flatnonzero(np.bincount(pairs) >= k)
    first = np.unique(pairs, return_index=True)
    place = np.full(int(pairs.max()) + 1, -1)
    place[kept] = np.arange(kept.size)
    units = first[1][np.isin(first[0], kept)]

    def share(column: FloatArray) -> FloatArray:
        used = np.isfinite(column) & (place[pairs] >= 0)
        at = place[pairs[used]]
        number = np.bincount(at, minlength=kept.size)
        passed = np.bincount(at, column[used] >= 0.5, minlength=kept.size).astype(np.int64)
        missed = number - passed if any_pass else passed
        table = {
            (n, c): comb(int(c), k) / comb(int(n), k) if n >= k else np.nan
            for n, c in set(zip(number.tolist(), missed.tolist(), strict=True))
        }
        found = np.array(
            [table[pair] for pair in zip(number.tolist(), missed.tolist(), strict=True)]
        )
        return 1.0 - found if any_pass else found

    verdicts = np.stack([share(column) for column in rows.verdicts.T], axis=1)
    reduced = JudgedRows(
        verdicts, share(rows.outcomes), rows.systems[units], rows.items[units], binary=False
    )
    return reduced, units
