"""Pseudo-labeling: a logistic regression from the classifiers' scores to the label.

    P(y = k | s) = softmax_k(a + B s),  fitted on the labeled rows, scikit-learn's defaults

Features are the probabilities of every classifier: of the second class for two classes, of all
classes for more. A class without a labeled row gets probability zero.

Source: Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
NeurIPS 2025, app. B.2.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.errors import ConvergenceWarning, UnsupportedError
from ssme.methods.base import MethodSpec
from ssme.methods.beliefs.posterior import LabelPosterior, clamp, spawn_seed
from ssme.methods.facts import Convergence, Facts
from ssme.methods.parts.draw_options import label_draws, world_draws
from ssme.methods.parts.missing import fill_missing
from ssme.metrics.base import FloatArray
from ssme.options import Declared, Number, Whole, option

__all__ = ["PseudoLabel"]


@dataclass(frozen=True, eq=False)
class RegressionFacts(Facts):
    """How the regression ended."""

    convergence: Convergence

    @property
    def fits(self) -> Mapping[str, Convergence]:
        return {"": self.convergence}

    def describe(self) -> dict[str, Any]:
        return {"converged": self.convergence.converged, "n_iter": self.convergence.n_iter}


@dataclass(frozen=True)
class PseudoLabel(Declared):
    """Labels drawn from a logistic regression on the scores."""

    inverse_penalty: float = option(
        1.0,
        "Inverse of the penalty on the coefficients (scikit-learn's C); a smaller value gives "
        "flatter predictions.",
        Number(least=1e-9, most=1e9),
    )
    max_iter: int = option(1000, "Most steps of the regression's solver.", Whole(1, 100_000))
    n_draws: int = label_draws()
    n_worlds: int = world_draws()

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="pseudo_label",
        title="Logistic regression from scores to labels",
        source="Shanmugam et al. 2025, app. B.2",
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> LabelPosterior:
        from sklearn.exceptions import ConvergenceWarning as NotConverged
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
        model = LogisticRegression(C=self.inverse_penalty, max_iter=self.max_iter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            model.fit(features[labeled], data.labels[labeled])
        n_iter = int(model.n_iter_.max())
        convergence = Convergence(n_iter < self.max_iter, n_iter)
        if not convergence.converged:
            warnings.warn(
                f"the regression of 'pseudo_label' has not converged after {n_iter} steps; raise"
                " max_iter or lower inverse_penalty",
                ConvergenceWarning,
                stacklevel=2,
            )
        posterior = np.zeros((data.n_rows, data.n_classes))
        posterior[:, seen] = model.predict_proba(features)
        drawn = (self.n_draws, self.n_worlds, spawn_seed(rng))
        facts = RegressionFacts(convergence)
        return LabelPosterior(data, clamp(posterior, data.labels), *drawn, facts)


def _features(scores: FloatArray) -> FloatArray:
    n, _, k = scores.shape
    return scores[:, :, 1] if k == 2 else scores.reshape(n, -1)
