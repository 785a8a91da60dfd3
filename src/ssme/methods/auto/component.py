"""One regime inside the belief: W of any rows, and draws of W.

`PooledRegime` has one W for all classifiers. `StatedRegime`, in which every classifier is right as
often as it says, has a W of its own for each, its scores at a temperature near one: labelings then
have one axis more, (..., n, M, K).
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
from ssme.methods.auto.pooling import PoolRule
from ssme.metrics.base import FloatArray

__all__ = ["Component", "PooledRegime", "StatedRegime", "apply_in_chunks"]

DrawPosterior = Callable[[slice], FloatArray]
"""W (d, n, K) or (d, n, M, K) of a slice of the draws."""


@dataclass(frozen=True, eq=False)
class PooledRegime:
    """W = softmax of the recalibrated pool, at the ``mode`` and at ``draws`` (D, 1 + P) of it.

    ``label_shift`` (K,) and ``label_shift_draws`` (D, K) are the label intercepts of the mode and
    of the draws; ``widening`` is a factor of the spread of what is drawn.
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
        """W (n, K) at the mode; two classes may be worked on in float32."""
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
        """W of the draws on ``scores`` (n, M, K)."""
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
    """Each classifier's own scores as W; ``log_temperatures`` (D, M) of the draws."""

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
        """W (n, M, K), each classifier's own."""
        return clip_scores(scores, self.clip)

    def prepare_draws(self, scores: FloatArray) -> DrawPosterior:
        """W of the draws on ``scores`` (n, M, K)."""
        log_q = np.log(clip_scores(scores, self.clip))

        def draw(part: slice) -> FloatArray:
            sharpness = np.exp(self.log_temperatures[part])[:, None, :, None]
            return np.exp(log_softmax(sharpness * log_q))

        return draw


Component = PooledRegime | StatedRegime
"""A regime that has a share in the belief."""


def apply_in_chunks(component: Component, scores: FloatArray, constants: Constants) -> FloatArray:
    """W of all rows, so many cells of the scores at a time."""
    n, n_models, n_classes = scores.shape
    step = max(1, constants.batch_cells // (n_models * n_classes))
    if n <= step:
        return component.compute_posterior(scores)
    parts = [
        component.compute_posterior(scores[start : start + step]) for start in range(0, n, step)
    ]
    return np.concatenate(parts)
