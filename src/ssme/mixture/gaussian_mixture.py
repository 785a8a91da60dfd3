"""Normal distribution truncated to an interval, with the gradient of its log density.

    log f(x) = -z^2 / 2 - log sigma - log sqrt(2 pi) - log(Phi(b) - Phi(a)),   z = (x - mu) / sigma

with a, b the standardised ends of the interval. The normalizer is kept in logs (`log_ndtr`), on the
side of the normal where it does not cancel, so that intervals far in a tail stay exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import log_ndtr, logsumexp, softmax

from ssme.arrays import FloatArray, IntArray

LOG_SQRT_2PI = 0.5 * float(np.log(2.0 * np.pi))


def log_truncated_normal(
    x: FloatArray, mu: float, sigma: float, low: float = 0.0, high: float = 1.0
) -> FloatArray:
    """Log density at ``x``, -inf outside [low, high]."""
    z = (x - mu) / sigma
    inside = -0.5 * z**2 - LOG_SQRT_2PI - np.log(sigma) - _log_normalizer(mu, sigma, low, high)
    return np.where((x < low) | (x > high), -np.inf, inside)


def differentiate_truncated_normal(
    x: FloatArray, mu: float, sigma: float, low: float = 0.0, high: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Derivatives of the log density at ``x`` with respect to mu and to log sigma."""
    z, a, b = (x - mu) / sigma, (low - mu) / sigma, (high - mu) / sigma
    log_normalizer = _log_normalizer(mu, sigma, low, high)
    at_a = np.exp(-0.5 * a**2 - LOG_SQRT_2PI - log_normalizer)
    at_b = np.exp(-0.5 * b**2 - LOG_SQRT_2PI - log_normalizer)
    by_mu: FloatArray = (z + at_b - at_a) / sigma
    by_log_sigma: FloatArray = z**2 - 1.0 + b * at_b - a * at_a
    return by_mu, by_log_sigma


def _log_normalizer(mu: float, sigma: float, low: float, high: float) -> float:
    """log(Phi(b) - Phi(a)), mirrored so that the larger of the two terms is not close to one."""
    a, b = (low - mu) / sigma, (high - mu) / sigma
    if a > 0:
        a, b = -b, -a
    upper, lower = log_ndtr(b), log_ndtr(a)
    return float(upper + np.log1p(-np.exp(lower - upper)))


# -------------------------------------------------------------------------------------------------
# Gaussian mixture per class:  f_k(x) = sum_c pi_kc N(x | mu_kc, Sigma_kc).
#
# M-step, with weights v_i r_ikc (class weight times component responsibility) summing to n_kc:
#
#     mu_kc = weighted mean,     S_kc = weighted scatter / n_kc,     pi_kc = n_kc / n_k
#     full      Sigma_kc = (n_kc S_kc + nu0 T) / (n_kc + nu0)
#     tied      Sigma    = T for all components
#     diagonal  the diagonal of the full one
#     low_rank  probabilistic PCA of the full one: r leading axes, one noise variance for the rest
#               (Tipping and Bishop, JRSS B 61, 1999)
#
# T is the pooled within-component covariance, itself shrunk by nu0 pseudo-rows towards the diagonal
# of the total covariance. So ``shrinkage`` = nu0 is a number of pseudo-rows, d + 2 by default: an
# inverse-Wishart prior (Fraley and Raftery, J. Classification 24, 2007), which keeps every
# covariance invertible however few rows a class has, and shift- and scale-equivariant.
#
# Missing coordinates (NaN) are integrated out: a row's density is the marginal of what it observes,
# and its missing part enters the moments by its conditional mean and covariance.


COVARIANCES = ("full", "tied", "diagonal", "low_rank")
RANK = 10
"""Axes of a low-rank covariance by default."""
TINY_VARIANCE = 1e-10
"""Variance given to a coordinate that does not vary, as a share of the mean variance."""


@dataclass(frozen=True, eq=False)
class Normal:
    """N(mean, covariance), with marginals over any set of coordinates."""

    mean: FloatArray
    covariance: FloatArray

    def log_prob(self, points: FloatArray) -> FloatArray:
        """Log density (m,), of what a row observes; 0 for a row that observes nothing."""
        out = np.zeros(len(points))
        for rows, seen in _find_patterns(points):
            if seen.size == 0:
                continue
            mean, covariance = self.mean[seen], self.covariance[np.ix_(seen, seen)]
            lower = np.linalg.cholesky(covariance)
            standard = solve_triangular(lower, (points[np.ix_(rows, seen)] - mean).T, lower=True)
            log_det = 2.0 * np.log(np.diag(lower)).sum() + seen.size * np.log(2.0 * np.pi)
            out[rows] = -0.5 * (np.einsum("ji,ji->i", standard, standard) + log_det)
        return out

    def complete_rows(
        self, points: FloatArray, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Rows with missing parts at their conditional mean, and their conditional scatter."""
        filled = points.copy()
        scatter = np.zeros_like(self.covariance)
        for rows, seen in _find_patterns(points):
            hole = np.setdiff1d(np.arange(len(self.mean)), seen)
            if hole.size == 0:
                continue
            across = self.covariance[np.ix_(seen, hole)]
            slope = np.linalg.solve(self.covariance[np.ix_(seen, seen)], across)
            known = points[np.ix_(rows, seen)] - self.mean[seen]
            filled[np.ix_(rows, hole)] = self.mean[hole] + known @ slope
            rest = self.covariance[np.ix_(hole, hole)] - across.T @ slope
            scatter[np.ix_(hole, hole)] += weights[rows].sum() * rest
        return filled, scatter


class GaussianClasses:
    """A Gaussian mixture per class over the same rows; see `ssme.mixture.kde`.

    ``points`` (n, d) are NaN where missing. ``shrinkage`` is the number of pseudo-rows of the prior
    on covariances, d + 2 by default; ``rng`` draws the first component centers.
    """

    def __init__(
        self,
        points: FloatArray,
        covariance: str = "full",
        *,
        components: int = 1,
        shrinkage: float | None = None,
        rank: int = RANK,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.points = points
        self.covariance, self.components, self.rank = covariance, components, rank
        self.shrinkage = points.shape[1] + 2.0 if shrinkage is None else float(shrinkage)
        self._rng = np.random.default_rng(0) if rng is None else rng
        spread = np.nan_to_num(np.nanvar(points, axis=0)) if len(points) else np.zeros(0)
        self._spread = np.maximum(spread, TINY_VARIANCE * (spread.mean() or 1.0))
        self._parts: list[list[Normal | None]] = []
        self._log_shares = np.zeros((0, components))

    def update(self, weights: FloatArray) -> FloatArray:
        """Refit to ``weights`` (n, K): one M-step; log densities (n, K) at the rows."""
        split = self._split_component_weights(weights)
        self._fit(split)
        return self.at(self.points)

    def at(self, points: FloatArray) -> FloatArray:
        by_component = self._log_by_component(points)
        return logsumexp(by_component, axis=2)

    def list_normals(self) -> list[Normal]:
        """The Gaussian of each class, where a class has one; a class without weight has N(0, V)."""
        blank = Normal(np.zeros(self.points.shape[1]), np.diag(self._spread))
        return [parts[0] or blank for parts in self._parts]

    def move_to(self, points: FloatArray) -> GaussianClasses:
        """The same Gaussians over other rows (n, d)."""
        moved = GaussianClasses(
            points,
            self.covariance,
            components=self.components,
            shrinkage=self.shrinkage,
            rank=self.rank,
            rng=self._rng,
        )
        moved._parts, moved._log_shares = self._parts, self._log_shares
        return moved

    def describe(self) -> dict[str, Any]:
        return {
            "covariance": self.covariance,
            "components": self.components,
            "shrinkage": self.shrinkage,
            "engine": "numpy",
        }

    def _log_by_component(self, points: FloatArray) -> FloatArray:
        """log pi_kc N(x | kc), (m, K, C); -inf for a component without weight."""
        out = np.full((len(points), len(self._parts), self.components), -np.inf)
        for k, parts in enumerate(self._parts):
            for c, part in enumerate(parts):
                if part is not None:
                    out[:, k, c] = self._log_shares[k, c] + part.log_prob(points)
        return out

    def _split_component_weights(self, weights: FloatArray) -> FloatArray:
        """Class weights split over components, (n, K, C)."""
        if self.components == 1:
            return weights[:, :, None]
        if self._parts:
            by_component = self._log_by_component(self.points)
            lost = np.isneginf(by_component).all(axis=2)
            by_component[lost] = 0.0
            return weights[:, :, None] * softmax(by_component, axis=2)
        split = np.zeros((*weights.shape, self.components))
        filled = np.where(np.isnan(self.points), np.nanmean(self.points, axis=0), self.points)
        scaled = filled / np.sqrt(self._spread)
        for k in range(weights.shape[1]):
            nearest = self._find_near_drawn_centers(scaled, weights[:, k])
            split[np.arange(len(nearest)), k, nearest] = weights[:, k]
        return split

    def _find_near_drawn_centers(self, scaled: FloatArray, weight: FloatArray) -> IntArray:
        """Nearest of C centers drawn as in k-means++ from the rows of one class."""
        squared = np.full(len(scaled), np.inf)
        nearest = np.zeros(len(scaled), dtype=np.int64)
        for c in range(self.components):
            odds = weight * (1.0 if c == 0 else squared)
            if odds.sum() <= 0.0:
                break
            center = scaled[self._rng.choice(len(scaled), p=odds / odds.sum())]
            distance = ((scaled - center) ** 2).sum(axis=1)
            nearest[distance < squared] = c
            squared = np.minimum(squared, distance)
        return nearest

    def _fit(self, weights: FloatArray) -> None:
        n_classes = weights.shape[1]
        before = self._parts or [[None] * self.components for _ in range(n_classes)]
        totals = weights.sum(axis=0)
        moments = {
            (k, c): _compute_moments(self.points, weights[:, k, c], before[k][c])
            for k in range(n_classes)
            for c in range(self.components)
            if totals[k, c] > 0.0
        }
        pooled = self.shrinkage * np.diag(self._spread)
        for kc, (_, scatter) in moments.items():
            pooled = pooled + totals[kc] * scatter
        pooled /= self.shrinkage + sum(totals[kc] for kc in moments)
        self._parts = [[None] * self.components for _ in range(n_classes)]
        for (k, c), (mean, scatter) in moments.items():
            self._parts[k][c] = Normal(mean, self._constrain_shape(scatter, totals[k, c], pooled))
        with np.errstate(divide="ignore", invalid="ignore"):
            self._log_shares = np.log(totals) - np.log(totals.sum(axis=1, keepdims=True))

    def _constrain_shape(self, scatter: FloatArray, total: float, pooled: FloatArray) -> FloatArray:
        if self.covariance == "tied":
            return pooled
        full: FloatArray = (total * scatter + self.shrinkage * pooled) / (total + self.shrinkage)
        if self.covariance == "diagonal":
            return np.diag(np.diag(full))
        if self.covariance == "low_rank" and self.rank < len(full) - 1:
            values, axes = np.linalg.eigh(full)
            noise = float(values[: -self.rank].mean())
            leading = axes[:, -self.rank :]
            out: FloatArray = (leading * (values[-self.rank :] - noise)) @ leading.T
            return out + noise * np.eye(len(full))
        return full


def _compute_moments(
    points: FloatArray, weights: FloatArray, before: Normal | None
) -> tuple[FloatArray, FloatArray]:
    """Weighted mean and covariance; missing parts by their distribution under ``before``."""
    extra = np.zeros((points.shape[1], points.shape[1]))
    if np.isnan(points).any():
        if before is None:
            observed = ~np.isnan(points)
            mass = weights @ observed
            mean = (weights @ np.nan_to_num(points)) / np.where(mass > 0, mass, 1.0)
            before = Normal(mean, np.diag(np.nanvar(points, axis=0) + TINY_VARIANCE))
        points, extra = before.complete_rows(points, weights)
    share = weights / weights.sum()
    mean = share @ points
    centered = points - mean
    return mean, (centered.T * share) @ centered + extra / weights.sum()


def _find_patterns(points: FloatArray) -> Iterator[tuple[IntArray, IntArray]]:
    """(rows, observed coordinates) for each set of observed coordinates."""
    seen = ~np.isnan(points)
    if seen.all():
        yield np.arange(len(points)), np.arange(points.shape[1])
        return
    for pattern in np.unique(seen, axis=0):
        yield np.flatnonzero((seen == pattern).all(axis=1)), np.flatnonzero(pattern)
