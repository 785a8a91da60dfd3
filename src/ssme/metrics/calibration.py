"""Calibration error: how far scores are from frequencies, bin by bin.

With rows put into bins b by their score s, event mass e (of the class the score speaks of) and row
weight w, the gap of a bin is ``|sum_b (e - w s)| / sum_b w`` = |mean event - mean score|, and the
error is a norm of the gaps over the bins that hold weight: the mean (l1), root mean square (l2) or
maximum; bins count equally, or by their weight.

`ece` is what the tables of the SSME paper use. Two classes: the score is P(1), 10 equal-mass bins,
equal count: the mean gap of scikit-learn's ``calibration_curve(strategy="quantile")``. More: the
top label's score, 15 equal-width bins, counted by weight: the confidence ECE (Guo et al., ICML
2017), which is also `ece_top_label`. Gupta and Ramdas (ICLR 2022) call another error top-label ECE:
its bins hold rows of one predicted class only. That one is `ece_top_label_by_class`: with the same
edges it is never below the confidence ECE, where gaps of two classes may cancel. Class-wise error
is the mean over classes of the error of P(k) (Kull et al., NeurIPS 2019).

Edges: quantile bins are right-closed with edges at the percentiles of the scored rows, each row
counting once, so that bootstrap or sample weights move mass between bins but never the bins;
equal-width bins are left-closed, and 1 belongs to the last.

Finite rows: a gap of a bin is a mean over its rows, so that chance alone makes it larger than zero.
A metric here is the plug-in, gaps as they are, which is what other libraries compute: a calibrated
classifier has about .024 on 1,000 labeled rows. The error of the population, to which the plug-in
converges, is estimated by `GapsPlan.remove_chance`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.metrics import confusion, kinds
from ssme.metrics.base import Metric, MetricPlan
from ssme.options import accept_all, takes

# -------------------------------------------------------------------------------------------------
# Proper scoring rules of the scores: means over rows, hence linear in the mass.
#
# Log loss clips scores to [eps, 1 - eps], eps of float64, as scikit-learn does for float64 scores.
# The Brier score follows scikit-learn's ``brier_score_loss`` (``scale_by_half="auto"``): two
# classes, ``(P(1) - y)^2`` in [0, 1]; more, ``sum_k (P(k) - [y = k])^2`` in [0, 2]
# (Brier, Monthly Weather Review 78, 1950).


_EPS = float(np.finfo(np.float64).eps)


def _plan_log_loss(scores: FloatArray) -> MetricPlan:
    loss: FloatArray = -np.log(np.clip(scores, _EPS, 1.0 - _EPS))
    return confusion.linear_plan(loss)


def _plan_brier(scores: FloatArray) -> MetricPlan:
    if scores.shape[2] == 2:
        return confusion.linear_plan((1.0 - scores) ** 2)
    # sum_k (p_k - [y = k])^2 = sum_k p_k^2 - 2 p_y + 1
    return confusion.linear_plan((scores**2).sum(axis=2, keepdims=True) - 2.0 * scores + 1.0)


PROBABILITY_METRICS: tuple[Metric, ...] = (
    Metric(
        name="log_loss",
        title="Log loss",
        plan=_plan_log_loss,
        kind=kinds.Loss(),
        high=float("inf"),
        greater_is_better=False,
        definition="mean of -log of the score given to the true class, scores clipped by 2.2e-16",
        of_probabilities=True,
        highest=(float(-np.log(_EPS)),) * 2,
    ),
    Metric(
        name="brier_score",
        title="Brier score",
        plan=_plan_brier,
        kind=kinds.Loss(),
        high=2.0,
        greater_is_better=False,
        definition="mean squared error: of P(1) for two classes, summed over classes for more",
        of_probabilities=True,
        highest=(1.0, 2.0),
    ),
)


@takes(kinds.Calibration)
def ece(*, name: str | None = None, title: str = "Calibration error", **options: Any) -> Metric:
    """Make a calibration error; what is left None is as in the SSME paper, by number of classes.

    Parameters
    ----------
    name, title : str, optional
        By default spelled from the options.
    **options

    Returns
    -------
    Metric
        Smaller values are better. With the mean of the gaps (``norm="l1"``) of P(1) or of the
        largest score it has an interval from labels alone; the other forms have none.

    Examples
    --------
    >>> import numpy as np
    >>> from ssme.metrics import ece, one_hot_mass
    >>> metric = ece(n_bins=2, binning="uniform")
    >>> metric.name
    'ece(n_bins=2, binning=uniform)'
    >>> scores = np.array([[[0.75, 0.25]], [[0.75, 0.25]], [[0.25, 0.75]], [[0.25, 0.75]]])
    >>> metric(scores, one_hot_mass(np.array([0, 0, 1, 1]), 2))
    array([[0.25]])
    """
    given = accept_all(kinds.Calibration, options, "metric 'ece'")
    kind, plain = kinds.Calibration(**given), vars(kinds.Calibration())
    chosen = {option: value for option, value in vars(kind).items() if value != plain[option]}
    spelled = ", ".join(f"{option}={value}" for option, value in chosen.items())
    return Metric(
        name=name or (f"ece({spelled})" if chosen else "ece"),
        title=title,
        plan=partial(_plan, kind=kind),
        kind=kind,
        greater_is_better=False,
        multiclass=kind.target != "positive",
        definition=_write_definition(kind),
        of_probabilities=True,
        of_positive=kind.settle(2).target == "positive",
        data={"name": "ece", **chosen},
    )


def _write_definition(kind: kinds.Calibration) -> str:
    two, more = _write_settled_definition(kind.settle(2)), _write_settled_definition(kind.settle(3))
    if kind.target == "positive" or two == more:
        return two
    return f"two classes: {two}; more: {more}"


def _write_settled_definition(settled: kinds.SettledCalibration) -> str:
    norm = {"l1": "mean", "l2": "root mean square", "max": "largest"}[settled.norm]
    count = "" if settled.norm == "max" else (" weighted" if settled.weighted else " unweighted")
    score = {
        "positive": "P(1)",
        "top_label": "the largest score",
        "top_label_by_class": "the largest score within each predicted class",
        "classwise": "each P(k), mean over classes",
    }[settled.target]
    width = {"quantile": "equal-mass", "uniform": "equal-width"}[settled.binning]
    return f"{norm}{count} gap |frequency - score| of {settled.n_bins} {width} bins of {score}"


def _plan(scores: FloatArray, *, kind: kinds.Calibration) -> MetricPlan:
    n_models, n_classes = scores.shape[1:]
    settled = kind.settle(n_classes)
    if settled.target == "positive":
        confusion.require_binary(scores)

    score, event = take_scores_and_events(scores, settled.target)
    columns, n_bins = score.shape[1], settled.count_bins(n_classes)
    bins = _find_bins(score, settled.n_bins, settled.binning)
    if settled.target == "top_label_by_class":
        bins = _find_bins_by_class(score, event, settled, n_classes)
    sets = confusion.RowSets.of(bins, n_bins)
    events = None if settled.target == "positive" else sets.sum_classes(event, n_classes)
    matrices = sets.sum_rows(), sets.sum_rows(score), events
    bins = bins.astype(np.min_scalar_type(-n_bins))  # kept as long as the plan
    return GapsPlan(score, event, bins, settled, *matrices, (n_models, columns, n_bins))


_SAME_WEIGHT = 1e-12
"""Relative difference up to which rows have one weight."""
_ONE_ROW = 1e-9
"""Share of the squared weight of a bin that is left of one row by the rounding of its weight."""


@dataclass(frozen=True, eq=False)
class GapsPlan:
    """A calibration error on rows with the scores ``score`` and classes ``event`` (n, columns).

    ``shape`` is that of the gaps: classifiers, columns, bins; the matrices sum lines of mass.
    """

    score: FloatArray
    event: IntArray
    bins: IntArray
    settled: kinds.SettledCalibration
    weights_of: Any
    scores_of: Any
    events: Any
    shape: tuple[int, int, int]

    def __call__(self, mass: FloatArray) -> FloatArray:
        return self._average(self._measure(mass))

    def _measure(self, mass: FloatArray) -> FloatArray:
        """The error of each column of scores (columns, D)."""
        weights = confusion.sum_row_weights(mass).T
        bin_weight = confusion.sum_lines(self.weights_of, weights)
        if self.events is None:
            happened = confusion.sum_held_lines(self.weights_of, mass[:, :, 1])
        else:
            happened = confusion.sum_lines(self.events, confusion.transpose(mass))
        expected = confusion.sum_lines(self.scores_of, weights)
        gap = np.abs(confusion.compute_ratio(happened - expected, bin_weight)).clip(max=1.0)
        by_bin = (*self.shape[1:], -1)
        return compute_gaps_norm(gap.reshape(by_bin), bin_weight.reshape(by_bin), self.settled)

    def _average(self, error: FloatArray) -> FloatArray:
        """The error (D, M) of each classifier, from those of its columns."""
        return error.reshape(self.shape[0], -1, error.shape[1]).mean(axis=1).T

    def remove_chance(self, mass: FloatArray) -> FloatArray:
        """The error of the population (1, M) that rows with the mass (1, n, K) are a sample of.

            error * sqrt( max(0, 1 - sum_b u_b v_b / sum_b u_b g_b^2) )

        g_b is the gap of bin b, v_b the variance of this mean over its rows and u_b the weight of
        the bin. The mean square of the gaps less that of their chance is unbiased (Kumar, Liang and
        Ma, NeurIPS 2019), hence exactly what ``norm="l2"`` should be; a mean of absolute gaps is
        right where true gaps are normal over bins. The largest gap is left as it is.
        """
        if self.settled.norm == "max":
            return self(mass)
        n_bins, left = self.shape[2], np.zeros((self.score.shape[1], 1))
        weights: FloatArray = confusion.sum_row_weights(mass)[0]
        for j, bins in enumerate(self.bins.T):
            held = (bins >= 0) & (weights > 0.0)
            rows = slice(None) if held.all() else np.flatnonzero(held)
            w, place = weights[rows], bins[rows]
            if self.events is None:
                off: FloatArray = mass[0, rows, 1] - w * self.score[rows, j]
            else:
                event = self.event[rows, j, None]
                off = np.take_along_axis(mass[0, rows], event, axis=1)[:, 0]
                off -= w * self.score[rows, j]
            lines: list[FloatArray] = [w, off, off**2]
            if w.size == 0 or np.ptp(w) > _SAME_WEIGHT * w[0]:
                lines += [off * w, w**2]
            total, residual, square, *rest = (
                np.bincount(place, weights=line, minlength=n_bins) for line in lines
            )
            both, own = rest or (residual * w[:1], total * w[:1])
            share = total if self.settled.weighted else (total > 0.0).astype(np.float64)
            gap = residual / np.where(total > 0.0, total, 1.0)
            free = total**2 - own  # zero in a bin of one row, whose gap is all chance
            many = free > _ONE_ROW * total**2
            variance = (square - 2.0 * gap * both + gap**2 * own) / np.where(many, free, 1.0)
            chance = float(share @ np.where(many, variance, gap**2))
            squared = float(share @ gap**2)
            left[j] = np.sqrt(max(0.0, 1.0 - chance / squared)) if squared > 0.0 else 0.0
        return self._average(self._measure(mass) * left)


def remove_chance(plan: MetricPlan, mass: FloatArray) -> FloatArray:
    """The value (1, M) of one labeling, without what chance adds to a calibration error."""
    return plan.remove_chance(mass) if isinstance(plan, GapsPlan) else plan(mass)


def take_scores_and_events(scores: FloatArray, target: kinds.Target) -> tuple[FloatArray, IntArray]:
    """Scores (n, columns) and the classes they speak of; one column per classifier (and class)."""
    n, n_models, n_classes = scores.shape
    if target == "positive":
        return scores[:, :, 1], np.broadcast_to(np.ones(1, dtype=np.int64), (n, n_models))
    if target in ("top_label", "top_label_by_class"):
        return scores.max(axis=2), confusion.predicted_classes(scores)
    every = np.broadcast_to(np.arange(n_classes), scores.shape)
    flat = (n, n_models * n_classes)
    return scores.reshape(flat), every.reshape(flat)


def _find_bins(score: FloatArray, n_bins: int, binning: kinds.Binning) -> IntArray:
    """Bin of each score (n, columns); -1 where it is missing."""
    bins = np.full(score.shape, -1, dtype=np.int64)
    if score.shape[0] == 0:
        return bins
    if binning == "uniform":
        return np.where(np.isnan(score), -1, find_even_bins(score, n_bins))
    ticks = np.linspace(0.0, 1.0, n_bins + 1)
    for j, column in enumerate(score.T):
        present = ~np.isnan(column)
        scored = column[present]
        if scored.size:
            edges = np.percentile(np.sort(scored), ticks * 100.0, overwrite_input=True)
            bins[present, j] = np.searchsorted(edges[1:-1], scored, side="left")
    return bins


def find_even_bins(score: FloatArray, n_bins: int) -> IntArray:
    """Left-closed bin of equal width of each score; a score of exactly 1 is in the last.

    Edges are quotients, so that 0.3 is the edge of three tenths: 3 * 0.1 is a little more.
    """
    edges = np.arange(1, n_bins) / n_bins
    return np.searchsorted(edges, score, side="right").astype(np.int64, copy=False)


def _find_bins_by_class(
    score: FloatArray, predicted: IntArray, settled: kinds.SettledCalibration, n_classes: int
) -> IntArray:
    """Bins of the rows of each predicted class, those of class k after those of class k - 1."""
    bins = np.full(score.shape, -1, dtype=np.int64)
    for k in range(n_classes):
        rows = predicted == k
        within = _find_bins(np.where(rows, score, np.nan), settled.n_bins, settled.binning)
        bins[rows] = k * settled.n_bins + within[rows]
    return bins


def compute_gaps_norm(
    gap: FloatArray, bin_weight: FloatArray, settled: kinds.SettledCalibration
) -> FloatArray:
    """Norm over bins (axis 1) of the gaps (columns, bins, D) of the bins that hold weight."""
    filled = bin_weight > 0
    gap = np.where(filled, gap, 0.0)
    if settled.norm == "max":
        return np.where(filled.any(axis=1), gap.max(axis=1), np.nan)
    share = bin_weight if settled.weighted else filled.astype(np.float64)
    power = gap if settled.norm == "l1" else gap**2
    mean = confusion.compute_ratio((power * share).sum(axis=1), share.sum(axis=1))
    return mean if settled.norm == "l1" else np.sqrt(mean)


_VARIANTS: dict[str, dict[str, Any]] = {
    "ece_uniform": {"title": "ECE (equal width)"},
    "ece_weighted": {"title": "ECE (equal mass, weighted)", "binning": "quantile"},
    "ece_l2": {
        "title": "Calibration error (root mean square)",
        "binning": "quantile",
        "norm": "l2",
    },
    "mce": {"title": "Largest calibration gap", "norm": "max", "weighted": None},
    "ece_top_label": {"title": "ECE (top label)", "target": "top_label"},
    "ece_top_label_by_class": {
        "title": "ECE (top label, by predicted class)",
        "target": "top_label_by_class",
    },
    "classwise_ece": {"title": "ECE (class-wise)", "target": "classwise"},
}
"""Further forms by name: 15 bins of equal width, weighted by their rows, unless given here."""

CALIBRATION_METRICS: tuple[Metric, ...] = (
    ece(title="ECE"),
    *(
        ece(name=name, **{"n_bins": 15, "binning": "uniform", "weighted": True, **options})
        for name, options in _VARIANTS.items()
    ),
)
