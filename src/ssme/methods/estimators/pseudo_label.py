"""Pseudo-labeling: a model from the classifiers' scores to the label, fitted on the labeled rows.

    logistic   P(y = k | s) = softmax_k(a + B s), scikit-learn's defaults
    knn        P(y = k | s) = share of class k among the nearest labeled rows

The paper uses the logistic regression and says of alternatives such as nearest neighbors that they
made no significant difference. Features are the probabilities of every classifier: of the second
class for two classes, of all classes for more. A class without a labeled row gets probability zero.

Source: Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
NeurIPS 2025, app. B.2.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.errors import ConvergenceWarning, UnsupportedError
from ssme.methods.base import Convergence, Facts, MethodSpec
from ssme.methods.beliefs import LabelPosterior, clamp
from ssme.methods.draws import LabelDraws
from ssme.methods.votes import fill_missing
from ssme.metrics.base import FloatArray
from ssme.options import Enumeration, Number, Whole, option

MODELS = ("logistic", "knn")


@dataclass(frozen=True)
class PseudoLabel(LabelDraws, example="model='knn'"):
    """Labels drawn from a model of the label given the scores."""

    model: str = option(
        "logistic", "The model: a logistic regression or nearest neighbors.", Enumeration(*MODELS)
    )
    n_neighbors: int = option(
        5, 'Labeled rows that vote with model="knn"; at most all of them do.', Whole(1, 100_000)
    )
    inverse_penalty: float = option(
        1.0,
        "Inverse of the penalty on the coefficients (scikit-learn's C); a smaller value gives "
        "flatter predictions.",
        Number(least=1e-9, most=1e9),
    )
    max_iter: int = option(1000, "Most steps of the regression's solver.", Whole(1, 100_000))

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="pseudo_label",
        title="Model from scores to labels, fitted on the labeled rows",
        source="Shanmugam et al. 2025, app. B.2",
        does=(
            "It learns to predict the label from the scores by a logistic regression on the "
            "labeled rows."
        ),
        assumes="It assumes that there are enough labeled rows to learn that regression.",
        fails=(
            "With few labels, it predicts nearly the same for all rows, and its estimates of AUC "
            "are too low."
        ),
        designs=("random", "by_score", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> LabelPosterior:
        labeled = data.labeled
        seen = np.unique(data.labels[labeled])
        if seen.size < 2:
            raise UnsupportedError(
                f"method 'pseudo_label' needs labels of two classes, and every labeled row has "
                f"class {data.classes[seen[0]]!r}",
                hint="label a row of another class, or use a method that needs no labels",
            )
        features = _make_features(fill_missing(data.scores))
        learn = self._fit_logistic if self.model == "logistic" else self._ask_neighbors
        predicted, convergence = learn(features[labeled], data.labels[labeled], features)
        posterior = np.zeros((data.n_rows, data.n_classes))
        posterior[:, seen] = predicted
        drawn = self.set_draws(rng)
        values = {"converged": convergence.converged, "n_iter": convergence.n_iter}
        facts = Facts(values=values, fits={"": convergence})
        return LabelPosterior(data, clamp(posterior, data.labels), *drawn, facts)

    def _fit_logistic(
        self, known: FloatArray, labels: NDArray[np.int64], features: FloatArray
    ) -> tuple[FloatArray, Convergence]:
        """P(y | s) (n, classes seen) of ``features`` by a regression on the ``known`` rows."""
        from sklearn.exceptions import ConvergenceWarning as NotConverged
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=self.inverse_penalty, max_iter=self.max_iter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            model.fit(known, labels)
        n_iter = int(model.n_iter_.max())
        convergence = Convergence(n_iter < self.max_iter, n_iter)
        if not convergence.converged:
            warnings.warn(
                f"the regression of 'pseudo_label' has not converged after {n_iter} steps; raise"
                " max_iter or lower inverse_penalty",
                ConvergenceWarning,
                stacklevel=3,
            )
        return model.predict_proba(features), convergence

    def _ask_neighbors(
        self, known: FloatArray, labels: NDArray[np.int64], features: FloatArray
    ) -> tuple[FloatArray, Convergence]:
        """P(y | s) (n, classes seen) of ``features`` by the votes of the nearest ``known`` rows."""
        from sklearn.neighbors import KNeighborsClassifier

        model = KNeighborsClassifier(min(self.n_neighbors, len(known))).fit(known, labels)
        return model.predict_proba(features), Convergence(True, 1)


def _make_features(scores: FloatArray) -> FloatArray:
    n, _, k = scores.shape
    return scores[:, :, 1] if k == 2 else scores.reshape(n, -1)
