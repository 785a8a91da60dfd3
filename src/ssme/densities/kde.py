"""Weighted kernel density estimate, for every class over the same points.

    p(x) = sum_i w_i k(|(x - x_i) / h|) / (V_k prod_j h_j sum_i w_i)

Kernels gaussian, epanechnikov and exponential are radial in the scaled distance, as in
scikit-learn; ``h`` is one bandwidth or one a dimension. Log densities equal scikit-learn's
`KernelDensity`.

Missing coordinates (NaN): a row's density is that of its observed coordinates alone, estimated
from the points that observe all of those (their marginal, with the kernel of that dimension). A
row that observes nothing, or that no point can inform, has density 1 under every class.

Source: Rosenblatt 1956, Parzen 1962; Silverman, "Density estimation", 1986.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssme.densities.bandwidth import Bandwidth
from ssme.densities.base import FloatArray
from ssme.engines.kernels import KernelSums, choose_kernel_sums, log_kernel_volume

__all__ = ["KdeClasses", "log_kde_density"]

Engine = Callable[[str, FloatArray, FloatArray | None], KernelSums]


def log_kde_density(
    points: FloatArray,
    queries: FloatArray,
    *,
    bandwidth: float | FloatArray,
    kernel: str = "gaussian",
    weights: FloatArray | None = None,
) -> FloatArray:
    """Log density (m,) at ``queries`` (m, d) of the weighted KDE on ``points`` (n, d)."""
    values = np.broadcast_to(np.asarray(bandwidth, dtype=np.float64), (points.shape[1],))
    classes = KdeClasses(points, Bandwidth(values, "fixed", "each"), kernel)
    mass = np.ones(len(points)) if weights is None else weights
    return classes.with_weights(mass[:, None]).at(queries)[:, 0]


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

    def with_weights(self, weights: FloatArray) -> KdeClasses:
        """This density with class ``weights`` (n, K) set, nothing computed yet."""
        self._weights = weights
        return self

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
