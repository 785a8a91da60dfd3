"""Stratified PPI: prediction-powered accuracy within strata of the prediction, then averaged.

    theta = sum_h W_h theta_h,   W_h the share of rows in stratum h, theta_h its PPI++ estimate

Strata are quantile bins of the predicted correctness of each classifier, so each gets its own
power-tuning parameter: where the annotator is useless it is ignored, where it is good it is used.
Neighbors are merged until every stratum holds ``min_labels`` labeled rows. The interval is that
of a design with fixed shares W_h.

Source: Fisch et al., "Stratified prediction-powered inference for hybrid language model
evaluation", NeurIPS 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import Estimate
from ssme.methods.beliefs.direct import DirectBelief, make_normal_estimate
from ssme.methods.parts.draw_options import declare_joint_draws
from ssme.methods.parts.predicted_accuracy import (
    Annotator,
    PredictedAccuracy,
    declare_annotator,
    declare_ridge_grid,
    predict_accuracy,
)
from ssme.methods.parts.seeds import spawn_seed
from ssme.methods.specs import MethodSpec
from ssme.metrics.base import FloatArray, Metric
from ssme.options import Declared, Flag, Whole, option

__all__ = ["StratifiedPpi", "assign_strata"]


@dataclass(frozen=True)
class StratifiedPpi(Declared):
    """PPI++ on accuracy with strata of equal size in the annotator's prediction.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.StratifiedPpi(n_strata=2)
    >>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
    'stratified_ppi'
    """

    n_strata: int = option(
        5, "Number of strata, of equally many rows each, before merging.", Whole(1, 10_000)
    )
    min_labels: int = option(
        5, "Labeled rows below which a stratum is merged with its neighbor.", Whole(1, 10**9)
    )
    annotator: Annotator = declare_annotator("pool")
    ridge: bool = option(
        True, "Whether ridge regression stabilizes the tuned parameter lambda.", Flag()
    )
    ridge_grid: tuple[float, ...] = declare_ridge_grid()
    n_draws: int = declare_joint_draws(1000)

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="stratified_ppi",
        title="Stratified PPI++ on accuracy",
        source="Fisch et al. 2024",
        does=(
            "It applies prediction-powered inference within strata of the classifier's confidence."
        ),
        assumes=(
            "It assumes that the labeled rows were chosen at random and that every stratum has "
            "some."
        ),
        fails="It is unreliable with few labels per stratum.",
        metrics=("accuracy",),
        any_threshold=True,
        gives_posterior=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> DirectBelief:
        predicted, seed = predict_accuracy(data, self.annotator), spawn_seed(rng)

        def answer(metric: Metric, rows: NDArray[np.int64]) -> Estimate:
            known = predicted(metric.kind)
            pairs = [self._estimate_model(known, j, rows) for j in range(data.n_models)]
            value = np.array([value for value, _ in pairs])
            influence = np.stack([shares for _, shares in pairs])
            return make_normal_estimate(value, influence, metric, self.n_draws, seed)

        return DirectBelief(data.n_rows, answer)

    def _estimate_model(
        self, known: PredictedAccuracy, model: int, rows: NDArray[np.int64]
    ) -> tuple[float, FloatArray]:
        """Accuracy of one classifier, and what each row adds to its error."""
        labeled, unlabeled = known.split_rows(model, rows)
        both = np.concatenate([labeled, unlabeled])
        if labeled.size == 0:
            return np.nan, np.full(len(known.truth), np.nan)
        stratum = assign_strata(
            known.predicted[both, model],
            np.arange(both.size) < labeled.size,
            self.n_strata,
            self.min_labels,
        )
        weights = np.ones(both.size) if known.weights is None else known.weights[both]
        value, influence = 0.0, np.zeros(len(known.truth))
        for h in range(int(stratum.max()) + 1):
            inside = stratum == h
            mean, shares = known.estimate_mean(
                model,
                both[: labeled.size][inside[: labeled.size]],
                both[labeled.size :][inside[labeled.size :]],
                ridge_grid=self.ridge_grid if self.ridge else None,
            )
            share = float(weights[inside].sum() / weights.sum())
            value += share * mean
            influence += share * shares
        return value, influence


def assign_strata(
    predicted: FloatArray, labeled: NDArray[np.bool_], n_strata: int, min_labels: int
) -> NDArray[np.int64]:
    """Stratum 0..H-1 of every row: quantile bins of ``predicted``, merged upward until each
    holds at least ``min_labels`` labeled rows (all rows in one stratum if there are fewer)."""
    edges = np.unique(np.quantile(predicted, np.arange(1, n_strata) / n_strata))
    bins = np.searchsorted(edges, predicted, side="left")
    counts = np.bincount(bins[labeled], minlength=edges.size + 1)
    merged = np.zeros(counts.size, dtype=np.int64)
    stratum = held = 0
    for b, count in enumerate(counts):
        merged[b] = stratum
        held += count
        if held >= min_labels and counts[b + 1 :].sum() >= min_labels:
            stratum, held = stratum + 1, 0
    out: NDArray[np.int64] = merged[bins]
    return out
