"""Draws of the coefficients from their posterior, all chains at once.

Given the family scales rho the prior is Gaussian, so an elliptical slice step leaves the posterior
unchanged and needs no tuning: on the ellipse through the state and a draw of the prior, an angle is
drawn, and the bracket of angles shrinks towards the state until the likelihood exceeds a random
level. Between steps each family's scale is drawn given its coefficients,

    rho_F^2 | theta_F  ~  (4 + |theta_F - mean|^2 / sd_F^2) / chi2_(4 + size of F).

The model is not exact, and 100 labels would make it surer than it is: the likelihood enters raised
to the power 1/2, a generalized posterior (Bissiri, Holmes and Walker, JRSS B 78, 2016). That widens
draws where labels decide (100 labels) and hardly where the prior does (20).

Every chain is one draw. It starts at a draw from the normal distribution around the mode (Laplace's
approximation) and takes a few steps. With very many labels the posterior is normal for all purposes
and the first draw is kept; without labels the draws are those of the prior. All numbers are in
`SamplerConstants`, and `draw_coefficients` is what the method calls.

Murray, Adams and MacKay, "Elliptical slice sampling", AISTATS 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.methods.auto.constants import SamplerConstants
from ssme.methods.auto.mode import compute_curvature
from ssme.methods.auto.model import LabelEvidence
from ssme.methods.parts.slices import Angles
from ssme.metrics.base import FloatArray
from ssme.progress import track

__all__ = ["draw_coefficients"]

CACHED_CELLS = 1 << 17
"""Chains x labeled rows x classes whose proposals are computed at once: one megabyte."""

IntArray = NDArray[np.int64]


def draw_coefficients(
    evidence: LabelEvidence,
    mode: FloatArray,
    n_draws: int,
    rng: np.random.Generator,
    constants: SamplerConstants,
) -> FloatArray:
    """Draws (D, 1 + P) of the coefficients from their posterior about the ``mode`` (1 + P,)."""
    size = mode.size
    if len(evidence.labels) == 0:
        state = np.broadcast_to(evidence.mean, (n_draws, size))
        return evidence.mean + _draw_prior_sd(evidence, state, rng) * rng.standard_normal(
            state.shape
        )
    root = np.linalg.cholesky(compute_curvature(evidence, mode, constants.power))
    state = mode + np.linalg.solve(root.T, rng.standard_normal((size, n_draws))).T
    if len(evidence.labels) > constants.laplace_rows:
        return state
    batch = max(1, constants.chain_cells // max(1, evidence.features.ratio.size))
    starts = range(0, n_draws, batch)
    parts = [_run_chains(evidence, state[i : i + batch], rng, constants) for i in starts]
    return np.concatenate(parts)


def _run_chains(
    evidence: LabelEvidence,
    state: FloatArray,
    rng: np.random.Generator,
    constants: SamplerConstants,
) -> FloatArray:
    """The chains that start at ``state`` (D, 1 + P), after all their steps."""
    chains = _Chains.at(evidence, state, constants.power)
    for _ in track(range(constants.steps), "posterior draws"):
        sd = _draw_prior_sd(evidence, chains.state, rng)
        chains = _take_slice_step(evidence, chains, sd, rng, constants)
    return chains.state


@dataclass(frozen=True, eq=False)
class _Chains:
    """D chains: their states (D, 1 + P), and what is computed from these once.

    ``linear`` (D, n K) is the linear part of z, and ``level`` (D,) the log-likelihood times the
    power.
    """

    state: FloatArray
    linear: FloatArray
    level: FloatArray

    @classmethod
    def at(cls, evidence: LabelEvidence, state: FloatArray, power: float) -> _Chains:
        linear = evidence.compute_linear_part(state)
        return cls(state, linear, power * evidence.log_likelihood(state[:, 0], linear))


def _draw_prior_sd(
    evidence: LabelEvidence, state: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Prior scales rho sd (D, 1 + P), with each family's rho drawn given ``state`` (D, 1 + P)."""
    offset = (state - evidence.mean) / evidence.sd
    sd, nu = np.empty_like(offset), evidence.constants.nu
    known = len(evidence.labels) > 0
    for block in evidence.blocks:
        size = (block.stop - block.start) * known
        squares = (offset[:, block] ** 2).sum(axis=1) * known
        rho = np.sqrt((nu + squares) / rng.chisquare(nu + size, len(state)))
        sd[:, block] = rho[:, None] * evidence.sd[block]
    return sd


@dataclass(frozen=True, eq=False)
class _Ellipses:
    """The ellipse of every chain, through its ``offset`` from the center and an ``other`` draw.

    All coefficients but log b are centered at zero, so the linear part of z turns with the angle
    as the state does, and a proposal costs no product with the features.
    """

    evidence: LabelEvidence
    chains: _Chains
    offset: FloatArray
    other: FloatArray
    linear_other: FloatArray
    power: float

    @classmethod
    def through(
        cls, evidence: LabelEvidence, chains: _Chains, other: FloatArray, power: float
    ) -> _Ellipses:
        offset = chains.state - evidence.mean
        return cls(evidence, chains, offset, other, evidence.compute_linear_part(other), power)

    def move(
        self, moved: _Chains, chosen: IntArray, angle: FloatArray, bar: FloatArray
    ) -> NDArray[np.bool_]:
        """Write the ``chosen`` chains at their ``angle`` into ``moved``, where they exceed ``bar``.

        It returns which of the chosen chains did. A few chains are computed at a time, so that
        their numbers stay in the processor's cache.
        """
        size = max(1, CACHED_CELLS // max(1, self.chains.linear.shape[1]))
        accepted = np.zeros(chosen.size, dtype=bool)
        for start in range(0, chosen.size, size):
            part, own = chosen[start : start + size], slice(start, start + size)
            cos, sin = np.cos(angle[part])[:, None], np.sin(angle[part])[:, None]
            state = self.evidence.mean + cos * self.offset[part] + sin * self.other[part]
            linear = cos * self.chains.linear[part] + sin * self.linear_other[part]
            reached = self.power * self.evidence.log_likelihood(state[:, 0], linear)
            accepted[own] = reached > bar[part]
            done = part[accepted[own]]
            moved.state[done] = state[accepted[own]]
            moved.linear[done] = linear[accepted[own]]
            moved.level[done] = reached[accepted[own]]
        return accepted


def _take_slice_step(
    evidence: LabelEvidence,
    chains: _Chains,
    sd: FloatArray,
    rng: np.random.Generator,
    constants: SamplerConstants,
) -> _Chains:
    """One elliptical slice step of every chain, given the prior scales ``sd`` (D, 1 + P).

    Brackets of angles are shrunk at most ``shrinks`` times; a chain that has not moved by then
    stays where it is.
    """
    n_draws = len(chains.level)
    other = sd * rng.standard_normal(sd.shape)
    ellipses = _Ellipses.through(evidence, chains, other, constants.power)
    bar = chains.level - rng.standard_exponential(n_draws)
    angles = Angles.draw(n_draws, rng)
    moved = _Chains(chains.state.copy(), chains.linear.copy(), chains.level.copy())
    active = np.arange(n_draws)
    for _ in range(constants.shrinks):
        active = active[~ellipses.move(moved, active, angles.angle, bar)]
        if active.size == 0:
            break
        angles.shrink(active, rng)
    return moved
