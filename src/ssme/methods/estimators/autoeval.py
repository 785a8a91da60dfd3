"""AutoEval: PPI++ on accuracy, one classifier at a time.

The truth is whether classifier j is right on a labeled row; its prediction on every row is what an
annotator thinks of that: the classifier's own top probability (``annotator="confidence"``, what
the source does for image classifiers), or the mean score of all classifiers at j's predicted
class (``"pool"``). See `prediction_powered` for the estimator.

Source: Boyeau et al., "AutoEval done right: using synthetic data for model evaluation", ICML 2025.
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
from ssme.methods.parts.predicted_accuracy import Annotator, declare_annotator, predict_accuracy
from ssme.methods.parts.seeds import spawn_seed
from ssme.methods.specs import MethodSpec
from ssme.metrics.base import Metric
from ssme.options import Declared

__all__ = ["AutoEval"]


@dataclass(frozen=True)
class AutoEval(Declared):
    """Accuracy of each classifier by power-tuned prediction-powered inference.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.AutoEval(n_draws=100)
    >>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
    'autoeval'
    """

    annotator: Annotator = declare_annotator("confidence")
    n_draws: int = declare_joint_draws(1000)

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="autoeval",
        title="AutoEval: PPI++ on accuracy",
        source="Boyeau et al. 2025",
        does=(
            "It estimates accuracy from each classifier's own confidence and corrects this "
            "estimate with the labeled rows (PPI++)."
        ),
        assumes=(
            "It assumes that the labeled rows were chosen at random and that there are many of "
            "them: its intervals hold for large samples."
        ),
        fails="With few labels, its estimates vary much.",
        metrics=("accuracy",),
        any_threshold=True,
        gives_posterior=False,
        designs=("random", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> DirectBelief:
        known, seed = predict_accuracy(data, self.annotator), spawn_seed(rng)

        def answer(metric: Metric, rows: NDArray[np.int64]) -> Estimate:
            value, influence = known(metric.kind).estimate_means(rows, ridge_grid=None)
            return make_normal_estimate(value, influence, metric, self.n_draws, seed)

        return DirectBelief(data.n_rows, answer)
