"""Pseudo-labeling: a logistic regression from the classifiers' scores to the label.

    P(y = k | s) = softmax_k(a + B s),  fitted on the labeled rows, scikit-learn's defaults

Features are the probabilities of every classifier: of the second class for two classes, of all
classes for more. A class without a labeled row gets probability zero.

Source: Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
NeurIPS 2025, app. B.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.errors import UnsupportedError
from ssme.methods.base import MethodSpec
from ssme.methods.beliefs.posterior import LabelPosterior, clamp, spawn_seed
from ssme.methods.parts.missing import fill_missing
from ssme.metrics.base import FloatArray

__all__ = ["PseudoLabel"]


@dataclass(frozen=True)
class PseudoLabel:
    """Labels drawn from a logistic regression on the scores.

    Parameters
    ----------
    inverse_penalty : scikit-learn's ``C``; smaller means flatter predictions.
    """

    inverse_penalty: float = 1.0
    n_draws: int = 500

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="pseudo_label",
        title="Logistic regression from scores to labels",
        source="Shanmugam et al. 2025, app. B.2",
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> LabelPosterior:
        from sklearn.linear_model import LogisticRegression

        labeled = data.labeled
        seen = np.unique(data.labels[labeled])
        if seen.size < 2:
            raise UnsupportedError(
                f"every labeled row has class {data.classes[seen[0]]!r}",
                allowed="method 'pseudo_label' learns from labels of at least two classes",
                fix="label a row of another class, or use a method that needs no labels",
            )
        features = _features(fill_missing(data.scores))
        model = LogisticRegression(C=self.inverse_penalty, max_iter=1000)
        model.fit(features[labeled], data.labels[labeled])
        posterior = np.zeros((data.n_rows, data.n_classes))
        posterior[:, seen] = model.predict_proba(features)
        return LabelPosterior(data, clamp(posterior, data.labels), self.n_draws, spawn_seed(rng))


def _features(scores: FloatArray) -> FloatArray:
    n, _, k = scores.shape
    return scores[:, :, 1] if k == 2 else scores.reshape(n, -1)
