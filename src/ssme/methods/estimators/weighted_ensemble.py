"""Weighted ensemble: the linear pool with the best log score on the labeled rows.

    P(y = k | s) = sum_j w_j s_jk,   w = argmax sum_labeled log sum_j w_j s_j,y  + prior

The prior is a Dirichlet worth ``prior_rows`` labeled rows that favor no classifier; EM finds the
maximum. With no labels the weights are equal, which is the plain ensemble.

Source: Geweke and Amisano, "Optimal prediction pools", Journal of Econometrics 164(1), 2011.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import Convergence, Facts, MethodSpec
from ssme.methods.beliefs import LabelPosterior, clamp
from ssme.methods.parts.draws import LabelDraws
from ssme.methods.parts.missing import fill_missing
from ssme.metrics.base import FloatArray
from ssme.options import Number, Whole, option

__all__ = ["PoolFacts", "WeightedEnsemble", "find_weights"]


@dataclass(frozen=True, eq=False)
class PoolFacts(Facts):
    """How EM ended, and the weight of each classifier in the pool."""

    convergence: Convergence
    weights: Mapping[str, float]

    @property
    def fits(self) -> Mapping[str, Convergence]:
        return {"": self.convergence}

    def describe(self) -> dict[str, Any]:
        return {
            "pool_weights": dict(self.weights),
            "converged": self.convergence.converged,
            "n_iter": self.convergence.n_iter,
        }


@dataclass(frozen=True)
class WeightedEnsemble(LabelDraws):
    """Labels drawn from the pool of classifiers that predicts the labeled rows best.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.WeightedEnsemble(prior_rows=5)
    >>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
    'weighted_ensemble'
    """

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
        does=(
            "It takes a weighted mean of the classifiers' scores as the probability of each "
            "class; the weights are those that predict the labels of the labeled rows best."
        ),
        assumes="It assumes that some weighted mean of the scores is calibrated.",
        fails=(
            "It is unreliable where classifiers make the same errors or no weighted mean is "
            "calibrated."
        ),
        needs_labels=False,
        designs=("random", "by_score", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> LabelPosterior:
        scores = fill_missing(data.scores)
        labeled = np.flatnonzero(data.labeled)
        likelihood = scores[labeled, :, data.labels[labeled]]
        weights, convergence = find_weights(likelihood, self.prior_rows, self.tol, self.max_iter)
        pool = np.einsum("nmk,m->nk", scores, weights)
        posterior = clamp(pool / pool.sum(axis=1, keepdims=True), data.labels)
        facts = PoolFacts(convergence, dict(zip(data.models, weights.tolist(), strict=True)))
        return LabelPosterior(data, posterior, *self.set_draws(rng), facts)


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
