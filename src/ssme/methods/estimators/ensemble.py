"""Ensembling: labels drawn from the mean score of the classifiers.

    P(y = k | s) = mean over classifiers j of s_jk

Labeled rows keep their label, as with SSME. ``labels=False`` is the paper's plain ensemble, which
is completely unsupervised: labeled rows are treated as all others.

Source: Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
NeurIPS 2025, app. D (comparison to ensembling). A classifier without a score for a row is left
out of that row's mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import MethodSpec
from ssme.methods.beliefs import LabelPosterior, clamp
from ssme.methods.parts.draws import LabelDraws
from ssme.metrics.base import FloatArray
from ssme.options import Flag, option

__all__ = ["Ensemble", "average_scores"]


def average_scores(scores: FloatArray) -> FloatArray:
    """Mean over classifiers (n, K) of ``scores`` (n, M, K), missing ones left out; sums to one."""
    total = np.where(np.isfinite(scores), scores, 0.0).sum(axis=1)
    mean: FloatArray = total / total.sum(axis=1, keepdims=True)
    return mean


@dataclass(frozen=True)
class Ensemble(LabelDraws):
    """Labels drawn from the average classifier.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.Ensemble(labels=False)
    >>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
    'ensemble'
    """

    labels: bool = option(
        True,
        "Whether labeled rows keep their label; false ignores all labels.",
        Flag(),
    )

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="ensemble",
        title="Mean score of the classifiers",
        source="Shanmugam et al. 2025, app. D",
        does=(
            "It takes the mean of the classifiers' scores as the probability of each class and "
            "draws labels from it."
        ),
        assumes="It assumes that the mean score is calibrated; it uses no labels to check that.",
        fails=(
            "It is unreliable where classifiers make the same errors or the mean score is not "
            "calibrated."
        ),
        needs_labels=False,
        designs=("random", "by_score", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> LabelPosterior:
        posterior = average_scores(data.scores)
        if self.labels:
            posterior = clamp(posterior, data.labels)
        return LabelPosterior(
            data,
            posterior,
            *self.set_draws(rng),
            predictor=average_scores,
            clamps_labels=self.labels,
        )
