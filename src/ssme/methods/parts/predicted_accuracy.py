"""Whether each classifier is right: known on labeled rows, predicted by an annotator on all rows.

The common ground of the prediction-powered methods. The annotator is the classifier itself (its top
probability, or that of the class decided for at another threshold) or the pool (the mean score of
all classifiers at the predicted class).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.beliefs import clamp
from ssme.methods.estimators.ensemble import average_scores
from ssme.methods.parts.prediction_powered import estimate_powered_mean, tune_power
from ssme.methods.parts.votes import cast_votes, compute_share_correct
from ssme.metrics.base import FloatArray
from ssme.metrics.decisions import ACCURACY
from ssme.metrics.kinds import DEFAULT_THRESHOLD, Kind, find_threshold
from ssme.options import Enumeration, Number, Series, option

__all__ = [
    "Annotator",
    "PredictedAccuracy",
    "declare_annotator",
    "declare_ridge_grid",
    "predict_accuracy",
]

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
