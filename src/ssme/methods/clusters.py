"""Rows that belong together: patients, sessions, prompts that are answered several times.

Rows of one cluster are correlated, so that n of them say less than n rows drawn one by one. A mean
t = sum w_i z_i / sum w_i over n rows in G clusters has the variance (Liang and Zeger, Biometrika
73, 1986, with the usual factor for few clusters)

    V = G / (G - 1)  sum_c ( sum_(i in c) w_i (z_i - t) )^2 / (sum w)^2,

and its *design effect* is V over the same with each row its own cluster: the number by which n
has to be divided (Kish, Survey Sampling, 1965). Intervals use t quantiles with G - 1 degrees of
freedom, since V itself is estimated (Korn and Graubard, Survey Methodology 24, 1998; Franco et al.,
Journal of Survey Statistics and Methodology 7, 2019).

Draws of rows become draws of whole clusters: all rows of a cluster get the same weight.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, stdtrit

from ssme.arrays import FloatArray, IntArray


def take_one_of_each(
    clusters: IntArray | None, rows: np.typing.NDArray[np.intp], rng: np.random.Generator
) -> np.typing.NDArray[np.intp]:
    """``rows`` for tests, which take them to be independent: one of each of ``clusters`` (n,)."""
    if clusters is None:
        return rows
    order = rng.permutation(rows)
    return np.sort(order[np.unique(clusters[order], return_index=True)[1]])


def draw_row_exponentials(
    rng: np.random.Generator, n_draws: int, n_rows: int, clusters: IntArray | None
) -> FloatArray:
    """Weights (D, n) ~ Exp(1) of the Bayesian bootstrap, the same for all rows of a cluster."""
    if clusters is None:
        return rng.standard_exponential((n_draws, n_rows))
    drawn: FloatArray = rng.standard_exponential((n_draws, int(clusters.max(initial=-1)) + 1))
    return drawn[:, clusters]


def draw_row_counts(
    rng: np.random.Generator, n_draws: int, n_rows: int, clusters: IntArray | None
) -> FloatArray:
    """How often each row is drawn (D, n): n rows, or as many whole clusters as there are."""
    if clusters is None:
        counts = rng.multinomial(n_rows, np.full(n_rows, 1.0 / n_rows), size=n_draws)
        return counts.astype(np.float64)
    codes = number_clusters(clusters)
    size = int(codes.max(initial=-1)) + 1
    counts = rng.multinomial(size, np.full(size, 1.0 / size), size=n_draws)[:, codes]
    return counts.astype(np.float64)


def number_clusters(clusters: IntArray) -> IntArray:
    """The clusters (n,) of some rows as 0 .. G - 1."""
    codes: IntArray = np.unique(clusters, return_inverse=True)[1]
    return codes


def sum_by_cluster(values: FloatArray, clusters: IntArray) -> FloatArray:
    """Sums (G, ...) of ``values`` (n, ...) over the rows of each cluster."""
    codes = number_clusters(clusters)
    out: FloatArray = np.zeros((int(codes.max(initial=-1)) + 1, *values.shape[1:]))
    np.add.at(out, codes, values)
    return out


def correct_few(n_clusters: FloatArray | float) -> FloatArray:
    """The factor G / (G - 1) of a variance, infinite for one cluster."""
    number = np.asarray(n_clusters, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return number / np.maximum(number - 1.0, 0.0)


def find_mean_variance(
    values: FloatArray, weights: FloatArray, clusters: IntArray | None = None
) -> FloatArray:
    """V (M,) of the weighted means of ``values`` (n, M), rows of weight 0 left out."""
    total = weights.sum(axis=0)
    share = weights / np.where(total > 0.0, total, np.nan)
    mean = np.where(weights > 0.0, share * values, 0.0).sum(axis=0)
    off = np.where(weights > 0.0, share * (values - mean), 0.0)
    held = weights > 0.0
    if clusters is not None:
        off = sum_by_cluster(off, clusters)
        held = sum_by_cluster(held.astype(np.float64), clusters) > 0.0
    with np.errstate(invalid="ignore"):
        return correct_few(held.sum(axis=0)) * (off**2).sum(axis=0)


def find_design_effect(values: FloatArray, weights: FloatArray, clusters: IntArray) -> FloatArray:
    """The design effect (M,) of the means of ``values`` (n, M), at least one.

    Where all rows have the same value, nothing shows how correlated the rows of a cluster are:
    they count as one row.
    """
    clustered = find_mean_variance(values, weights, clusters)
    plain = find_mean_variance(values, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = clustered / plain
        rows = weights.sum(axis=0) ** 2 / (weights**2).sum(axis=0)
        most = rows / count_clusters(weights, clusters)
    known = np.isfinite(effect) & (plain > 1e-15)
    return np.maximum(np.where(known, effect, most), 1.0)


def count_clusters(weights: FloatArray, clusters: IntArray) -> FloatArray:
    """Kish's effective number (M,) of clusters of the rows with ``weights`` (n, M)."""
    total = sum_by_cluster(weights, clusters)
    squares = (total**2).sum(axis=0)
    return total.sum(axis=0) ** 2 / np.where(squares > 0.0, squares, 1.0)


def find_part_spread(part: IntArray, whole: IntArray, clusters: IntArray | None) -> float:
    """Factor of the spread of weights of rows ``part`` so that these represent ``whole``.

    A mean of n rows in clusters of n_c has a variance proportional to sum_c n_c^2 / n^2, which is
    1 / n where each row is drawn by itself.
    """
    if clusters is None or part.size == 0:
        return float(np.sqrt(part.size / max(1, whole.size)))
    shares = []
    for rows in (whole, part):
        sizes = np.unique(clusters[rows], return_counts=True)[1].astype(np.float64)
        shares.append(float((sizes**2).sum()) / rows.size**2)
    return float(np.sqrt(shares[0] / shares[1]))


def find_t_factor(level: float, n_clusters: FloatArray | float) -> FloatArray:
    """How much wider the quantiles of Student's t are than normal ones, (t / z); G - 1 degrees."""
    freedom = np.maximum(np.asarray(n_clusters, dtype=np.float64) - 1.0, 1.0)
    tail = 0.5 + level / 2.0
    return np.asarray(stdtrit(freedom, tail) / ndtri(tail))


def has_repeats(clusters: IntArray) -> bool:
    """Whether any cluster has more than one of these rows."""
    return np.unique(clusters).size < clusters.size


def find_correlation(
    residuals: FloatArray, clusters: IntArray, prior: tuple[float, float] = (0.3, 10.0)
) -> float:
    """How correlated ``residuals`` (n, K) of rows of one cluster are, from 0 to 1.

    The mean product over pairs of rows of a cluster, over the mean square; ``prior`` is a
    correlation and the number of pairs that it counts for.
    """
    n = len(residuals)
    square = float((residuals**2).sum()) / max(n, 1)
    if square <= 0.0:
        return prior[0]
    sums = sum_by_cluster(residuals, clusters)
    sizes = np.unique(clusters, return_counts=True)[1]
    # pairs of a large cluster are not independent: it counts as its rows, not as its pairs
    weight = 1.0 / np.maximum(sizes - 1.0, 1.0)
    within = float((weight[:, None] * sums**2).sum())
    own = sum_by_cluster((residuals**2).sum(axis=1), clusters)
    pairs = float((weight * sizes * (sizes - 1.0)).sum())
    products = within - float((weight * own).sum())
    share, worth = prior
    found = (products / square + share * worth) / (pairs + worth)
    return float(np.clip(found, 0.0, 1.0))


def weigh_rows(correlation: float, clusters: IntArray) -> FloatArray:
    """What each row (n,) is worth, 1 / (1 + (n_c - 1) rho), n_c the rows of its cluster."""
    codes = number_clusters(clusters)
    sizes = np.bincount(codes)[codes] if codes.size else codes
    return np.asarray(1.0 / (1.0 + (sizes - 1.0) * correlation), dtype=np.float64)
