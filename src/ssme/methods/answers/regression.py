"""What labels add: a Bayesian logistic regression about what agreement says.

    z_i = o_i + F_i theta (+ d on labeled rows),      theta_F ~ t_nu(0, sd_F),  a block at a time

with o_i the offset that needs no label. Everything is linear in theta: the mode is found by damped
Newton steps in which each Student t is a normal of equal slope, draws by elliptical slice steps
(Murray, Adams and MacKay, AISTATS 2010) with the scale of each block drawn between steps. The
likelihood enters the draws raised to a power below one: the model is not exact (Bissiri, Holmes
and Walker, JRSS B 78, 2016).

Labels may over-represent rare classes, so that labeled rows have intercepts d of their own, which
all other rows do without.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ssme.methods.answers.agreement import softmax
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.parts.slices import Angles
from ssme.metrics.base import FloatArray

__all__ = ["CoefficientBlock", "Regression"]


@dataclass(frozen=True)
class CoefficientBlock:
    """Columns that share one Student t."""

    columns: slice
    name: str


@dataclass(frozen=True, eq=False)
class Regression:
    """Labeled rows: offset (n, K), features (n, K, P), labels (n,), weights (n,) and the prior."""

    offset: FloatArray
    features: FloatArray
    labels: NDArray[np.int64]
    weights: FloatArray
    blocks: tuple[CoefficientBlock, ...]
    sd: FloatArray
    constants: AnswerConstants

    def find_mode(self) -> FloatArray:
        """theta (P,) at the mode of its posterior."""
        theta = np.zeros(self.sd.size)
        if len(self.labels) == 0:
            return theta
        value, tolerance = self._log_posterior(theta), self.constants.newton_tolerance
        for _ in range(self.constants.newton_steps):
            slope, root = self._compute_slope(theta)
            precision = self._compute_precision(theta)
            step = _solve(root, precision, slope - precision * theta)
            reached = self._log_posterior(theta + step)
            while reached < value and np.abs(step).max() > tolerance:
                step = step / 2.0
                reached = self._log_posterior(theta + step)
            if reached <= value + tolerance:
                break
            theta, value = theta + step, reached
        return theta

    def log_evidence(self, mode: FloatArray) -> float:
        """Log marginal likelihood of the labels, by Laplace about the ``mode``.

        log L + log prior + (P/2) log 2 pi - 1/2 log det H, each Student t with its constants.
        """
        if len(self.labels) == 0:
            return 0.0
        nu, value = self.constants.nu, self._log_posterior(mode)
        for block in self.blocks:
            size = block.columns.stop - block.columns.start
            value += float(gammaln((nu + size) / 2.0) - gammaln(nu / 2.0))
            value -= 0.5 * size * float(np.log(nu * np.pi))
            value -= float(np.log(self.sd[block.columns]).sum())
        root, precision = self._compute_slope(mode)[1], self._compute_precision(mode)
        if len(root) > len(precision):
            bend = float(np.linalg.slogdet(root.T @ root + np.diag(precision))[1])
        else:
            inner = np.eye(len(root)) + (root / precision) @ root.T
            bend = float(np.linalg.slogdet(inner)[1]) + float(np.log(precision).sum())
        return value + 0.5 * mode.size * float(np.log(2.0 * np.pi)) - 0.5 * bend

    def draw(
        self,
        mode: FloatArray,
        n_draws: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Draws (D, P) of theta; without labels those of the prior."""
        state = np.repeat(mode[None], n_draws, axis=0)
        if len(self.labels) == 0:
            return self._draw_scales(state, rng, known=False) * rng.standard_normal(state.shape)
        chains = replace(self, weights=self.weights * self.constants.power)
        linear, level = (
            chains._compute_linear_part(state),
            chains._log_likelihood(chains._compute_linear_part(state)),
        )
        for _ in range(self.constants.steps):
            other = chains._draw_scales(state, rng) * rng.standard_normal(state.shape)
            linear_other = chains._compute_linear_part(other)
            bar = level - rng.standard_exponential(n_draws)
            angles = Angles.draw(n_draws, rng)
            moved, moved_linear, moved_level = state.copy(), linear.copy(), level.copy()
            active = np.arange(n_draws)
            for _ in range(self.constants.shrinks):
                angle = angles.angle[active, None]
                cos, sin = np.cos(angle), np.sin(angle)
                tried = cos * linear[active] + sin * linear_other[active]
                reached = chains._log_likelihood(tried)
                accepted = reached > bar[active]
                done = active[accepted]
                moved[done] = (cos * state[active] + sin * other[active])[accepted]
                moved_linear[done], moved_level[done] = tried[accepted], reached[accepted]
                active = active[~accepted]
                if active.size == 0:
                    break
                angles.shrink(active, rng)
            state, linear, level = moved, moved_linear, moved_level
        return state

    def _compute_linear_part(self, theta: FloatArray) -> FloatArray:
        """F theta (D, n K) of theta (D, P)."""
        out: FloatArray = theta @ self.features.reshape(-1, self.sd.size).T
        return out

    def _log_likelihood(self, linear: FloatArray) -> FloatArray:
        n, n_classes = self.offset.shape
        z = linear.reshape(len(linear), n, n_classes) + self.offset
        top = z.max(axis=2)
        observed = z[:, np.arange(n), self.labels]
        total = np.log(np.exp(z - top[:, :, None]).sum(axis=2))
        out: FloatArray = (observed - top - total) @ self.weights
        return out

    def _log_posterior(self, theta: FloatArray) -> float:
        value = float(self._log_likelihood(self._compute_linear_part(theta[None]))[0])
        for block in self.blocks:
            size = block.columns.stop - block.columns.start
            squares = float(((theta / self.sd)[block.columns] ** 2).sum())
            value -= (self.constants.nu + size) / 2.0 * float(np.log1p(squares / self.constants.nu))
        return value

    def _compute_precision(self, theta: FloatArray) -> FloatArray:
        """Precisions (P,) of the normals whose slope at ``theta`` is that of the Student t."""
        out = np.empty_like(theta)
        for block in self.blocks:
            size = block.columns.stop - block.columns.start
            squares = float(((theta / self.sd)[block.columns] ** 2).sum())
            out[block.columns] = (self.constants.nu + size) / (self.constants.nu + squares)
        return out / self.sd**2

    def _compute_slope(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Slope (P,) of the log-likelihood and a root (n K, P) of its curvature."""
        n, n_classes = self.offset.shape
        w = softmax(self.offset + self._compute_linear_part(theta[None]).reshape(n, n_classes))
        centered = self.features - np.einsum("nk,nkp->np", w, self.features)[:, None]
        slope = self.weights @ centered[np.arange(n), self.labels]
        root = centered * np.sqrt(w * self.weights[:, None])[:, :, None]
        return slope, root.reshape(n * n_classes, -1)

    def _draw_scales(
        self, state: FloatArray, rng: np.random.Generator, *, known: bool = True
    ) -> FloatArray:
        """rho sd (D, P) with each block's rho drawn given ``state`` (D, P)."""
        out = np.empty_like(state)
        for block in self.blocks:
            size = (block.columns.stop - block.columns.start) * known
            squares = ((state / self.sd)[:, block.columns] ** 2).sum(axis=1) * known
            rho = np.sqrt(
                (self.constants.nu + squares) / rng.chisquare(self.constants.nu + size, len(state))
            )
            out[:, block.columns] = rho[:, None] * self.sd[block.columns]
        return out


def _solve(root: FloatArray, precision: FloatArray, slope: FloatArray) -> FloatArray:
    """(root^T root + diag(precision))^-1 slope, by whichever side is smaller."""
    n, size = root.shape
    if n >= size:
        out = np.linalg.solve(root.T @ root + np.diag(precision), slope)
        return np.asarray(out, dtype=np.float64)
    scaled = root / precision
    inner = np.linalg.solve(np.eye(n) + scaled @ root.T, scaled @ slope)
    return np.asarray(slope / precision - scaled.T @ inner, dtype=np.float64)
