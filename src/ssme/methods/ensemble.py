"""Ensembling: labels drawn from the mean score of the classifiers.

    P(y = k | s) = mean over classifiers j of s_jk

Labeled rows keep their label, as with SSME. ``labels=False`` is the paper's plain ensemble, which
is completely unsupervised: labeled rows are treated as all others.

Source: Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
NeurIPS 2025, app. D (comparison to ensembling). A classifier without a score for a row is left
out of that row's mean.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.errors import ConvergenceWarning, UnsupportedError, warn
from ssme.methods import beliefs, draws
from ssme.methods.base import Convergence, Facts, MethodSpec
from ssme.methods.votes import average_scores, cast_votes, fill_missing
from ssme.options import Enumeration, Flag, Number, Whole, option


@dataclass(frozen=True)
class Ensemble(draws.LabelDraws, example="labels=False"):
    """Labels drawn from the average classifier."""

    labels: bool = option(
        True, "Whether labeled rows keep their label; false ignores all labels.", Flag()
    )

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="ensemble",
        title="Mean score of the classifiers",
        source="Shanmugam et al. 2025, app. D",
        does="It takes the mean of the classifiers' scores as the probability of each class and "
        "draws labels from it.",
        assumes="It assumes that the mean score is calibrated; it uses no labels to check that.",
        fails="It is unreliable where classifiers make the same errors or the mean score is not "
        "calibrated.",
        needs_labels=False,
        designs=("random", "by_score", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.LabelPosterior:
        posterior = average_scores(data.scores)
        if self.labels:
            posterior = beliefs.clamp(posterior, data.labels)
        drawn = self.set_draws(rng)
        return beliefs.LabelPosterior(
            data, posterior, *drawn, predictor=average_scores, clamps_labels=self.labels
        )


# -------------------------------------------------------------------------------------------------
# Weighted ensemble: the linear pool with the best log score on the labeled rows.
#
#     P(y = k | s) = sum_j w_j s_jk,   w = argmax sum_labeled log sum_j w_j s_j,y  + prior
#
# The prior is a Dirichlet worth ``prior_rows`` labeled rows that favor no classifier; EM finds the
# maximum. With no labels the weights are equal, which is the plain ensemble.
#
# Source: Geweke and Amisano, "Optimal prediction pools", Journal of Econometrics 164(1), 2011.


@dataclass(frozen=True)
class WeightedEnsemble(draws.LabelDraws, example="prior_rows=5"):
    """Labels drawn from the pool of classifiers that predicts the labeled rows best."""

    prior_rows: float = option(
        10.0,
        "Number of labeled rows that the prior, which favors no classifier, is worth.",
        Number(least=0.0, most=1e9),
    )
    tol: float = option(
        1e-8, "Change of a weight below which EM has converged.", Number(least=0.0, most=1.0)
    )
    max_iter: int = option(1000, "Most steps of EM.", Whole(1, 10_000))

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="weighted_ensemble",
        title="Linear pool weighted by labeled log score",
        source="Geweke and Amisano 2011",
        does="It takes a weighted mean of the classifiers' scores as the probability of each "
        "class; the weights are those that predict the labels of the labeled rows best.",
        assumes="It assumes that some weighted mean of the scores is calibrated.",
        fails="It is unreliable where classifiers make the same errors or no weighted mean is "
        "calibrated.",
        needs_labels=False,
        designs=("random", "by_score", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.LabelPosterior:
        scores = fill_missing(data.scores)
        labeled = np.flatnonzero(data.labeled)
        likelihood = scores[labeled, :, data.labels[labeled]]
        weights, convergence = find_weights(likelihood, self.prior_rows, self.tol, self.max_iter)
        pool = np.einsum("nmk,m->nk", scores, weights)
        posterior = beliefs.clamp(pool / pool.sum(axis=1, keepdims=True), data.labels)
        by_model = dict(zip(data.models, weights.tolist(), strict=True))
        facts = convergence.as_facts(pool_weights=by_model)
        return beliefs.LabelPosterior(data, posterior, *self.set_draws(rng), facts)


def find_weights(
    likelihood: FloatArray, prior_rows: float, tol: float = 1e-8, max_iter: int = 1000
) -> tuple[FloatArray, Convergence]:
    """Weights (M,) of the best pool; ``likelihood`` (n, M) is each score of the true label."""
    n, n_models = likelihood.shape
    weights: FloatArray = np.full(n_models, 1.0 / n_models)
    if n == 0:
        return weights, Convergence(True, 0)
    likelihood = np.maximum(likelihood, np.finfo(np.float64).tiny)
    for step in range(1, max_iter + 1):
        joint = likelihood * weights
        counts = (joint / joint.sum(axis=1, keepdims=True)).sum(axis=0)
        updated = (counts + prior_rows / n_models) / (n + prior_rows)
        moved = np.abs(updated - weights).max()
        weights = updated
        if moved < tol:
            return weights, Convergence(True, step)
    return weights, Convergence(False, max_iter)


# -------------------------------------------------------------------------------------------------
# Majority vote weighted by labeled accuracy.
#
#     P(y = k | s) = sum_j a_j v_jk / sum_j a_j
#
# where v_jk is classifier j's vote for class k and a_j its accuracy on the labeled rows. Without
# any labels, or where every a_j is zero, all classifiers weigh the same.
#
# Source: Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
# NeurIPS 2025, app. B.2.


@dataclass(frozen=True)
class MajorityVote(draws.LabelDraws, example="hard=True"):
    """Accuracy-weighted average of discrete predictions."""

    hard: bool = option(
        False,
        "Whether the class with the largest share of the vote is the label, instead of a label "
        "drawn from the shares. Classes with equal shares are equally likely.",
        Flag(),
    )

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="majority_vote",
        title="Vote of the classifiers, weighted by labeled accuracy",
        source="Shanmugam et al. 2025, app. B.2",
        does="It lets the classifiers vote on the class of every unlabeled row. Each vote is "
        "weighted by the classifier's accuracy on the labeled rows, and the share of the votes is "
        "the probability of a class.",
        assumes="It assumes that the classifiers err independently and that the majority is mostly "
        "right.",
        fails="It is unreliable where classifiers make the same errors, and it ignores how "
        "confident they are.",
        needs_labels=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.LabelPosterior:
        votes, labeled = cast_votes(data.scores), np.flatnonzero(data.labeled)
        cast = votes[labeled].sum(axis=(0, 2))
        right = votes[labeled, :, data.labels[labeled]].sum(axis=0)
        accuracy = right / np.maximum(cast, 1.0) if right.any() else np.ones(data.n_models)
        share = weigh_votes(votes, accuracy)
        if self.hard:
            top = share == share.max(axis=1, keepdims=True)
            share = top / top.sum(axis=1, keepdims=True)
        posterior = beliefs.clamp(share, data.labels)
        weights = dict(zip(data.models, accuracy.tolist(), strict=True))
        facts = Facts(values={"vote_weights": weights})
        return beliefs.LabelPosterior(data, posterior, *self.set_draws(rng), facts)


def weigh_votes(votes: FloatArray, weights: FloatArray) -> FloatArray:
    """Share (n, K) of the weight (M,) that votes for each class; of the votes where it is zero."""
    total, unweighted = np.einsum("nmk,m->nk", votes, weights), votes.sum(axis=1)
    total = np.where(total.sum(axis=1, keepdims=True) > 0, total, unweighted)
    cast = total.sum(axis=1, keepdims=True)
    return total / np.where(cast > 0, cast, 1.0)


# -------------------------------------------------------------------------------------------------
# Pseudo-labeling: a model from the classifiers' scores to the label, fitted on the labeled rows.
#
#     logistic   P(y = k | s) = softmax_k(a + B s), scikit-learn's defaults
#     knn        P(y = k | s) = share of class k among the nearest labeled rows
#
# The paper uses the logistic regression and says of alternatives such as nearest neighbors that
# they made no significant difference. Features are the probabilities of every classifier: of the
# second class for two classes, of all for more. A class without a label gets probability zero.
#
# Source: Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
# NeurIPS 2025, app. B.2.


@dataclass(frozen=True)
class PseudoLabel(draws.LabelDraws, example="model='knn'"):
    """Labels drawn from a model of the label given the scores."""

    model: str = option(
        "logistic",
        "The model: a logistic regression or nearest neighbors.",
        Enumeration("logistic", "knn"),
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
        does="It learns to predict the label from the scores by a logistic regression on the "
        "labeled rows.",
        assumes="It assumes that there are enough labeled rows to learn that regression.",
        fails="With few labels, it predicts nearly the same for all rows, and its estimates of AUC "
        "are too low.",
        designs=("random", "by_score", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.LabelPosterior:
        labeled = data.labeled
        seen = np.unique(data.labels[labeled])
        if seen.size < 2:
            raise UnsupportedError(
                f"method 'pseudo_label' needs labels of two classes, and every labeled row has "
                f"class {data.classes[seen[0]]!r}",
                hint="label a row of another class, or use a method that needs no labels",
            )
        scores = fill_missing(data.scores)
        two = data.n_classes == 2
        features = scores[:, :, 1] if two else scores.reshape(data.n_rows, -1)
        learn = self._fit_logistic if self.model == "logistic" else self._ask_neighbors
        predicted, convergence = learn(features[labeled], data.labels[labeled], features)
        posterior = np.zeros((data.n_rows, data.n_classes))
        posterior[:, seen] = predicted
        drawn = self.set_draws(rng)
        facts = convergence.as_facts()
        return beliefs.LabelPosterior(data, beliefs.clamp(posterior, data.labels), *drawn, facts)

    def _fit_logistic(
        self, known: FloatArray, labels: IntArray, features: FloatArray
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
            warn(
                f"the regression of 'pseudo_label' has not converged after {n_iter} steps; raise"
                " max_iter or lower inverse_penalty",
                ConvergenceWarning,
            )
        return model.predict_proba(features), convergence

    def _ask_neighbors(
        self, known: FloatArray, labels: IntArray, features: FloatArray
    ) -> tuple[FloatArray, Convergence]:
        """P(y | s) (n, classes seen) of ``features`` by the votes of the nearest ``known`` rows."""
        from sklearn.neighbors import KNeighborsClassifier

        model = KNeighborsClassifier(min(self.n_neighbors, len(known))).fit(known, labels)
        return model.predict_proba(features), Convergence(True, 1)
