"""The recalibration model: P(y | scores) as a penalized logistic model of the pool.

    z_ik = log p_k + b l_ik  +  a_k  +  sum_j t_j (q_ijk - pi_ik)                (mode)
         + sum_j c_j (log q_ijk - log pi_ik) + sum_j v_j [k predicted by j]      (draws)
         + d_k u_k                                                               (labeled rows)
    W_ik = softmax_k(z_i),     l_ik = log pi_ik - log p_k

b sharpens or flattens the pool about the class shares p that the scores state, a shifts classes,
and the tilts t correct single classifiers. The families c and v are the ways in which the mode may
be wrong: the mode leaves them at zero, the draws do not. Labels may over-represent a class, so
labeled rows have intercepts d, which W of rows at large does without.

Each family has a Student t prior (`ssme.methods.regression`), log b about its label-free center.
docs/auto-derivation.md derives all of this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from ssme.arrays import FloatArray, IntArray
from ssme.methods.auto import pool
from ssme.methods.auto.constants import ModelConstants
from ssme.methods.regression import Features, Regression
from ssme.metrics.confusion import predicted_classes

DrawPosterior = Callable[[slice], FloatArray]
"""W (d, n, K) of a slice of the draws."""


IN_MODE = ("b", "a", "t", "d")
"""Families that the mode fits; the others are zero in it."""


def find_blocks(n_models: int, n_classes: int) -> dict[str, slice]:
    """Places of log b and of each family among the coefficients, in their order."""
    sizes = {"b": 1, "a": n_classes, "t": n_models, "c": n_models, "v": n_models, "d": n_classes}
    ends = np.cumsum(list(sizes.values())).tolist()
    return {
        name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)
    }


def make_features(
    q: FloatArray, log_pi: FloatArray, log_share: FloatArray, spread: FloatArray | None = None
) -> Features:
    """What the coefficients multiply on rows with scores q (n, M, K) and pool log pi (n, K).

    ``spread`` (K,) is the scale u of the label intercepts, None for rows at large.
    """
    n, n_models, n_classes = q.shape
    blocks, ratio = find_blocks(n_models, n_classes), log_pi - log_share
    pi, by_class = np.exp(log_pi), q.transpose(0, 2, 1)
    dense: FloatArray = np.empty((n, n_classes, 3 * n_models))
    t, c, v = (dense[:, :, j * n_models : (j + 1) * n_models] for j in range(3))
    np.subtract(by_class, pi[:, :, None], out=t)
    np.subtract(np.log(by_class), log_pi[:, :, None], out=c)
    v[:] = predicted_classes(q)[:, None, :] == np.arange(n_classes)[None, :, None]
    shifts = [(blocks["a"], np.ones(n_classes))]
    if spread is not None:
        shifts.append((blocks["d"], spread))
    dense_at = slice(blocks["t"].start, blocks["v"].stop)
    return Features(log_share, dense, dense_at, tuple(shifts), ratio)


def make_regression(
    features: Features,
    labels: IntArray,
    weights: FloatArray | None,
    prior: pool.TemperaturePrior,
    n_effective: float,
    constants: ModelConstants,
) -> Regression:
    """The regression on the labeled rows; ``n_effective`` classifiers check each other."""
    _, n_classes, size = features.dense.shape
    blocks = find_blocks(size // 3, n_classes)
    sd = {
        "b": prior.scale,
        "a": constants.sd_a + constants.sd_a_few / n_effective**2,
        "t": constants.sd_t / np.sqrt(n_effective),
        "c": constants.sd_c,
        "v": constants.sd_v,
        "d": 1.0,
    }
    sizes = [block.stop - block.start for block in blocks.values()]
    mean = np.zeros(sum(sizes))
    mean[0] = prior.center
    return Regression(
        features=features,
        labels=labels,
        weights=np.ones(len(labels)) if weights is None else weights,
        blocks=tuple(blocks.values()),
        mean=mean,
        sd=np.repeat([sd[name] for name in blocks], sizes),
        in_mode=np.repeat([name in IN_MODE for name in blocks], sizes),
        nu=constants.nu,
    )


def compute_label_shift(regression: Regression, theta: FloatArray) -> FloatArray:
    """The label intercepts d u (..., K) of ``theta`` (..., 1 + P); zero without labels."""
    block, spread = regression.features.shifts[-1]
    if len(regression.labels) == 0:
        return np.zeros((*theta.shape[:-1], spread.size))
    return theta[..., block] * spread


def compute_label_spread(
    log_pi: FloatArray, labeled_log_pi: FloatArray, chance: float, least: float = 0.0
) -> FloatArray:
    """Scale u (K,) of the label intercepts, at least ``least``.

    One label more than expected, log(1 + 1/(n p_k)), and as far as the labeled rows' mean pool is
    more than ``chance`` standard errors from that of rows at large, that too.
    """
    pi, n = np.exp(log_pi), len(labeled_log_pi)
    share = pi.mean(axis=0)
    if n == 0:
        return np.ones_like(share)
    off = np.abs(np.log(np.exp(labeled_log_pi).mean(axis=0) / share))
    by_chance = chance * pi.std(axis=0) / share / np.sqrt(n) if np.isfinite(chance) else np.inf
    out: FloatArray = np.log1p(1.0 / (n * share)) + np.maximum(off - by_chance, 0.0)
    return np.maximum(out, least)


def compute_posterior(
    q: FloatArray, log_pi: FloatArray, log_share: FloatArray, mode: FloatArray
) -> FloatArray:
    """W (n, K) of rows at the coefficients ``mode``; label intercepts are not used."""
    blocks = find_blocks(*q.shape[1:])
    if not _has_only_shifts_and_tilts(mode, blocks):
        features = make_features(q, log_pi, log_share)
        return features.compute_posteriors(mode[None])[0]
    a, t = mode[blocks["a"]], mode[blocks["t"]]
    z = np.exp(mode[0]) * (log_pi - log_share) + a + log_share
    z += np.einsum("nmk,m->nk", q, t) - t.sum() * np.exp(log_pi)
    return np.asarray(softmax(z, axis=-1))


def add_label_shift(soft: FloatArray, shift: FloatArray) -> FloatArray:
    """W (..., n, K) of rows that were chosen for a label: ``soft`` with intercepts (..., K)."""
    out: FloatArray = soft * np.exp(shift - shift.max(axis=-1, keepdims=True))[..., None, :]
    out /= out.sum(axis=-1, keepdims=True)
    return out


def _has_only_shifts_and_tilts(mode: FloatArray, blocks: dict[str, slice]) -> bool:
    return not mode[blocks["c"].start : blocks["v"].stop].any()


@dataclass(frozen=True, eq=False)
class PooledRegime:
    """A regime with a pool: W of any rows at the ``mode`` (1 + P,), and in ``draws`` (D, 1 + P).

    ``at_large`` (n, K) is log pi of the rows it was fitted with, all of them where they are few.
    ``label_shift`` (K,) are the intercepts of labeled rows.
    ``widening`` multiplies the spread of whatever is computed from the draws.
    """

    name: str
    probability: float
    pooling: pool.PoolRule
    at_large: FloatArray
    mode: FloatArray
    draws: FloatArray
    label_shift: FloatArray
    clip: float
    widening: float

    @property
    def n_draws(self) -> int:
        return len(self.draws)

    def compute_posterior(
        self, scores: FloatArray, dtype: Any = np.float64, log_pi: FloatArray | None = None
    ) -> FloatArray:
        """W (n, K) of ``scores`` (n, M, K) at the mode; two classes are computed in ``dtype``.

        ``log_pi`` (n, K) is their pool, where it is known.
        """
        pooling = self.pooling
        fast = scores.shape[2] == 2
        fast = fast and _has_only_shifts_and_tilts(self.mode, find_blocks(*scores.shape[1:]))
        if fast and not np.isnan(scores[:, :, 1].T).any():
            lines: Any = (np.ascontiguousarray(scores[:, :, k].T, dtype=dtype) for k in range(2))
            zero, one = (np.maximum(line, dtype(self.clip), out=line) for line in lines)
            w = np.empty((2, len(scores)))
            w[1] = pool.compute_binary_posterior(one / (one + zero), pooling, self.mode)
            np.subtract(1.0, w[1], out=w[0])
            return w.T
        q, log_pi = self._pool(scores, log_pi)
        return compute_posterior(q, log_pi, pooling.log_share, self.mode)

    def prepare_draws(self, scores: FloatArray, rows: IntArray) -> DrawPosterior:
        """A function from a slice of the draws to their W (d, r, K) on ``rows`` of all scores."""
        log_pi = self.find_pool(len(scores), rows)
        features = make_features(*self._pool(scores[rows], log_pi), self.pooling.log_share)
        return lambda part: features.compute_posteriors(self.draws[part])

    def find_pool(self, n_rows: int, rows: IntArray | slice) -> FloatArray | None:
        """log pi (r, K) of ``rows`` of all data; None where these were too many to keep it."""
        return self.at_large[rows] if len(self.at_large) == n_rows else None

    def _pool(self, scores: FloatArray, log_pi: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Clipped scores q (n, M, K) and log pi (n, K), which is computed where it is None."""
        q = pool.clip_scores(scores, self.clip)
        if log_pi is None:
            log_pi = self.pooling(q, pool.find_present(scores))
        return q, log_pi


@dataclass(frozen=True, eq=False)
class AutoPredictor:
    """W as a function of scores: the mean of the regimes' W at their modes, by ``weights`` (R,)."""

    regimes: tuple[PooledRegime, ...]
    weights: FloatArray
    dtype: Any = np.float32

    def __call__(self, scores: FloatArray) -> FloatArray:
        """W (n, K) of ``scores`` (n, M, K)."""
        parts = zip(self.weights, self.regimes, strict=True)
        total = [weight * regime.compute_posterior(scores, self.dtype) for weight, regime in parts]
        return total[0] if len(total) == 1 else np.sum(total, axis=0)


def apply_in_chunks(regime: PooledRegime, scores: FloatArray, batch_cells: int) -> FloatArray:
    """W of all rows at the mode, computed for at most ``batch_cells`` scores at a time."""
    n, n_models, n_classes = scores.shape
    step = max(1, batch_cells // (n_models * n_classes))
    parts = [slice(start, start + step) for start in range(0, max(n, 1), step)]
    each = [
        regime.compute_posterior(scores[part], log_pi=regime.find_pool(n, part)) for part in parts
    ]
    return each[0] if len(each) == 1 else np.concatenate(each)
