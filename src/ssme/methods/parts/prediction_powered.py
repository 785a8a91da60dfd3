"""Prediction-powered means: labels correct what predictions say about the unlabeled rows.

    theta = lambda * mean_unlabeled f + mean_labeled (t - lambda * f)

for a truth t known on n labeled rows and its prediction f known on all rows. For any fixed lambda
theta is unbiased; the power-tuned lambda = Cov(t, f) / ((1 + n/N) Var f) minimises its variance.
With a handful of labels that regression coefficient is itself noisy; the ridge form divides by
Var f + alpha instead, alpha being chosen by leave-one-out error among multiples of Var f.

Sources: Angelopoulos, Duchi and Zrnic, "PPI++: Efficient prediction-powered inference", 2023;
Eyre and Madras, "Regression for the mean: auto-evaluation and inference with few labels through
post-hoc regression", ICML 2025 (ridge).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.beliefs import clamp
from ssme.methods.parts.votes import average_scores, cast_votes, compute_share_correct
from ssme.metrics.base import FloatArray
from ssme.metrics.decisions import ACCURACY
from ssme.metrics.kinds import DEFAULT_THRESHOLD, Kind, find_threshold
from ssme.options import Enumeration, Number, Series, option


@dataclass(frozen=True, eq=False)
class PoweredMean:
    """An estimate and what each row adds to its error: variance = sum of squares of both."""

    value: float
    on_labeled: FloatArray
    on_unlabeled: FloatArray

    @property
    def error(self) -> float:
        """Standard error."""
        return float(np.sqrt((self.on_labeled**2).sum() + (self.on_unlabeled**2).sum()))


def estimate_powered_mean(
    truth: FloatArray,
    predicted: FloatArray,
    predicted_unlabeled: FloatArray,
    lam: float,
    weights: FloatArray | None = None,
    weights_unlabeled: FloatArray | None = None,
) -> PoweredMean:
    """The estimate for a given ``lam``; ``truth`` and ``predicted`` are (n,).

    Weights are sampling weights: the target is then the weighted mean of the truth.
    """
    if truth.size == 0:
        return PoweredMean(np.nan, truth, np.full(predicted_unlabeled.shape, np.nan))
    if predicted_unlabeled.size == 0:
        value, shares = _compute_mean_and_shares(truth, weights)
        return PoweredMean(value, shares, predicted_unlabeled)
    rectifier, on_labeled = _compute_mean_and_shares(truth - lam * predicted, weights)
    imputed, on_unlabeled = _compute_mean_and_shares(lam * predicted_unlabeled, weights_unlabeled)
    return PoweredMean(imputed + rectifier, on_labeled, on_unlabeled)


def tune_power(
    truth: FloatArray,
    predicted: FloatArray,
    predicted_unlabeled: FloatArray,
    ridge_grid: Sequence[float] | None,
) -> float:
    """The variance-minimising lambda in [0, 1]; 0 where the data cannot tell.

    ``ridge_grid`` are the penalties to choose from, as multiples of the variance of the
    predictions; None: no penalty.
    """
    n, n_unlabeled = truth.size, predicted_unlabeled.size
    if n < 2 or n_unlabeled == 0:
        return 0.0
    covariance = float(np.cov(truth, predicted)[0, 1])
    variance = float(np.var(np.concatenate([predicted, predicted_unlabeled]), ddof=1))
    if variance <= 0.0 or covariance <= 0.0:
        return 0.0
    factor = 0.0 if ridge_grid is None else choose_ridge_factor(truth, predicted, ridge_grid)
    return float(np.clip(covariance / ((1 + n / n_unlabeled) * variance * (1 + factor)), 0.0, 1.0))


def choose_ridge_factor(truth: FloatArray, predicted: FloatArray, grid: Sequence[float]) -> float:
    """The penalty of ``grid`` with the least leave-one-out error of t regressed on f."""
    penalties = np.asarray(grid)
    t, f = truth - truth.mean(), predicted - predicted.mean()
    spread = float(f @ f)
    if truth.size < 3 or spread <= 0.0:
        return float(penalties[-1])
    shrunk = spread * (1 + penalties)
    residual = t[:, None] - f[:, None] * ((f @ t) / shrunk)
    leverage = 1 / truth.size + f[:, None] ** 2 / shrunk
    loss = ((residual / np.maximum(1 - leverage, 1e-9)) ** 2).sum(axis=0)
    return float(penalties[np.argmin(loss)])


def _compute_mean_and_shares(
    values: FloatArray, weights: FloatArray | None
) -> tuple[float, FloatArray]:
    """Mean (weighted), and each row's share of its deviation; NaN where no row has weight."""
    if weights is not None and weights.sum() == 0.0:
        return np.nan, np.full(values.size, np.nan)
    share = np.full(values.size, 1.0 / values.size) if weights is None else weights / weights.sum()
    mean = float(share @ values)
    return mean, share * (values - mean)


# -------------------------------------------------------------------------------------------------
# Whether each classifier is right: known on labeled rows, predicted by an annotator on all rows.
#
# The common ground of the prediction-powered methods. The annotator is the classifier itself (its
# top probability, or that of the class decided for at another threshold) or the pool (the mean
# score of all classifiers at the predicted class).


Annotator = Literal["confidence", "pool"]


def declare_annotator(default: Annotator) -> Any:
    """The option ``annotator`` of the prediction-powered methods."""
    return option(
        default,
        "Who predicts whether a classifier is right: its own top probability, or the mean score "
        "of all classifiers at its predicted class.",
        Enumeration("confidence", "pool"),
    )


def declare_ridge_grid() -> Any:
    """The option ``ridge_grid`` of the prediction-powered methods."""
    return option(
        (0.0, *(10.0 ** (quarter / 4) for quarter in range(-8, 9))),
        "Penalties that ridge regression chooses from, as multiples of the predictions' variance.",
        Series(Number(least=0.0, most=1e9), least=1),
    )


def predict_accuracy(data: ScoreSet, annotator: Annotator) -> Callable[[Kind], PredictedAccuracy]:
    """A function from the kind of a metric to the correctness of decisions at its threshold."""
    known: dict[float, PredictedAccuracy] = {}

    def predict_at(kind: Kind) -> PredictedAccuracy:
        threshold = find_threshold(kind)
        if threshold not in known:
            known[threshold] = PredictedAccuracy.of(data, annotator, threshold)
        return known[threshold]

    predict_at(ACCURACY)
    return predict_at


@dataclass(frozen=True, eq=False)
class PredictedAccuracy:
    """``truth`` (n, M) counts on labeled rows only, ``predicted`` (n, M) is NaN without a score.

    ``label_weights`` (n,) say how much each label counts where rows were chosen for labeling.
    """

    truth: FloatArray
    predicted: FloatArray
    labeled: NDArray[np.bool_]
    weights: FloatArray | None
    label_weights: FloatArray | None = None

    @classmethod
    def of(
        cls, data: ScoreSet, annotator: Annotator, threshold: float = DEFAULT_THRESHOLD
    ) -> PredictedAccuracy:
        """``annotator`` is ``"confidence"`` or ``"pool"``; ``threshold`` is that of decisions."""
        votes = cast_votes(data.scores, threshold)
        truth = compute_share_correct(
            votes, clamp(np.zeros((data.n_rows, data.n_classes)), data.labels)
        )
        if annotator == "confidence":
            stated = np.where(votes > 0.0, data.scores, 0.0).sum(axis=2)
            predicted = np.where(np.isfinite(truth), stated, np.nan)
        else:
            predicted = compute_share_correct(votes, average_scores(data.scores))
        chosen = data.label_weights if data.design.weights is not None else None
        return cls(truth, predicted, data.labeled, data.weights, chosen)

    def split_rows(
        self, model: int, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Labeled and unlabeled row numbers among ``rows`` that ``model`` has scored.

        Where rows were chosen for labeling, the others are unlike them, and all rows are taken.
        """
        rows = rows[np.isfinite(self.predicted[rows, model])]
        others = rows[~self.labeled[rows]] if self.label_weights is None else rows
        return rows[self.labeled[rows]], others

    def estimate_mean(
        self,
        model: int,
        labeled: NDArray[np.int64],
        unlabeled: NDArray[np.int64],
        *,
        ridge_grid: tuple[float, ...] | None,
        lam: float | None = None,
    ) -> tuple[float, FloatArray]:
        """PPI++ accuracy of ``model`` from the given rows, and what each row (n,) adds to it."""
        truth, predicted = self.truth[labeled, model], self.predicted[labeled, model]
        predicted_unlabeled = self.predicted[unlabeled, model]
        if lam is None:
            lam = tune_power(truth, predicted, predicted_unlabeled, ridge_grid)
        w = np.ones(len(self.truth)) if self.weights is None else self.weights
        of_labels = w if self.label_weights is None else self.label_weights
        powered = estimate_powered_mean(
            truth, predicted, predicted_unlabeled, lam, of_labels[labeled], w[unlabeled]
        )
        influence = np.zeros(len(self.truth))
        influence[labeled] += powered.on_labeled
        influence[unlabeled] += powered.on_unlabeled
        return powered.value, influence

    def estimate_means(
        self,
        rows: NDArray[np.int64],
        *,
        ridge_grid: tuple[float, ...] | None,
        lam: float | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """PPI++ accuracy (M,) of every classifier on ``rows``, and influences (M, n)."""
        models = range(self.truth.shape[1])
        pairs = [
            self.estimate_mean(j, *self.split_rows(j, rows), ridge_grid=ridge_grid, lam=lam)
            for j in models
        ]
        return np.array([value for value, _ in pairs]), np.stack([shares for _, shares in pairs])
