"""One regime as the belief holds it: W of any rows, and draws of W.

    W_ik  = softmax_k z_ik(mode)                        a `PooledRegime`, one W for all classifiers
    W_ijk = q_ijk^g_j / sum_l q_ijl^g_j                 a `StatedRegime`, one W for each classifier

In the first, z is the recalibrated pool of `model`. In the second every classifier is right as
often as it says itself: its W are its own scores, with the exponent g_j = 1 in the estimate and
exponents near one in the draws. Labelings then have one axis more, (..., n, M, K), and ``own`` is
True.

Both have the same face: ``compute_posterior(scores)`` gives W of rows at the mode, and
``prepare_draws(scores)`` gives a function from a slice of the draws to W in these draws.
`apply_in_chunks` computes W of very many rows in parts that fit into memory, and `AutoPredictor`
is W averaged over several regimes, for rows that were not there when the method was fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssme.methods.auto.binary import compute_binary_posterior
from ssme.methods.auto.constants import ALL_POOLS, Constants
from ssme.methods.auto.model import CoefficientDesign, compute_posteriors
from ssme.methods.auto.pool import clip_scores, find_present, log_softmax
from ssme.methods.auto.pool_rule import PoolRule
from ssme.metrics.base import FloatArray

__all__ = ["AutoPredictor", "Component", "PooledRegime", "StatedRegime", "apply_in_chunks"]

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
