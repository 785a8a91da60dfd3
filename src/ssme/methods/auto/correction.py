"""Residual correction: the estimate becomes that of labels alone as labels grow.

On the n labeled rows let R_j be the metric of classifier j minus its mean over labels drawn from
the model W (with the label intercepts: labels may over-represent a class), and V_j the variance
over those labels: what R_j would be by chance. Then

    estimate = m(W, all rows) + w R,      w = r / (1 + r),      r = (n / n_0)^2 s,

is the best guess if the model's bias has the variance r V. Two things speak for bias:

- labels, (n / n_0)^2 with n_0 = 500 - 300/M: the noise that hides the bias falls with n; and few
  classifiers cannot correct each other;
- misfit, s = sum_j R_j^2 / sum_j V_j, about one where W is right: a model that the labels
  contradict more than chance allows is corrected sooner. a curve, with many values per classifier,
  takes s = 1, so that it is the same whichever classifiers are asked for.

For eight classifiers that the labels confirm w is 4 % at 100 labels, 30 % at 300, 82 % at 1,000.

Given R, the bias is still known only up to the variance w V. Draws of the world carry w^2 V of it
(the labeled rows are weighted anew in every world); `Correction.draw_leftover` is the rest,
w (1 - w) V, times 2.5, as noise that is joint over classifiers and metrics. All numbers:
`CorrectionConstants`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssme.methods.auto.constants import CorrectionConstants
from ssme.metrics.base import FloatArray

__all__ = ["Correction", "weigh_labels"]


def weigh_labels(n_labeled: int, n_effective: float, constants: CorrectionConstants) -> float:
    """The weight w where the misfit s is one: 0 without labels, and 1 in the limit of many."""
    ratio = _compute_ratio(n_labeled, n_effective, constants)
    return ratio / (1.0 + ratio)


def _compute_ratio(n_labeled: float, n_effective: float, constants: CorrectionConstants) -> float:
    """(n / n_0)^2, the ratio r where the misfit s is one; M is the effective number."""
    return (n_labeled / (constants.half + constants.half_few / n_effective)) ** 2


@dataclass(frozen=True, eq=False)
class Correction:
    """What the labels of a group say about one metric beyond the model.

    ``residual`` (M,) is R, and zero where it is undefined. ``noise`` (B, M) is the metric on B sets
    of labels drawn from W, minus its mean over them; V is its variance. ``weight`` is w, and
    ``leftover`` the factor of the variance that is left over.
    """

    residual: FloatArray
    noise: FloatArray
    weight: float
    leftover: float

    @classmethod
    def of(
        cls,
        observed: FloatArray,
        drawn: FloatArray,
        n_labeled: float,
        n_effective: float,
        n_models: int,
        constants: CorrectionConstants,
    ) -> Correction:
        """Compare the metric on the labels with the metric on labels of the same rows drawn from W.

        ``observed`` (M,) is the first, ``drawn`` (B, M) the second. ``n_labeled`` is the effective
        number of labels. Only where there is one value per classifier is the misfit measured.
        """
        defined = np.isfinite(drawn)
        mean = np.where(defined, drawn, 0.0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
        noise = np.where(defined, drawn - mean, 0.0)
        known = np.isfinite(observed) & defined.any(axis=0)
        residual = np.where(known, observed - mean, 0.0)
        chance = float((noise[:, known] ** 2).mean(axis=0).sum())
        one_each = len(observed) == n_models
        misfit = float((residual**2).sum()) / chance if one_each and chance > 0.0 else 1.0
        bounded = np.clip(misfit, constants.least_misfit, constants.most_misfit)
        ratio = _compute_ratio(n_labeled, n_effective, constants) * bounded
        return cls(residual, noise, float(ratio / (1.0 + ratio)), constants.leftover)

    @classmethod
    def none(cls, constants: CorrectionConstants) -> Correction:
        """The correction of a group without labels, which corrects nothing."""
        return cls(np.zeros(1), np.zeros((constants.label_draws, 1)), 0.0, constants.leftover)

    def draw_leftover(self, normal: FloatArray) -> FloatArray:
        """Noise (D, M) to add to the draws, with the variance w (1 - w) V times ``leftover``.

        ``normal`` (D, B) are standard normal numbers. All metrics get the same ones, so that the
        noise is joint over them.
        """
        left = self.leftover * self.weight * (1.0 - self.weight)
        out: FloatArray = np.sqrt(left / len(self.noise)) * (normal @ self.noise)
        return out
