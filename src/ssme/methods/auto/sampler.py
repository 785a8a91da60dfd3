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

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.methods.auto.constants import ALL_POOLS, Constants, SamplerConstants
from ssme.methods.auto.model import (
    CoefficientDesign,
    LabelEvidence,
    as_labeled,
    compute_curvature,
    compute_posteriors,
)
from ssme.methods.auto.pool import (
    PoolRule,
    clip_scores,
    compute_binary_posterior,
    find_present,
    log_softmax,
)
from ssme.methods.parts.draws import Angles, find_originals, make_child_seed
from ssme.metrics.base import FloatArray
from ssme.progress import track

# -------------------------------------------------------------------------------------------------
# One regime as the belief holds it: W of any rows, and draws of W.
#
#     W_ik  = softmax_k z_ik(mode)                        a `PooledRegime`, one W for all
#     classifiers W_ijk = q_ijk^g_j / sum_l q_ijl^g_j                 a `StatedRegime`, one W for
#     each classifier
#
# In the first, z is the recalibrated pool of `model`. In the second every classifier is right as
# often as it says itself: its W are its own scores, with the exponent g_j = 1 in the estimate and
# exponents near one in the draws. Labelings then have one axis more, (..., n, M, K), and ``own`` is
# True.
#
# Both have the same face: ``compute_posterior(scores)`` gives W of rows at the mode, and
# ``prepare_draws(scores)`` gives a function from a slice of the draws to W in these draws.
# `apply_in_chunks` computes W of very many rows in parts that fit into memory, and `AutoPredictor`
# is W averaged over several regimes, for rows that were not there when the method was fitted.


DrawPosterior = Callable[[slice], FloatArray]
"""W (d, n, K) or (d, n, M, K) of a slice of the draws."""


@dataclass(frozen=True, eq=False)
class PooledRegime:
    """A regime with a pool: its coefficients at the ``mode`` (1 + P,) and ``draws`` (D, 1 + P).

    ``probability`` is that of the regime, and ``pooling`` makes one score of many. The label
    intercepts, which only labeled rows have, are ``label_shift`` (K,) at the mode and
    ``label_shift_draws`` (D, K) in the draws. ``widening`` multiplies the spread of whatever is
    computed from the draws.
    """

    name: str
    probability: float
    pooling: PoolRule
    mode: FloatArray
    draws: FloatArray
    label_shift: FloatArray
    label_shift_draws: FloatArray
    n_effective: float
    constants: Constants
    widening: float = 1.0
    own: bool = False

    @property
    def n_draws(self) -> int:
        """How many of the belief's draws are of this regime."""
        return len(self.draws)

    def compute_posterior(self, scores: FloatArray, dtype: Any = np.float64) -> FloatArray:
        """W (n, K) of ``scores`` (n, M, K) at the mode; two classes are worked on in ``dtype``."""
        if self._is_plain and scores.shape[2] == 2 and not np.isnan(scores[:, :, 1].T).any():
            clip = dtype(self.constants.pool.clip)
            lines: Any = (np.ascontiguousarray(scores[:, :, k].T, dtype=dtype) for k in range(2))
            zero, one = (np.maximum(of, clip, out=of) for of in lines)
            w = np.empty((2, len(scores)))
            pooling = self.pooling
            weights = (pooling.standing, pooling.weights)
            w[1] = compute_binary_posterior(
                one / (one + zero), *weights, self.mode, pooling.log_share
            )
            np.subtract(1.0, w[1], out=w[0])
            return w.T
        return self._make_design(scores).compute_posterior(self.mode, slice(None))

    def prepare_draws(self, scores: FloatArray) -> DrawPosterior:
        """A function from a slice of the draws to their W (d, n, K) on ``scores`` (n, M, K)."""
        features, share = (
            self._make_design(scores).make_features(slice(None)),
            self.pooling.log_share,
        )
        return lambda part: compute_posteriors(features, share, self.draws[part])

    def _make_design(self, scores: FloatArray) -> CoefficientDesign:
        q = clip_scores(scores, self.constants.pool.clip)
        log_pi = self.pooling(q, find_present(scores))
        shape = (self.pooling.log_share, self.constants.model, self.n_effective)
        return CoefficientDesign(log_pi, q, *shape)

    @property
    def _is_plain(self) -> bool:
        """Whether the fast way for two classes computes this very model."""
        families = set(self.constants.model.mode_families)
        return self.pooling.members == ALL_POOLS and families <= {"a", "t"}


@dataclass(frozen=True, eq=False)
class StatedRegime:
    """The regime without a pool: each classifier's own scores are its W.

    ``log_temperatures`` (D, M) are the logarithms of the exponents g in the draws. All else is as
    in `PooledRegime`.
    """

    name: str
    probability: float
    log_temperatures: FloatArray
    label_shift: FloatArray
    label_shift_draws: FloatArray
    clip: float
    widening: float = 1.0
    own: bool = True

    @property
    def n_draws(self) -> int:
        """How many of the belief's draws are of this regime."""
        return len(self.log_temperatures)

    def compute_posterior(self, scores: FloatArray) -> FloatArray:
        """W (n, M, K): the clipped ``scores`` (n, M, K) of each classifier."""
        return clip_scores(scores, self.clip)

    def prepare_draws(self, scores: FloatArray) -> DrawPosterior:
        """A function from a slice of the draws to their W (d, n, M, K) on ``scores`` (n, M, K)."""
        log_q = np.log(clip_scores(scores, self.clip))

        def draw(part: slice) -> FloatArray:
            sharpness = np.exp(self.log_temperatures[part])[:, None, :, None]
            return np.exp(log_softmax(sharpness * log_q))

        return draw


@dataclass(frozen=True, eq=False)
class AutoPredictor:
    """W as a function of scores: the mean of the regimes' W at their modes.

    The ``weights`` (R,) of the ``regimes`` sum to one; two classes are worked on in ``dtype``.
    """

    regimes: tuple[PooledRegime, ...]
    weights: FloatArray
    dtype: Any = np.float32

    def __call__(self, scores: FloatArray) -> FloatArray:
        """W (n, K) of ``scores`` (n, M, K)."""
        parts = zip(self.weights, self.regimes, strict=True)
        total = [weight * regime.compute_posterior(scores, self.dtype) for weight, regime in parts]
        out: FloatArray = total[0] if len(total) == 1 else np.sum(total, axis=0)
        return out


Component = PooledRegime | StatedRegime
"""A regime that has a share in the belief."""


def apply_in_chunks(component: Component, scores: FloatArray, constants: Constants) -> FloatArray:
    """W of all rows at the mode, computed for at most ``batch_cells`` scores at a time."""
    n, n_models, n_classes = scores.shape
    step = max(1, constants.batch_cells // (n_models * n_classes))
    if n <= step:
        return component.compute_posterior(scores)
    parts = [
        component.compute_posterior(scores[start : start + step]) for start in range(0, n, step)
    ]
    return np.concatenate(parts)


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


# -------------------------------------------------------------------------------------------------
# States of the world: draws of P(class | scores) and of the sample, joint over everything.
#
#     world d  =  ( W_d,  e_1 .. e_n ),     e_i ~ Exp(1),     metric in world d  =  m(W_d, weights
#     e)
#
# World d is the posterior W_d of one draw of the coefficients, and weights of the rows as if they
# were sampled anew: e_i ~ Exp(1), the Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981).
# Metrics, classifiers and groups all see the same worlds.
#
# Worlds are computed on at most `Constants.world_rows` rows of a group. A part of m rows out of n
# stands for all when its rows weigh 1 + (e_i - 1) sqrt(m / n): a weighted mean then varies as
# that of n rows.
#
# A metric that needs hard labels (a callable) sees one labeling drawn from W_d and rows counted
# Poisson(1) times, an ordinary bootstrap; on a part of the rows its draws are those of the part.


@dataclass(frozen=True, eq=False)
class Worlds:
    """A batch of d worlds on r rows.

    ``soft`` is W (d, r, K), or (d, r, M, K) where classifiers have their own. ``exponential`` are
    the weights e (d, r), and ``shift`` are the label intercepts (d, K). ``rng`` draws hard labels.
    """

    soft: FloatArray
    exponential: FloatArray
    shift: FloatArray
    rng: np.random.Generator

    def see(self, hard: bool) -> tuple[FloatArray, FloatArray]:
        """Labelings shaped as ``soft``, and how far the count of each row is from one (d, r).

        They are W and e - 1, or with ``hard`` one labeling drawn from W and Poisson counts.
        """
        if not hard:
            return self.soft, self.exponential - 1.0
        below = np.cumsum(self.soft, axis=-1)[..., :-1]
        uniform = self.rng.random(self.soft.shape[:-1])
        if uniform.ndim == 3:
            uniform = uniform[..., find_originals(self.soft[0])]
        labels = (uniform[..., None] >= below).sum(axis=-1)
        counts = self.rng.poisson(1.0, self.exponential.shape).astype(np.float64)
        one_hot = labels[..., None] == np.arange(self.soft.shape[-1])
        return one_hot.astype(np.float64), counts - 1.0

    def take_labeled(self, rows: IntArray) -> Worlds:
        """The same worlds on some of the rows, with W of rows that were chosen for a label."""
        shift = self.shift if self.soft.ndim == 3 else self.shift[:, None, :]
        soft = as_labeled(self.soft[:, rows], shift)
        return replace(self, soft=soft, exponential=self.exponential[:, rows])


def draw_worlds(
    component: Component,
    scores: FloatArray,
    rows: IntArray,
    seed: np.random.SeedSequence,
    constants: Constants,
) -> Iterator[Worlds]:
    """Worlds of a regime's draws on the ``rows`` of ``scores``, in batches of bounded size.

    While all n rows are few enough for worlds, a row has the same weight e whichever other rows are
    asked for, so that groups are joint too.
    """
    rng, hard_rng = (np.random.default_rng(make_child_seed(seed, key)) for key in (0, 1))
    n, _, n_classes = scores.shape
    draw = component.prepare_draws(scores[rows])
    cells = rows.size * n_classes * (scores.shape[1] if component.own else 1)
    batch = max(1, constants.batch_cells // max(1, cells))
    for start in track(range(0, component.n_draws, batch), "worlds"):
        part = slice(start, start + batch)
        shift = component.label_shift_draws[part]
        if n <= constants.world_rows:
            exponential = rng.standard_exponential((len(shift), n))[:, rows]
        else:
            exponential = rng.standard_exponential((len(shift), rows.size))
        yield Worlds(draw(part), exponential, shift, hard_rng)
