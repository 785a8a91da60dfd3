"""What the EM loop asks of a density: refit to class weights, give log densities.

    update(W)  ->  log P(s_i | y = k) at the fitted rows, with class k fitted to weights W[:, k]
    at(points) ->  the same at other rows

A density object keeps the rows it is fitted to; what does not depend on the weights (kernel
matrices, neighbors) is computed once, when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ssme.arrays import FloatArray
from ssme.mixture.kernels import KernelSums, choose_kernel_sums, log_kernel_volume


class ClassDensities(Protocol):
    """P(s | y = k) for every class k over the same rows."""

    def update(self, weights: FloatArray) -> FloatArray:
        """Refit to ``weights`` (n, K) and return the log densities (n, K) at the rows."""

    def at(self, points: FloatArray) -> FloatArray:
        """Log densities (m, K) at ``points`` (m, d), for the weights of the last update."""

    def describe(self) -> dict[str, Any]:
        """Facts for the result's notes: bandwidth, parameters, engine."""


# -------------------------------------------------------------------------------------------------
# Bandwidths: one-dimensional rules, weighted, and how they become one in d dimensions.
#
# With sigma the weighted standard deviation, A = min(sigma, IQR / 1.349) and n the effective size
# (sum w)^2 / sum w^2 (Kish 1965):
#
# - ``silverman``    0.9 A n^(-1/5)                         (Silverman 1986, eq. 3.31)
# - ``scott``        (4/3)^(1/5) sigma n^(-1/5)             (Scott 1992, normal reference)
# - ``isj``          improved Sheather-Jones: the root of t = xi gamma^[7](t) on the cosine
#                    transform of the binned data           (Botev, Grotowski, Kroese 2010, alg. 1)
# - ``public_code``  (4/3)^(1/5) A n^(-1/5) / 4, the rule in the SSME paper's public code
# - a number         that bandwidth
#
# Every rule is shift and scale equivariant, does not change when all weights are multiplied by a
# constant, and a row of weight zero counts as absent. (Weights are relative here, so doubling all
# of them is *not* repeating the data: it does not sharpen the bandwidth.)
#
# In d dimensions the paper does not say what is done. ``across="smallest"`` takes the smallest
# over dimensions, as its code does; ``across="each"`` keeps one bandwidth a dimension (a product
# kernel for the gaussian). A dimension in which all points coincide says nothing about scale: it
# is left out of the smallest and gets bandwidth 1 on its own.


ACROSS = ("smallest", "each")
NORMAL_REFERENCE = (4.0 / 3.0) ** 0.2
IQR_OF_NORMAL = 1.349
ISJ_GRID = 4096
ISJ_STAGES = 7
LEAST_BANDWIDTH = 1e-150
"""Points closer than this coincide: the squares of their distances are no longer numbers."""

UNDERFLOW = 745.0
"""exp(-745) is the last number float64 distinguishes from zero."""


@dataclass(frozen=True, eq=False)
class Bandwidth:
    """A bandwidth per dimension (d,), where it came from, and which dimensions fell back."""

    values: FloatArray
    rule: str
    across: str
    fallbacks: tuple[int, ...] = ()


def select_bandwidth(
    points: FloatArray,
    rule: str | float = "isj",
    *,
    across: str = "smallest",
    weights: FloatArray | None = None,
) -> Bandwidth:
    """Bandwidth for ``points`` (n, d), NaN where missing, by ``rule`` (a name or a number)."""
    n_dims = points.shape[1]
    if not isinstance(rule, str):
        return Bandwidth(np.full(n_dims, float(rule)), "fixed", across)
    values = np.full(n_dims, np.nan)
    fallbacks = []
    for j in range(n_dims):
        seen = np.isfinite(points[:, j])
        if weights is not None:
            seen &= weights > 0
        x = points[seen, j]
        if x.size == 0 or np.ptp(x) <= 1e-12 * np.abs(x).max():
            continue
        w = None if weights is None else _rescale(weights[seen])[0]
        x, exponent = _rescale(x)
        h = BANDWIDTH_RULES[rule](x, w)
        if np.isnan(h):
            h = silverman(x, w)
            fallbacks.append(j)
        values[j] = max(np.ldexp(h, exponent), LEAST_BANDWIDTH)
    if across == "smallest" and np.isfinite(values).any():
        values = np.full(n_dims, np.nanmin(values))
    return Bandwidth(np.where(np.isnan(values), 1.0, values), rule, across, tuple(fallbacks))


def _rescale(x: FloatArray) -> tuple[FloatArray, int]:
    """``x`` over a power of two, the largest entry between 1/2 and 1, and the exponent.

    A power of two changes no digit, and squares of what remains neither under- nor overflow.
    """
    exponent = int(np.frexp(np.abs(x).max())[1])
    return np.ldexp(x, -exponent), exponent


def silverman(x: FloatArray, weights: FloatArray | None = None) -> float:
    """0.9 min(sigma, IQR/1.349) n^(-1/5)."""
    sigma, spread, n = _measure_scale(x, weights)
    return float(0.9 * min(sigma, spread) * n**-0.2)


def scott(x: FloatArray, weights: FloatArray | None = None) -> float:
    """(4/3)^(1/5) sigma n^(-1/5), the AMISE optimum for normal data."""
    sigma, _, n = _measure_scale(x, weights)
    return float(NORMAL_REFERENCE * sigma * n**-0.2)


def public_code(x: FloatArray, weights: FloatArray | None = None) -> float:
    """A quarter of the normal-reference bandwidth with the robust spread."""
    sigma, spread, n = _measure_scale(x, weights)
    return float(NORMAL_REFERENCE * min(sigma, spread) * n**-0.2 / 4.0)


def isj(x: FloatArray, weights: FloatArray | None = None) -> float:
    """Improved Sheather-Jones; NaN where the fixed point is not found (few distinct values)."""
    from scipy.fft import dct
    from scipy.optimize import brentq

    weights = np.ones_like(x) if weights is None else weights
    x, weights = x[weights > 0], weights[weights > 0]
    n = weights.sum() ** 2 / (weights**2).sum()
    low, reach = x.min(), np.ptp(x)
    masses = _bin_linearly((x - low) / (2.0 * reach) + 0.25, weights, ISJ_GRID)
    squares = (dct(masses)[1:] / 2.0) ** 2
    frequencies = np.arange(1, ISJ_GRID, dtype=np.float64) ** 2

    def compute_excess(t: float) -> float:
        return t - _iterate_sheather_jones(t, n, frequencies, squares)

    start = silverman(x, weights) / (2.0 * reach)
    below = (start / 1024.0) ** 2
    if compute_excess(below) >= 0.0:
        return float("nan")
    while below < 0.1:
        above = 4.0 * below
        if compute_excess(above) > 0.0:
            root = brentq(compute_excess, below, above, xtol=1e-300, rtol=1e-14)
            h = float(np.sqrt(root) * 2.0 * reach)
            return h if h > 2.0 * reach / ISJ_GRID else float("nan")
        below = above
    return float("nan")


BANDWIDTH_RULES: dict[str, Callable[[FloatArray, FloatArray | None], float]] = {
    "isj": isj,
    "silverman": silverman,
    "scott": scott,
    "public_code": public_code,
}


def _iterate_sheather_jones(
    t: float, n: float, frequencies: FloatArray, squares: FloatArray
) -> float:
    """xi gamma^[l](t), the time after l = 7 stages; infinite where a derivative underflows."""

    def compute_derivative_norm(order: int, time: float) -> float:
        alive = frequencies.size
        if np.pi**2 * time * frequencies[-1] > UNDERFLOW:
            alive = 1 + int(np.sqrt(UNDERFLOW / (np.pi**2 * time)))
        f, a = frequencies[:alive], squares[:alive]
        return float(
            2.0 * np.pi ** (2 * order) * (f**order * a * np.exp(-f * np.pi**2 * time)).sum()
        )

    norm = compute_derivative_norm(ISJ_STAGES, t)
    if norm == 0.0:
        return float("inf")
    for order in range(ISJ_STAGES - 1, 1, -1):
        odd_product = np.prod(np.arange(1.0, 2 * order, 2.0))
        factor = (1.0 + 0.5 ** (order + 0.5)) / 3.0
        time = (2.0 * factor * odd_product / np.sqrt(2.0 * np.pi) / (n * norm)) ** (
            2.0 / (3.0 + 2.0 * order)
        )
        norm = compute_derivative_norm(order, time)
        if norm == 0.0:
            return float("inf")
    return float((2.0 * n * np.sqrt(np.pi) * norm) ** -0.4)


def _bin_linearly(u: FloatArray, weights: FloatArray, size: int) -> FloatArray:
    """Masses of ``size`` cells of [0, 1], each weight shared by the two nearest centers."""
    place = u * size - 0.5
    cell = np.floor(place).astype(np.int64)
    right = place - cell
    masses = np.bincount(cell, weights * (1.0 - right), size) + np.bincount(
        cell + 1, weights * right, size
    )
    return masses / weights.sum()


def _measure_scale(x: FloatArray, weights: FloatArray | None) -> tuple[float, float, float]:
    """Weighted standard deviation, IQR / 1.349 (the deviation where it is 0), effective size."""
    w = np.ones_like(x) if weights is None else weights
    x, w = x[w > 0], w[w > 0]
    total = w.sum()
    n = total**2 / (w**2).sum()
    mean = (w @ x) / total
    sigma = np.sqrt((w @ (x - mean) ** 2) / total * n / max(n - 1.0, 1.0))
    order = np.argsort(x)
    x, w = x[order], w[order]
    middle = np.cumsum(w) - 0.5 * w
    place = (middle - middle[0]) / (middle[-1] - middle[0])
    lower, upper = np.interp([0.25, 0.75], place, x)
    spread = (upper - lower) / IQR_OF_NORMAL
    return float(sigma), float(spread if spread > 0 else sigma), float(n)


# -------------------------------------------------------------------------------------------------
# Weighted kernel density estimate, for every class over the same points.
#
#     p(x) = sum_i w_i k(|(x - x_i) / h|) / (V_k prod_j h_j sum_i w_i)
#
# Kernels gaussian, epanechnikov and exponential are radial in the scaled distance, as in
# scikit-learn; ``h`` is one bandwidth or one a dimension. Log densities equal scikit-learn's
# `KernelDensity`.
#
# Missing coordinates (NaN): a row's density is that of its observed coordinates alone, estimated
# from the points that observe all of those (their marginal, with the kernel of that dimension). A
# row that observes nothing, or that no point can inform, has density 1 under every class.
#
# Source: Rosenblatt 1956, Parzen 1962; Silverman, "Density estimation", 1986.


Engine = Callable[[str, FloatArray, FloatArray | None], KernelSums]


class KdeClasses:
    """A KDE per class over the same points: only the weights differ, so kernels are shared."""

    def __init__(
        self,
        points: FloatArray,
        bandwidth: Bandwidth,
        kernel: str = "gaussian",
        engine: Engine = choose_kernel_sums,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self._engine = engine
        self._scaled = points / bandwidth.values
        self._weights = np.zeros((len(points), 0))
        self._at_rows: list[_ObservedRows] | None = None

    def update(self, weights: FloatArray) -> FloatArray:
        self._weights = weights
        if self._at_rows is None:
            self._at_rows = list(self._list_patterns(None))
        return self._log_density(len(self._scaled), self._at_rows, relative=True)

    def at(self, points: FloatArray) -> FloatArray:
        patterns = self._list_patterns(points / self.bandwidth.values)
        return self._log_density(len(points), patterns, relative=False)

    def describe(self) -> dict[str, Any]:
        engines = sorted({p.sums.name for p in self._at_rows or [] if p.sums is not None})
        return {
            "kernel": self.kernel,
            "bandwidth": self.bandwidth.values.tolist(),
            "bandwidth_rule": self.bandwidth.rule,
            "bandwidth_across": self.bandwidth.across,
            "bandwidth_fallbacks": list(self.bandwidth.fallbacks),
            "engine": ", ".join(engines),
        }

    def _list_patterns(self, queries: FloatArray | None) -> Iterator[_ObservedRows]:
        """One entry per set of observed coordinates among the queries (None: the points)."""
        points_seen = np.isfinite(self._scaled)
        rows_at = self._scaled if queries is None else queries
        rows_seen = points_seen if queries is None else np.isfinite(queries)
        if rows_seen.all() and points_seen.all():
            sums = self._engine(self.kernel, self._scaled, queries)
            yield self._make_pattern(slice(None), slice(None), slice(None), sums)
            return
        for seen in np.unique(rows_seen, axis=0):
            rows = np.flatnonzero((rows_seen == seen).all(axis=1))
            donors = np.flatnonzero(points_seen[:, seen].all(axis=1))
            if not seen.any() or donors.size == 0:
                yield _ObservedRows(rows, donors, None, 0.0)
                continue
            donor_points = self._scaled[np.ix_(donors, seen)]
            sums = self._engine(self.kernel, donor_points, rows_at[np.ix_(rows, seen)])
            yield self._make_pattern(rows, donors, np.flatnonzero(seen), sums)

    def _make_pattern(self, rows: Any, donors: Any, dims: Any, sums: KernelSums) -> _ObservedRows:
        widths = self.bandwidth.values[dims]
        log_volume = log_kernel_volume(self.kernel, widths.size) + float(np.log(widths).sum())
        return _ObservedRows(rows, donors, sums, log_volume)

    def _log_density(self, n_rows: int, patterns: Any, *, relative: bool) -> FloatArray:
        out = np.zeros((n_rows, self._weights.shape[1]))
        for pattern in patterns:
            if pattern.sums is None:
                continue
            weights = self._weights[pattern.donors]
            values: FloatArray = pattern.sums.log_sums(weights, relative=relative)
            with np.errstate(divide="ignore", invalid="ignore"):
                log_total = np.log(np.ones(len(weights)) @ weights)
                values -= log_total + pattern.log_volume
            values[:, np.isneginf(log_total)] = -np.inf
            if len(values) == n_rows:
                return values
            out[pattern.rows] = values
        return out


@dataclass(frozen=True, eq=False)
class _ObservedRows:
    """Rows that observe the same coordinates, the points that can inform them, their sums."""

    rows: Any
    donors: Any
    sums: KernelSums | None
    log_volume: float
