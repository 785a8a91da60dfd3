"""The statistical tests behind the checks.

- `compute_right_answers_tail`: the number of right answers under a classifier's own scores is
  Poisson-binomial; exact up to some number of rows, normal beyond.
- `compute_independence_tail`: do judges' votes look as if errors were independent given the class?
- `run_energy_test`: do two samples of score vectors come from one distribution? Energy distance
  (Székely and Rizzo, InterStat 5, 2004) with a permutation test.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, expit, ndtr

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.diagnostics.check import Limits

# -------------------------------------------------------------------------------------------------
# Permutation tests without permuting: which rows a shuffle would call the first sample.
#
# Shuffling the membership of n rows, a of them in the first sample, gives every subset of a rows
# the same chance. Floyd's algorithm (Bentley and Floyd, Communications of the ACM 30, 1987) draws
# such a subset with a random numbers instead of n,
#
#     for j = n - a, ..., n - 1:  take t drawn from 0, ..., j, or j itself where t is taken already,
#
# and a statistic that is made of sums over the first sample then costs what that sample is large.


def draw_samples(labeled: BoolArray, rng: np.random.Generator, permutations: int) -> IntArray:
    """Rows (1 + permutations, a) of the first sample: as they are, then of shuffles."""
    n, first_rows = len(labeled), np.flatnonzero(labeled)
    last = np.arange(n - first_rows.size, n)[:, None]
    start = np.arange(permutations) * n  # of each shuffle's rows in `taken`
    drawn = rng.integers(0, last + 1, size=(first_rows.size, permutations)) + start
    taken = np.zeros(permutations * n, dtype=bool)
    for row, instead in zip(drawn, last + start, strict=True):
        np.copyto(row, instead, where=taken[row])
        taken[row] = True
    return np.concatenate([first_rows[None], (drawn - start).T])


def sum_samples(values: FloatArray, samples: IntArray) -> FloatArray:
    """Sum (P, d) of the rows of ``values`` (n, d) that are in each sample (P, a)."""
    from scipy.sparse import csr_array

    ends = np.arange(0, samples.size + 1, samples.shape[1])
    member = csr_array((np.ones(samples.size), samples.ravel(), ends), (len(samples), len(values)))
    return np.asarray(member @ values)


def compute_p_value(values: FloatArray) -> float:
    """Share of all values (P,) that are as large as the first one, which is that of the data."""
    return float((values >= values[0] - 1e-12).mean())


LEAST_PRINTED = 1e-12
"""Below this a probability is a sum of rounding errors, and is printed as less than it."""

FEW = 8
"""A sample this many times smaller than all rows is summed pair by pair, not by a product."""


def compute_right_answers_tail(
    right: int, chance: FloatArray, exact_rows: int = Limits.exact_rows
) -> float:
    """P(at most ``right`` right answers), answer i being right with probability ``chance`` (n,)."""
    n = chance.size
    if n > exact_rows:
        spread = float(np.sqrt((chance * (1.0 - chance)).sum()))
        if spread == 0.0:
            return float(right >= chance.sum())
        return float(ndtr((right + 0.5 - chance.sum()) / spread))
    law = np.zeros(n + 1)
    law[0] = 1.0
    for p in chance:
        law[1:] = law[1:] * (1.0 - p) + law[:-1] * p
        law[0] *= 1.0 - p
    return float(min(1.0, law[: right + 1].sum()))


def format_tail(p: float) -> str:
    """A small probability as text, as in ``p = 2e-10``; never as 0."""
    return f"p = {p:.1g}" if p >= LEAST_PRINTED else f"p < {LEAST_PRINTED:g}"


def run_energy_test(
    first: FloatArray,
    second: FloatArray,
    rng: np.random.Generator,
    permutations: int = Limits.permutations,
) -> tuple[float, float]:
    """Energy distance of ``first`` (a, d) and ``second`` (b, d), and its permutation p-value.

    2 E|X - Y| - E|X - X'| - E|Y - Y'| is a quadratic form in the sample membership: with m the
    indicator of the first sample, A the distances and s = 1/a + 1/b,

        -(1'A 1 / b^2 - 2 s m'A 1 / b + s^2 m'A m).
    """
    points = np.concatenate([first, second])
    squares = (points**2).sum(axis=1)
    distances: FloatArray = points @ (-2.0 * points.T)
    distances += squares[:, None]
    distances += squares
    np.sqrt(np.maximum(distances, 0.0, out=distances), out=distances)
    np.fill_diagonal(distances, 0.0)
    a, b = len(first), len(second)
    samples = draw_samples(np.arange(a + b) < a, rng, permutations)
    rows, scale = distances.sum(axis=1), 1.0 / a + 1.0 / b
    distance = (
        2.0 * scale / b * rows[samples].sum(axis=1)
        - rows.sum() / b**2
        - scale**2 * _sum_within(distances, samples)
    )
    return float(distance[0]), compute_p_value(distance)


def _sum_within(distances: FloatArray, samples: IntArray) -> FloatArray:
    """m'A m of every sample (P, a), given as numbers of rows."""
    a, n = samples.shape[1], len(distances)
    if FEW * a < n:
        flat, rows = distances.ravel(), np.ascontiguousarray(samples.T)
        pairs = np.zeros(len(samples))
        for i in range(1, a):
            pairs += flat.take(rows[:i] + n * rows[i]).sum(axis=0)
        return 2.0 * pairs
    member = np.zeros((len(samples), n))
    np.put_along_axis(member, samples, 1.0, axis=1)
    return np.einsum("pi,pi->p", member @ distances, member)


# -------------------------------------------------------------------------------------------------
# Do labeled and unlabeled rows come from one distribution? Two permutation tests on the scores.
#
# - `run_classifier_test`: a classifier two-sample test (Lopez-Paz and Oquab, ICLR 2017). A ridge
#   regression on functions of the scores says which rows are labeled, each row judged without
#   itself; its correlation with the truth is compared with that under shuffled membership.
# - `run_class_test`: prior shift. If the classes differ in frequency, so do the mean scores of the
#   pool; the largest difference of a class, in standard errors, is compared with that under
#   shuffling.
#
# Both are exact whatever the scores are: under one distribution every shuffle is as probable.


def make_score_features(pool: FloatArray, scores: FloatArray, clip: float = 1e-3) -> FloatArray:
    """Standardized functions (n, F) of pool (n, K) and scores (n, M, K), clipped for logarithms."""
    log_pool = np.log(np.clip(pool, clip, 1.0))
    centered = log_pool - log_pool.mean(axis=1, keepdims=True)
    level = centered[:, : max(1, pool.shape[1] - 1)][:, :10]
    each = np.log(np.clip(scores, clip, 1.0))
    each = each[:, :, -1] - each[:, :, :-1].mean(axis=2)
    spread = each.std(axis=1, keepdims=True)
    sure = scores.max(axis=2).mean(axis=1, keepdims=True)
    every = np.concatenate([level, level**2, sure, spread, each[:, :20]], axis=1)
    scale = every.std(axis=0)
    kept = scale > 1e-9
    return (every[:, kept] - every[:, kept].mean(axis=0)) / scale[kept]


def run_classifier_test(
    features: FloatArray,
    labeled: BoolArray,
    rng: np.random.Generator,
    permutations: int,
    ridge: float = 1.0,
) -> tuple[float, float]:
    """How well ``features`` (n, F) predict membership, as a correlation, and its p-value.

    ``ridge`` is the weight of the penalty, in units of a feature's variance times the number of
    rows / 10.
    """
    n, size = features.shape
    if size == 0:
        return 0.0, 1.0
    gram = features.T @ features / n + ridge * 0.1 * np.eye(size)
    # the hat matrix, features @ weights + 1 / n, is never made: there are few features
    weights = np.linalg.solve(gram, features.T) / n
    leverage = (features * weights.T).sum(axis=1) + 1.0 / n
    # The membership m of a row is left out of the fit and of the mean that predict it. With
    # z = weights @ m, the prediction for a row is scaled @ z + base + m * added, and all sums over
    # rows that its correlation with m needs are z, sums over the first sample, and constants.
    count = float(labeled.sum())
    inflation = 1.0 / (1.0 - leverage)
    scaled = features * inflation[:, None]
    base = inflation * count / n - count / (n - 1)
    added = 1.0 / (n - 1) - inflation * leverage
    squared = (2.0 * base + added) * added
    rows = np.column_stack(
        [weights.T, scaled, scaled * added[:, None], added, base + added, squared]
    )
    sums = sum_samples(rows, draw_samples(labeled, rng, permutations))
    z, of_first, crossed = sums[:, :size], sums[:, size : 2 * size], sums[:, 2 * size : 3 * size]
    sum_added, sum_predicted, sum_squares = sums[:, 3 * size :].T
    total = z @ scaled.sum(axis=0) + base.sum() + sum_added
    covariance = (of_first * z).sum(axis=1) + sum_predicted - total * count / n
    squares = (
        ((z @ (scaled.T @ scaled) + 2.0 * (crossed + base @ scaled)) * z).sum(axis=1)
        + base @ base
        + sum_squares
    )
    spread = np.sqrt(np.maximum(squares, 0.0) * count * (1.0 - count / n))
    value = covariance / np.maximum(spread, 1e-12)
    return float(value[0]), compute_p_value(value)


def run_class_test(
    pool: FloatArray,
    labeled: BoolArray,
    rng: np.random.Generator,
    permutations: int,
) -> tuple[float, float]:
    """Largest difference of mean ``pool`` (n, K) in standard errors, and its p-value."""
    spread = pool.std(axis=0)
    kept = spread > 1e-12
    if not kept.any():
        return 0.0, 1.0
    standard = (pool[:, kept] - pool[:, kept].mean(axis=0)) / spread[kept]
    among = sum_samples(standard, draw_samples(labeled, rng, permutations))
    count = float(labeled.sum())
    # the mean of the others is minus this sum over their number
    gap = among / count + among / (len(pool) - count)
    error = np.sqrt(1.0 / count + 1.0 / (len(pool) - count))
    value = np.abs(gap / error).max(axis=1)
    return float(value[0]), compute_p_value(value)


# -------------------------------------------------------------------------------------------------
# Do judges of two classes err independently, given the class?
#
# If so, votes for the positive class are sums of independent ones in each class, Poisson-binomial
# with rates that agreement alone tells (Dawid and Skene, JRSS C 28, 1979). Shared errors make
# unanimous votes more frequent than that. The test is Pearson's, of how many rows have how many
# votes, with as many degrees of freedom as there are numbers of votes, less one: the rates are
# fitted to all answers, not to these counts, so that it is slow to reject.


EM_STEPS = 100
LEAST_EXPECTED = 3.0
"""Expected rows below which numbers of votes are counted together."""


def compute_independence_tail(answers: BoolArray) -> float:
    """P-value of independence of the positive ``answers`` (n, M), each row with all of them."""
    x = answers.astype(np.float64)
    n, n_judges = x.shape
    positive = expit(4.0 * (2.0 * x.mean(axis=1) - 1.0))
    for _ in range(EM_STEPS):
        both = np.stack([1.0 - positive, positive])
        size = both.sum(axis=1) + 1.0
        rates, share = (both @ x + 0.5) / size[:, None], size / size.sum()
        log_p = np.log(share)[:, None] + np.log(rates) @ x.T + np.log1p(-rates) @ (1.0 - x).T
        positive = expit(log_p[1] - log_p[0])
    expected: FloatArray = np.zeros(n_judges + 1)
    for part, rate in zip(share, rates, strict=True):
        votes = np.ones(1)
        for each in rate:
            votes = np.convolve(votes, [1.0 - each, each])
        expected += n * part * votes
    seen = np.bincount(answers.sum(axis=1), minlength=n_judges + 1).astype(np.float64)
    many = expected >= LEAST_EXPECTED
    cells = [(seen[many], expected[many])]
    if not many.all():
        cells.append((seen[~many].sum(keepdims=True), expected[~many].sum(keepdims=True)))
    off = sum(float(((s - e) ** 2 / np.maximum(e, 1.0)).sum()) for s, e in cells)
    return float(chdtrc(max(1, sum(len(s) for s, _ in cells) - 1), off))
