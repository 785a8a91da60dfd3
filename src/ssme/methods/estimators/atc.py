"""Average thresholded confidence: accuracy is the share of rows above a learned confidence.

    accuracy_j = mean_i 1[c_ij >= t_j],   t_j such that this holds on the labeled rows

where c_ij is the confidence of classifier j: its top probability, or its negative entropy. Where
labeled rows share the confidence t_j, the share of them that makes this hold counts as above, and
so for every row with it. Labeled rows count with the truth.

Source: Garg et al., "Leveraging unlabeled data to predict out-of-distribution performance",
ICLR 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import Estimate, MethodSpec, NamedNumbers
from ssme.methods.beliefs import DirectBelief, average_columns, clamp
from ssme.methods.parts.votes import cast_votes, compute_share_correct
from ssme.metrics.base import FloatArray, Metric
from ssme.options import Declared, Enumeration, option
from ssme.progress import track

__all__ = ["Atc", "find_threshold"]


@dataclass(frozen=True)
class Atc(Declared):
    """Share of rows whose confidence passes the threshold that fits the labeled rows.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.Atc(confidence="entropy")
    >>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
    'atc'
    """

    confidence: Literal["top", "entropy"] = option(
        "top",
        "What a classifier's confidence is: its top probability, or its negative entropy.",
        Enumeration("top", "entropy"),
    )

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="atc",
        title="Average thresholded confidence",
        source="Garg et al. 2022",
        does=(
            "It finds the confidence above which the share of labeled rows equals the accuracy on "
            "the labeled rows, and takes the share of unlabeled rows above it as the accuracy."
        ),
        assumes="It assumes that this threshold is the same for the unlabeled rows.",
        fails="It is unreliable with few labels, from which it learns the threshold.",
        metrics=("accuracy",),
        gives_intervals=False,
        gives_posterior=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> DirectBelief:
        confidence = self._measure_confidence(data.scores)
        truth = clamp(np.zeros((data.n_rows, data.n_classes)), data.labels)
        right = compute_share_correct(cast_votes(data.scores), truth)
        thresholds, expected = np.full(data.n_models, np.nan), np.empty(right.shape)
        for j in track(range(data.n_models), "models"):
            known = data.labeled & np.isfinite(right[:, j])
            own = confidence[:, j]
            thresholds[j], at = find_threshold(own[known], right[known, j])
            above = (own > thresholds[j]) + at * (own == thresholds[j])
            expected[:, j] = np.where(known | np.isnan(right[:, j]), right[:, j], above)

        def answer(metric: Metric, rows: NDArray[np.int64]) -> Estimate:
            return Estimate(average_columns(expected, rows, data.weights))

        by_model = dict(zip(data.models, thresholds.tolist(), strict=True))
        return DirectBelief(data.n_rows, answer, NamedNumbers("thresholds", by_model))

    def _measure_confidence(self, scores: FloatArray) -> FloatArray:
        if self.confidence == "top":
            top: FloatArray = scores.max(axis=2)
            return top
        negative_entropy: FloatArray = xlogy(scores, scores).sum(axis=2)
        return negative_entropy


def find_threshold(confidence: FloatArray, right: FloatArray) -> tuple[float, float]:
    """Confidence that as many labeled rows stay below as are wrong, and how much of a row at it
    counts as above so that this holds."""
    if confidence.size == 0:
        return np.nan, np.nan
    threshold = float(np.append(np.sort(confidence), np.inf)[int((1.0 - right).sum())])
    tied = int((confidence == threshold).sum())
    return threshold, float(right.sum() - (confidence > threshold).sum()) / max(tied, 1)
