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

from ssme.methods.parts.draws import log_odds
from ssme.metrics.base import FloatArray, Metric

# -------------------------------------------------------------------------------------------------
# Numbers that decide how far a group may differ from the whole, and how much it borrows.


@dataclass(frozen=True)
class GroupConstants:
    """Constants of the estimates of groups; chosen on adult (sex, race, decades of age).

    ``benchmarks/decide/groups.py`` measures them on sets that had no part in the choice.
    """

    scale: float = 0.15
    """Median, before the labels, of the standard deviation tau of a group's shift in log-odds."""

    scale_spread: float = 0.7
    """Standard deviation of log tau before the labels."""

    slope: float = 0.7
    """Standard deviation of a group's change of slope, as a multiple of tau."""

    scale_grid: tuple[float, float, int] = (0.02, 1.5, 15)
    """Least and largest tau that are weighed, and how many in between."""

    newton_steps: int = 5
    """Steps to the coefficients of the groups."""

    farthest: float = 5.0
    """Largest coefficient that a step may reach."""

    whole_rows: float = 1.0
    """Rows that the whole adds to a group: prior weight of the scores of all rows."""

    whole_sample: int = 20
    """Rows of the whole that stand for all of them in this."""

    whole_sets: int = 16
    """Sets of their weights; groups take one of them each."""

    half: float = 500.0
    """Labels of a group at which half of what they say beyond the posterior is believed."""

    least_labels: int = 20
    """Labels of a group from which this is computed."""

    leftover: float = 2.5
    """How often the variance that the correction leaves counts."""

    label_draws: int = 50
    """Label draws behind the correction of a group, and behind estimates for the rows at hand."""

    smooth_rows: int = 100
    """Rows of a group from which a metric of the rows at hand has no visible steps."""

    most_rows: int = 2000
    """Rows of a group on which draws are computed."""

    batch_cells: int = 1 << 22
    """Cells (draws x rows x classes) held at once."""

    joint_cells: int = 1 << 23
    """Draws x rows up to which a row has the same weight in every grouping."""

    worst: float = 0.5
    """Power to which shares of draws are taken for P(worst) among three groups or more, faded to
    one as the labels of groups take over; chosen on runs 5 to 7 of adult, diabetes_readmit and
    mmlupro_llm_logit with 50 labels, where 0.4 to 1 were tried."""


# -------------------------------------------------------------------------------------------------
# The scale on which what is known of all rows is carried to a group.
#
# A metric whose range is finite and of which more is better (accuracy, AUC, F1) moves on the
# logit of its range, so that a group that is right 99 times in 100 is moved less than one that is
# right 80 times; an error, of which zero must stay within reach, moves by adding. Values at the
# very ends of the range stay there.


EDGE = 1e-6
"""Share of the range at its ends that counts as the end itself."""


def measure_step(metric: Metric, start: FloatArray, end: FloatArray) -> FloatArray:
    """What leads from ``start`` to ``end`` on the scale of ``metric``; zero where undefined."""
    step = _to_scale(metric, end) - _to_scale(metric, start)
    return np.where(np.isfinite(step), step, 0.0)


def move_by(metric: Metric, values: FloatArray, step: FloatArray) -> FloatArray:
    """``values`` moved by ``step`` on the scale of ``metric``; by adding also out of its range.

    What is moved in several steps is cut to the range once, at the end: cut earlier, draws that met
    at zero would stay together.
    """
    if not _is_bounded(metric):
        return values + step
    span = metric.high - metric.low
    share = (values - metric.low) / span
    inside = metric.low + span / (1.0 + np.exp(-(_to_scale(metric, values) + step)))
    at_end = (share <= EDGE) | (share >= 1.0 - EDGE)
    out: FloatArray = np.where(at_end, values, inside)
    return out


def move_median(metric: Metric, draws: FloatArray, center: FloatArray) -> FloatArray:
    """``draws`` (D, M) moved to have ``center`` (M,) as their median.

    Undefined draws are replaced by the defined ones in turn.
    """
    known = np.isfinite(center) & np.isfinite(draws).any(axis=0)
    shown = draws[:, known]
    for m in np.flatnonzero(~np.isfinite(shown).all(axis=0)):
        defined = shown[np.isfinite(shown[:, m]), m]
        shown[:, m] = np.resize(defined, len(shown))
    target = center[known]
    moved = move_by(metric, shown, measure_step(metric, np.median(shown, axis=0), target))
    moved += target - np.median(moved, axis=0)
    out: FloatArray = np.full_like(draws, np.nan)
    out[:, known] = np.clip(moved, metric.low, metric.high)
    return out


def _is_bounded(metric: Metric) -> bool:
    return bool(metric.greater_is_better) and bool(np.isfinite(metric.high - metric.low))


def _to_scale(metric: Metric, values: FloatArray) -> FloatArray:
    if not _is_bounded(metric):
        return values
    return log_odds((values - metric.low) / (metric.high - metric.low), EDGE)


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
