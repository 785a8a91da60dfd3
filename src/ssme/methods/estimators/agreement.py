"""Agreement: a classifier is as accurate as it is likely to agree with the others.

    accuracy_j = mean_i mean_{j' != j} P(classifiers j and j' predict the same class on row i)

Exact where the classifiers are calibrated as an ensemble; too high where they share their errors.
Labeled rows count with the truth instead.

Source: Jiang et al., "Assessing generalization of SGD via disagreement", ICLR 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.errors import UnsupportedError
from ssme.methods.base import Estimate, MethodSpec
from ssme.methods.beliefs import DirectBelief, average_columns, clamp
from ssme.methods.parts.votes import cast_votes, compute_share_correct
from ssme.metrics.base import FloatArray, Metric
from ssme.metrics.kinds import find_threshold
from ssme.options import Declared

__all__ = ["Agreement", "measure_agreement_with_others"]


@dataclass(frozen=True)
class Agreement(Declared):
    """Mean agreement of each classifier with every other one.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.Agreement()
    >>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
    'agreement'
    """

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="agreement",
        title="Agreement with the other classifiers",
        source="Jiang et al. 2022",
        does="It estimates accuracy by how often a classifier agrees with the other classifiers.",
        assumes=(
            "It assumes that agreement predicts accuracy, as it does for independently trained "
            "networks."
        ),
        fails="It is unreliable where classifiers make the same errors.",
        metrics=("accuracy",),
        any_threshold=True,
        needs_labels=False,
        gives_intervals=False,
        gives_posterior=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> DirectBelief:
        if data.n_models < 2:
            raise UnsupportedError(
                "method 'agreement' compares classifiers and there is only one",
                fix="add another classifier, or use a method for one such as 'cbpe'",
            )
        truth = clamp(np.zeros((data.n_rows, data.n_classes)), data.labels)
        known = data.labeled[:, None]

        def answer(metric: Metric, rows: NDArray[np.int64]) -> Estimate:
            votes = cast_votes(data.scores, find_threshold(metric.kind))
            right = np.where(
                known, compute_share_correct(votes, truth), measure_agreement_with_others(votes)
            )
            return Estimate(average_columns(right, rows, data.weights))

        return DirectBelief(data.n_rows, answer)


def measure_agreement_with_others(votes: FloatArray) -> FloatArray:
    """Share (n, M) of the other classifiers' votes that equal each one's; NaN if there are none."""
    total = votes.sum(axis=1, keepdims=True)
    others = total - votes
    same = (votes * others).sum(axis=2)
    cast = others.sum(axis=2)
    usable = (votes.sum(axis=2) > 0) & (cast > 0)
    share: FloatArray = np.where(usable, same / np.where(cast > 0, cast, 1.0), np.nan)
    return share
