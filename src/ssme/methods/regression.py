"""Bayesian logistic regression on labels: its mode, its evidence and draws of its coefficients.

    z_i = o_i + exp(theta_0) l_i + F_i theta,     P(y_i = k) = softmax_k(z_i)
    theta_B ~ t_nu(mean, sd), a multivariate Student t for each block B of coefficients

The term with l, the log-ratio that theta_0 sharpens, is optional; all else is linear in theta.

- Mode: Newton steps with the expected curvature, halved until the posterior grows. Each Student t
  is a normal distribution of equal slope at this point.
- Evidence: log L + log prior + (P/2) log 2 pi - 1/2 log det H, by Laplace about the mode.
- Draws: elliptical slice sampling (Murray, Adams and MacKay, AISTATS 2010), many chains at once.
  Given the scales rho of the blocks the prior is normal, and between steps they are drawn,
  rho_B^2 | theta_B ~ (nu + |theta_B - mean|^2 / sd^2) / chi2_(nu + size of B). The model is not
  exact, so the likelihood is raised to a power below one (Bissiri, Holmes and Walker, JRSS B 78,
  2016).

`auto` and `answers` both fit this model; they differ in the features and in the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.progress import track

NEWTON_STEPS = 50
CACHED_CELLS = 1 << 17
"""Chains x labeled rows x classes tried at once: one megabyte, so that it stays in the cache."""
FEW_CLASSES = 32
"""Up to as many, sums and maxima over classes are faster one class at a time."""


@dataclass(frozen=True)
class SamplerConstants:
    """How the coefficients are drawn."""

    steps: int = 12
    """Elliptical slice steps per chain."""

    power: float = 0.5
    """Weight of a label in the draws."""

    start_spread: bool = True
    """Whether chains start at draws of Laplace's approximation, or all at the mode."""

    laplace_rows: int = 2000
    """With more labels than this, draws are those of Laplace's approximation."""

    chain_cells: int = 1 << 24
    """Chains x labeled rows x classes worked on at once. The order in which chains take random
    numbers follows it where there are more."""

    shrinks: int = 60
    """Most shrinkages of a slice's bracket; a chain that has not moved by then stays."""


@dataclass(frozen=True, eq=False)
class Features:
    """What the coefficients theta (P,) multiply on n rows.

    ``dense`` (n, K, Q) are the columns of ``theta[dense_at]``. Blocks of one coefficient per class
    are zero for all other classes, so only what they multiply is stored: ``shifts`` are pairs of a
    block and its scale (K,), and the block ``slopes`` multiplies ``ratio`` (n, K), as exp(theta_0)
    does. ``offset`` is (n, K) or (K,).
    """

    offset: FloatArray
    dense: FloatArray
    dense_at: slice
    shifts: tuple[tuple[slice, FloatArray], ...]
    ratio: FloatArray | None = None
    slopes: slice | None = None

    def combine(self, theta: FloatArray, *, linear_only: bool = False) -> FloatArray:
        """z (D, n, K) of ``theta`` (D, P), or only its part that is linear in theta."""
        n, n_classes, size = self.dense.shape
        z: FloatArray = theta[:, self.dense_at] @ self.dense.reshape(n * n_classes, size).T
        z = z.reshape(len(theta), n, n_classes)
        if self.ratio is not None and not linear_only:
            z += np.exp(theta[:, :1])[:, None] * self.ratio
        if self.ratio is not None and self.slopes is not None:
            z += theta[:, None, self.slopes] * self.ratio
        shift = np.zeros((len(theta), 1, n_classes))
        for at, scale in self.shifts:
            shift[:, 0] += theta[:, at] * scale
        z += shift if linear_only else shift + self.offset
        return z

    def compute_posteriors(self, theta: FloatArray) -> FloatArray:
        """P(y | s) (D, n, K) for each of ``theta`` (D, P)."""
        z = self.combine(theta)
        z -= _find_top(z)[:, :, None]
        np.exp(z, out=z)
        z /= _add_classes(z)[:, :, None]
        return z


@dataclass(frozen=True, eq=False)
class Regression:
    """Labels (n,) of rows with ``features``, each counting ``weights`` (n,) times, and the prior.

    ``blocks`` partition the P coefficients in order; ``mean``, ``sd`` and ``in_mode`` are (P,).
    Coefficients that are not ``in_mode`` stay at their mean in the mode, but not in the draws.
    """

    features: Features
    labels: IntArray
    weights: FloatArray
    blocks: Sequence[slice]
    mean: FloatArray
    sd: FloatArray
    in_mode: BoolArray
    nu: float
    newton_tolerance: float = 1e-9

    @cached_property
    def _starts(self) -> IntArray:
        return np.array([block.start for block in self.blocks])

    @cached_property
    def _sizes(self) -> IntArray:
        return np.array([block.stop - block.start for block in self.blocks])

    def find_mode(self) -> FloatArray:
        """theta (P,) at the mode; the prior's mean without labels."""
        theta = self.mean
        if len(self.labels) == 0:
            return theta
        value, tolerance = self.log_posterior(theta), self.newton_tolerance
        for _ in range(NEWTON_STEPS):
            slope, curvature = self.compute_information(theta, self.in_mode)
            precision = self._compute_precision(theta)[self.in_mode]
            slope -= precision * (theta - self.mean)[self.in_mode]
            step = np.zeros_like(theta)
            step[self.in_mode] = np.linalg.solve(curvature + np.diag(precision), slope)
            reached = self.log_posterior(theta + step)
            while reached < value and np.abs(step).max() > tolerance:
                step /= 2.0
                reached = self.log_posterior(theta + step)
            if reached <= value + tolerance:
                break
            theta, value = theta + step, reached
        return theta

    def log_evidence(self, mode: FloatArray) -> float:
        """Log marginal likelihood of the labels, by Laplace about the ``mode`` (P,)."""
        if len(self.labels) == 0:
            return 0.0
        sizes, nu = self._sizes[self.in_mode[self._starts]], self.nu
        value = self.log_posterior(mode)
        value += float((gammaln((nu + sizes) / 2.0) - gammaln(nu / 2.0)).sum())
        value -= 0.5 * float(sizes.sum() * np.log(nu * np.pi))
        value -= float(np.log(self.sd[self.in_mode]).sum())
        curvature = self.compute_information(mode, self.in_mode)[1]
        curvature = curvature + np.diag(self._compute_precision(mode)[self.in_mode])
        log_det = float(np.linalg.slogdet(curvature)[1])
        return value + 0.5 * float(sizes.sum() * np.log(2.0 * np.pi)) - 0.5 * log_det

    def log_posterior(self, theta: FloatArray) -> float:
        """Log-likelihood plus log prior of ``theta`` (P,), up to a constant."""
        linear = self.features.combine(theta[None], linear_only=True)
        log_prior = (self.nu + self._sizes) / 2.0 * np.log1p(self._sum_squares(theta) / self.nu)
        return float(self.log_likelihood(theta[:1], linear)[0] - log_prior.sum())

    def log_likelihood(self, first: FloatArray, linear: FloatArray) -> FloatArray:
        """Log-likelihood (D,) of the labels, from theta_0 (D,) and the linear part (D, n, K)."""
        # classes first: one class of all chains and rows lies together, which is several times as
        # fast to add up
        by_class = linear.transpose(2, 0, 1)
        offset = np.broadcast_to(self.features.offset, linear.shape[1:]).T[:, None]
        if self.features.ratio is None:
            z = np.add(by_class, offset, order="C")
        else:
            z = np.multiply(np.exp(first)[:, None], self.features.ratio.T[:, None], order="C")
            z += by_class
            z += offset
        top = z.max(axis=0)
        observed = np.ascontiguousarray(z[self.labels, :, np.arange(len(self.labels))].T)
        z -= top
        np.exp(z, out=z)
        return (observed - top - np.log(z.sum(axis=0))) @ self.weights

    def compute_information(
        self, theta: FloatArray, kept: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Slope and expected curvature of the log-likelihood in the ``kept`` (P,) coefficients.

        With J the derivatives of z and J' = J - E_W J, these are the sum of J' at the labels and
        sum_ik W_ik J'_ik J'_ik^T. A block of one coefficient per class that multiplies m (n, K) has
        the slope sum_i m_ik ([y_i = k] - W_ik) and, with another block that multiplies m', the
        curvature diag(sum_i W m m') - (W m)^T (W m').
        """
        features, rows = self.features, np.arange(len(self.labels))
        w = features.compute_posteriors(theta[None])[0]
        places = np.arange(theta.size)
        dense_at = places[features.dense_at]
        jacobian = features.dense[:, :, kept[dense_at]]
        dense_at = dense_at[kept[dense_at]]
        by_class = [(at, np.broadcast_to(scale, w.shape)) for at, scale in features.shifts]
        if features.ratio is not None:
            first = np.exp(theta[0]) * features.ratio
            jacobian = np.concatenate([first[:, :, None], jacobian], axis=2)
            dense_at = np.concatenate([[0], dense_at])
        if features.ratio is not None and features.slopes is not None:
            by_class.append((features.slopes, features.ratio))
        jacobian -= np.einsum("nk,nkp->np", w, jacobian)[:, None, :]
        slope, curvature = np.zeros(theta.size), np.zeros((theta.size, theta.size))
        slope[dense_at] = self.weights @ jacobian[rows, self.labels]
        counted = w * self.weights[:, None]
        root = (jacobian * np.sqrt(counted)[:, :, None]).reshape(-1, dense_at.size)
        curvature[np.ix_(dense_at, dense_at)] = root.T @ root
        by_class = [(at, m) for at, m in by_class if kept[at.start]]
        for i, (at, m) in enumerate(by_class):
            expected = counted * m
            observed = np.bincount(
                self.labels, self.weights * m[rows, self.labels], at.stop - at.start
            )
            slope[at] = observed - expected.sum(axis=0)
            cross = np.einsum("nk,nkp->pk", expected, jacobian)
            curvature[dense_at, at], curvature[at, dense_at] = cross, cross.T
            for other, m_other in by_class[i:]:
                block = np.diag((expected * m_other).sum(axis=0)) - expected.T @ (w * m_other)
                curvature[at, other], curvature[other, at] = block, block.T
        return slope[kept], curvature[np.ix_(kept, kept)]

    def draw(
        self, mode: FloatArray, n_draws: int, rng: np.random.Generator, constants: SamplerConstants
    ) -> FloatArray:
        """Draws (D, P) of theta from its posterior; without labels from its prior."""
        n, state = len(self.labels), np.repeat(mode[None], n_draws, axis=0)
        if n == 0:
            return self.mean + self._draw_sd(state, rng) * rng.standard_normal(state.shape)
        if constants.start_spread:
            every = np.ones(mode.size, dtype=np.bool_)
            curvature = constants.power * self.compute_information(mode, every)[1]
            root = np.linalg.cholesky(curvature + np.diag(1.0 / self.sd**2))
            state = mode + np.linalg.solve(root.T, rng.standard_normal((mode.size, n_draws))).T
        if n > constants.laplace_rows:
            return state
        batch = max(1, constants.chain_cells // (n * self.features.dense.shape[1]))
        starts = range(0, n_draws, batch)
        return np.concatenate(
            [self._run_chains(state[start : start + batch], rng, constants) for start in starts]
        )

    def _run_chains(
        self, state: FloatArray, rng: np.random.Generator, constants: SamplerConstants
    ) -> FloatArray:
        """The chains that start at ``state`` (D, P), after all their slice steps.

        All coefficients but theta_0 have mean zero, so the linear part of z turns with the angle as
        theta does, and a proposal costs no product with the features.
        """
        linear = self.features.combine(state, linear_only=True)
        level = constants.power * self.log_likelihood(state[:, 0], linear)
        cached = max(1, CACHED_CELLS // linear[0].size)
        for own in track(rng.spawn(constants.steps), "posterior draws"):
            n_draws, start, start_linear = len(state), state - self.mean, linear.copy()
            state = state.copy()
            other = self._draw_sd(state, own) * own.standard_normal(state.shape)
            other_linear = self.features.combine(other, linear_only=True)
            bar = level - own.standard_exponential(n_draws)
            angle = own.uniform(0.0, 2.0 * np.pi, n_draws)
            low, high = angle - 2.0 * np.pi, angle.copy()
            active = np.arange(n_draws)
            for _ in range(constants.shrinks):
                refused = []
                for part in np.split(active, range(cached, active.size, cached)):
                    cos, sin = np.cos(angle[part])[:, None], np.sin(angle[part])[:, None]
                    tried = self.mean + cos * start[part] + sin * other[part]
                    tried_linear, turned = start_linear[part], other_linear[part]
                    tried_linear *= cos[:, :, None]
                    turned *= sin[:, :, None]
                    tried_linear += turned
                    reached = constants.power * self.log_likelihood(tried[:, 0], tried_linear)
                    accepted = reached > bar[part]
                    done = part[accepted]
                    state[done], linear[done] = tried[accepted], tried_linear[accepted]
                    level[done] = reached[accepted]
                    refused.append(part[~accepted])
                active = np.concatenate(refused)
                if active.size == 0:
                    break
                below = angle[active] < 0.0
                low[active] = np.where(below, angle[active], low[active])
                high[active] = np.where(below, high[active], angle[active])
                # all chains take numbers: a chain's depend on no other chain, nor on their count
                angle[active] = (low + (high - low) * own.random(n_draws))[active]
        return state

    def _draw_sd(self, state: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Prior scales rho sd (D, P), each block's rho drawn given ``state`` (D, P)."""
        known = len(self.labels) > 0
        squares = self._sum_squares(state).T * known
        chi2 = rng.chisquare(self.nu + self._sizes[:, None] * known, squares.shape)
        rho = np.sqrt((self.nu + squares) / chi2)
        return np.repeat(rho, self._sizes, axis=0).T * self.sd

    def _sum_squares(self, theta: FloatArray) -> FloatArray:
        """|theta_B - mean|^2 / sd^2 (..., B) of each block of ``theta`` (..., P)."""
        return np.add.reduceat(((theta - self.mean) / self.sd) ** 2, self._starts, axis=-1)

    def _compute_precision(self, theta: FloatArray) -> FloatArray:
        """Precisions (P,) of the normals whose slope at ``theta`` (P,) is that of the Student t."""
        pull = (self.nu + self._sizes) / (self.nu + self._sum_squares(theta))
        return np.repeat(pull, self._sizes) / self.sd**2


def log_softmax(logits: FloatArray) -> FloatArray:
    """``logits - log sum exp(logits)`` over the last axis; that of scipy takes twice as long."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _find_top(z: FloatArray) -> FloatArray:
    """``z.max(axis=2)``."""
    if z.shape[2] > FEW_CLASSES:
        return z.max(axis=2)
    out = z[:, :, 0].copy()
    for k in range(1, z.shape[2]):
        np.maximum(out, z[:, :, k], out=out)
    return out


def _add_classes(z: FloatArray) -> FloatArray:
    """``z.sum(axis=2)``."""
    if z.shape[2] > FEW_CLASSES:
        return np.einsum("dnk->dn", z)
    out = z[:, :, 0].copy()
    for k in range(1, z.shape[2]):
        out += z[:, :, k]
    return out
