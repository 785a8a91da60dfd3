"""Confidence-based performance estimation: trust each classifier's own probabilities.

    P(y = k | s_j) = s_jk,   so that for instance  accuracy_j = mean_i max_k s_ijk

Label-free and exact for a calibrated classifier; the error it makes is that of calibration.
Labeled rows, if there are any, keep their label.

Source: Bialek et al., "Estimating model performance under covariate shift without labels"
(NannyML), 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import MethodSpec
from ssme.methods.beliefs import PerModelPosterior, clamp
from ssme.methods.parts.draws import LabelDraws

__all__ = ["Cbpe"]


@dataclass(frozen=True)
class Cbpe(LabelDraws):
    """Labels drawn, for each classifier, from its own scores.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.Cbpe(n_draws=100)
    >>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
    'cbpe'
    """

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="cbpe",
        title="Each classifier's own confidence",
        source="Bialek et al. 2024 (CBPE)",
        does=(
            "It takes each classifier's own confidence as the probability that its decision is "
            "right."
        ),
        assumes="It assumes that every classifier is calibrated.",
        fails="It is unreliable where a classifier is not calibrated.",
        needs_labels=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> PerModelPosterior:
        scores = data.scores / data.scores.sum(axis=2, keepdims=True)  # rounded ones do not add up
        own = np.stack([clamp(scores[:, j], data.labels) for j in range(data.n_models)])
        return PerModelPosterior(data, own, *self.set_draws(rng))
