"""How far the calibration of a group is off: a shift and a slope of its log-odds, shrunk to zero.

For a row of group g with the posterior W of the whole,

    log W_g(k) = log W(k) + delta_gk + kappa_g h(k) + constant,     h(k) = log W(k) - mean of it,
    delta_gk ~ N(0, tau^2),     kappa_g ~ N(0, (c tau)^2),     log tau ~ N(log tau_0, s^2).

With u the score and j the information of a coefficient on the labeled rows of the group, its
posterior is, at the variance t = tau^2 (or c^2 tau^2),

    N( t u / (1 + t j),  t / (1 + t j) ),      evidence for t:  u^2 t / (1 + t j) - log(1 + t j),

so that t j / (1 + t j) is the share that the group's own labels have in it and the rest is borrowed
from the whole: 1 without a label. tau is weighed on a grid by the evidence of all groups together
(empirical Bayes with a prior; Efron and Morris, JASA 70, 1975).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.groups.constants import GroupConstants
from ssme.metrics.base import FloatArray

__all__ = ["LEAST", "GroupShifts", "ShiftDirections", "fit_group_shifts"]

IntArray = NDArray[np.int64]
LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class ShiftDirections:
    """What the coefficients of a group multiply: classes ``shifted``, and h with means ``center``.

    With two classes one shift says all; with more each class has its own.
    """

    shifted: tuple[int, ...]
    center: FloatArray

    @classmethod
    def of(cls, soft: FloatArray) -> ShiftDirections:
        """For the posterior ``soft`` (n, K) of all rows."""
        n_classes = soft.shape[1]
        information = soft * (1.0 - soft) + LEAST
        logs = np.log(np.maximum(soft, LEAST))
        center = (information * logs).sum(axis=0) / information.sum(axis=0)
        return cls((1,) if n_classes == 2 else tuple(range(n_classes)), center)

    @property
    def size(self) -> int:
        """Number of coefficients: the shifts, then the slope."""
        return len(self.shifted) + 1

    def shift(self, soft: FloatArray, coefficients: FloatArray) -> FloatArray:
        """``soft`` (..., r, K) with ``coefficients`` (..., r, P) or (..., 1, P) added."""
        return self.shift_logs(np.log(np.maximum(soft, LEAST)), coefficients)

    def shift_logs(self, logs: FloatArray, coefficients: FloatArray) -> FloatArray:
        """The same from the logarithms of ``soft``."""
        if len(self.shifted) == 1:
            step = (logs[..., 1] - logs[..., 0]) * (1.0 + coefficients[..., -1])
            step -= coefficients[..., -1] * (self.center[1] - self.center[0])
            step += coefficients[..., 0]
            np.negative(step, out=step)
            with np.errstate(over="ignore"):
                np.exp(step, out=step)
            out = np.empty(np.broadcast_shapes(logs.shape, (*step.shape, 2)))
            np.divide(1.0, 1.0 + step, out=out[..., 1])
            np.subtract(1.0, out[..., 1], out=out[..., 0])
            return out
        z = logs + coefficients[..., -1:] * (logs - self.center)
        z[..., list(self.shifted)] += coefficients[..., :-1]
        z -= z.max(axis=-1, keepdims=True)
        np.exp(z, out=z)
        z /= z.sum(axis=-1, keepdims=True)
        return z

    def sum_evidence(
        self, soft: FloatArray, labels: IntArray, groups: IntArray, point: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Score and information (G, P) of labeled rows with posterior ``soft`` (l, K).

        Both are taken at the coefficients ``point`` (G, P) and the score is carried to zero with
        the information, as in iterated weighted least squares.
        """
        observed = (labels[:, None] == np.arange(soft.shape[1])).astype(np.float64)
        h = np.log(np.maximum(soft, LEAST)) - self.center
        there = self.shift(soft, point[groups])
        off = observed - there
        mean = (there * h).sum(axis=1)
        score = [off[:, k] for k in self.shifted] + [(off * h).sum(axis=1)]
        information = [there[:, k] * (1.0 - there[:, k]) for k in self.shifted]
        information.append((there * h**2).sum(axis=1) - mean**2)
        bend = _sum_by_group(information, groups, len(point))
        return _sum_by_group(score, groups, len(point)) + bend * point, bend


@dataclass(frozen=True, eq=False)
class GroupShifts:
    """Posterior of the coefficients of each group, a mixture over tau.

    ``weights`` (T,) are those of the grid; ``mean`` and ``variance`` (T, G, P) the normal
    posterior at each tau; ``own`` (G,) the share of the group's own labels.
    """

    weights: FloatArray
    mean: FloatArray
    variance: FloatArray
    own: FloatArray

    @property
    def point(self) -> FloatArray:
        """Mean (G, P) of the coefficients."""
        out: FloatArray = np.einsum("t,tgp->gp", self.weights, self.mean)
        return out

    def draw(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Draws (D, G, P); tau is the same for all groups of a draw."""
        at = rng.choice(self.weights.size, n_draws, p=self.weights)
        normal = rng.standard_normal((n_draws, *self.mean.shape[1:]))
        out: FloatArray = self.mean[at] + np.sqrt(self.variance[at]) * normal
        return out


def fit_group_shifts(
    score: FloatArray, information: FloatArray, constants: GroupConstants
) -> GroupShifts:
    """The posterior of the coefficients of all groups of a grouping.

    Parameters
    ----------
    score, information : arrays (G, P)
        As `ShiftDirections.evidence` gives them; zero for a group without labels.
    constants : GroupConstants
        Prior of tau.
    """
    least, most, count = constants.scale_grid
    tau = np.geomspace(least, most, count)
    factor = np.ones(score.shape[1])
    factor[-1] = constants.slope
    t = (tau[:, None] * factor) ** 2
    scaled = 1.0 + t[:, None, :] * information
    fit = t[:, None, :] * score**2 / scaled - np.log(scaled)
    prior = -0.5 * (np.log(tau / constants.scale) / constants.scale_spread) ** 2
    log_weight = prior + 0.5 * fit.sum(axis=(1, 2))
    weights = np.exp(log_weight - log_weight.max())
    weights /= weights.sum()
    share = (t[:, None, :] * information / scaled)[:, :, :-1].mean(axis=2)
    return GroupShifts(
        weights=weights,
        mean=t[:, None, :] * score / scaled,
        variance=t[:, None, :] / scaled,
        own=weights @ share,
    )


def _sum_by_group(values: Sequence[FloatArray], groups: IntArray, n_groups: int) -> FloatArray:
    out: FloatArray = np.stack([np.bincount(groups, v, n_groups) for v in values], axis=1)
    return out
