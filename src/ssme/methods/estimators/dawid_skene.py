"""Dawid-Skene: latent true labels, one confusion matrix per classifier, errors independent.

    P(y = k, votes) = p_k prod_j prod_l C_j[k, l] ** v_jl

fitted by EM from the share of votes, with the labeled rows held at their label throughout.
Stops when no prior or confusion probability moves by more than ``tol``.

Source: Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM
algorithm", JRSS C 28(1), 1979.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import Convergence, Facts, MethodSpec
from ssme.methods.beliefs import LabelPosterior, clamp
from ssme.methods.parts.draws import LabelDraws
from ssme.methods.parts.votes import cast_votes
from ssme.metrics.base import FloatArray
from ssme.options import Number, Whole, option

__all__ = ["DawidSkene", "DawidSkeneFit", "fit_dawid_skene"]


@dataclass(frozen=True, eq=False)
class DawidSkeneFacts(Facts):
    """How EM ended, and the class prior (K,) that it found."""

    convergence: Convergence
    prior: FloatArray

    @property
    def fits(self) -> Mapping[str, Convergence]:
        return {"": self.convergence}

    def describe(self) -> dict[str, Any]:
        return {
            "converged": self.convergence.converged,
            "n_iter": self.convergence.n_iter,
            "prior": self.prior.tolist(),
        }


@dataclass(frozen=True)
class DawidSkene(LabelDraws):
    """Labels drawn from the Dawid-Skene posterior of the classifiers' votes.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.DawidSkene(tol=1e-4)
    >>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
    'dawid_skene'
    """

    tol: float = option(
        1e-5,
        "Change of a class prior or confusion probability below which EM has converged.",
        Number(least=0.0, most=1.0),
    )
    max_iter: int = option(100, "Most steps of EM.", Whole(1, 10_000))
    floor: float = option(
        1e-10,
        "Smallest probability inside a logarithm: a vote never seen from a class stays possible.",
        Number(least=1e-300, most=0.1),
    )

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="dawid_skene",
        title="Dawid-Skene on the votes, labels clamped",
        source="Dawid and Skene 1979",
        does=(
            "It estimates the confusion matrix of each classifier and the labels together from "
            "the decisions of the classifiers."
        ),
        assumes=(
            "It assumes that classifiers err independently given the true class; it does not use "
            "the scores."
        ),
        fails="Where classifiers make the same errors, it is too sure of its labels.",
        needs_labels=False,
        designs=("random", "by_score", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> LabelPosterior:
        votes = cast_votes(data.scores)
        fit = fit_dawid_skene(votes, data.labels, self.tol, self.max_iter, self.floor)
        facts = DawidSkeneFacts(Convergence(fit.converged, fit.n_iter), fit.prior)
        return LabelPosterior(data, fit.posterior, *self.set_draws(rng), facts)


@dataclass(frozen=True, eq=False)
class DawidSkeneFit:
    """Posterior (n, K), class prior (K,), confusion[j, k, l] = P(classifier j votes l | y = k)."""

    posterior: FloatArray
    prior: FloatArray
    confusion: FloatArray
    converged: bool
    n_iter: int


def fit_dawid_skene(
    votes: FloatArray,
    labels: NDArray[np.int64],
    tol: float,
    max_iter: int,
    floor: float = 1e-10,
) -> DawidSkeneFit:
    """EM on ``votes`` (n, M, K); rows with a label (not negative) never leave it."""
    n, n_models, k = votes.shape
    flat = votes.reshape(n, n_models * k)
    share = votes.sum(axis=1)
    posterior = clamp(share / np.maximum(share.sum(axis=1, keepdims=True), 1.0), labels)
    prior, confusion = _take_m_step(posterior, flat, n_models)
    for step in range(1, max_iter + 1):
        log_joint = np.log(np.maximum(prior, floor)) + flat @ np.log(
            np.maximum(confusion, floor)
        ).transpose(0, 2, 1).reshape(n_models * k, k)
        posterior = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
        posterior = clamp(posterior / posterior.sum(axis=1, keepdims=True), labels)
        before = prior, confusion
        prior, confusion = _take_m_step(posterior, flat, n_models)
        moved = max(np.abs(prior - before[0]).max(), np.abs(confusion - before[1]).max())
        if moved < tol:
            return DawidSkeneFit(posterior, prior, confusion, True, step)
    return DawidSkeneFit(posterior, prior, confusion, False, max_iter)


def _take_m_step(
    posterior: FloatArray, flat: FloatArray, n_models: int
) -> tuple[FloatArray, FloatArray]:
    """Class prior (K,) and confusion matrices (M, K, K) from expected counts."""
    k = posterior.shape[1]
    counts = (posterior.T @ flat).reshape(k, n_models, k).transpose(1, 0, 2)
    total = counts.sum(axis=2, keepdims=True)
    confusion = np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / k)
    return posterior.mean(axis=0), confusion
