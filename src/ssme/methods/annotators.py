"""Dawid-Skene: latent true labels, one confusion matrix per classifier, errors independent.

    P(y = k, votes) = p_k prod_j prod_l C_j[k, l] ** v_jl

fitted by EM from the share of votes, with the labeled rows fixed to their label throughout.
Stops when no prior or confusion probability moves by more than ``tol``.

Source: Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM
algorithm", JRSS C 28(1), 1979.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, softmax

from ssme.arrays import FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.methods.base import Convergence, Facts, MethodSpec
from ssme.methods.beliefs import LabelPosterior, PerModelPosterior, clamp
from ssme.methods.draws import LabelDraws
from ssme.methods.votes import cast_votes
from ssme.mixture.gaussian_mixture import differentiate_truncated_normal, log_truncated_normal
from ssme.options import Number, Series, Whole, option
from ssme.progress import track


@dataclass(frozen=True)
class DawidSkene(LabelDraws, example="tol=1e-4"):
    """Labels drawn from the Dawid-Skene posterior of the classifiers' votes."""

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
        does="It estimates the confusion matrix of each classifier and the labels together from "
        "the decisions of the classifiers.",
        assumes="It assumes that classifiers err independently given the true class; it does not "
        "use the scores.",
        fails="Where classifiers make the same errors, it is too sure of its labels.",
        needs_labels=False,
        designs=("random", "by_score", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> LabelPosterior:
        votes = cast_votes(data.scores)
        fit = fit_dawid_skene(votes, data.labels, self.tol, self.max_iter, self.floor)
        facts = Convergence(fit.converged, fit.n_iter).as_facts(prior=fit.prior.tolist())
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
    votes: FloatArray, labels: IntArray, tol: float, max_iter: int, floor: float = 1e-10
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
        posterior = clamp(softmax(log_joint, axis=1), labels)
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


# -------------------------------------------------------------------------------------------------
# Semi-supervised performance evaluation: two truncated normals per classifier.
#
#     P(y, s_j) = p_y TN(s_j; mu_y, sigma_y, [0, 1])
#
# for the score s_j of the second class, fitted to one classifier at a time by maximising
#
#     sum_labeled log P(y, s) + sum_unlabeled log sum_y P(y, s)
#
# (bounded quasi-Newton with exact gradients, from the moments of the labeled rows of each class).
#
# Source: Welinder, Welling and Perona, "A lazy man's approach to benchmarking: semisupervised
# classifier evaluation and recalibration", CVPR 2013; truncated normals as in Shanmugam et al.
# 2025, app. B.2. The mode is the semi-supervised one: labels enter the likelihood and do not only
# name the classes. The source samples the parameters; here they are fixed at the maximum.


@dataclass(frozen=True)
class Spe(LabelDraws, example="max_iter=100"):
    """Labels drawn, for each classifier, from a mixture of truncated normals of its scores."""

    mean_bounds: tuple[float, float] = option(
        (-1.0, 2.0),
        "Least and largest center of a component. Centers may lie outside [0, 1]: scores that "
        "pile up at an end are one tail of a normal.",
        Series(Number(least=-100.0, most=100.0), length=2),
    )
    deviation_bounds: tuple[float, float] = option(
        (1e-2, 2.0),
        "Least and largest standard deviation of a component. A narrower one would fit a handful "
        "of equal scores, a wider one is flat on [0, 1].",
        Series(Number(least=1e-3, most=100.0), length=2),
    )
    max_iter: int = option(15_000, "Most steps of the optimizer.", Whole(1, 100_000))

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="spe",
        title="Mixture of truncated normals per classifier",
        source="Welinder et al. 2013",
        does="It fits two truncated normal densities, one per class, to the scores of each "
        "classifier.",
        assumes="It assumes that the scores of each class follow such a density.",
        fails="It is unreliable where the scores have any other shape.",
        multiclass=False,
        designs=("random", "by_score", "weights"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("mean_bounds", "deviation_bounds"):
            low, high = getattr(self, name)
            if low >= high:
                must = "have the smaller value first"
                raise InputError(option=name, value=(low, high), must=must)

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> PerModelPosterior:
        posteriors = np.full((data.n_models, data.n_rows, 2), np.nan)
        values: dict[str, dict[str, Any]] = {}
        fits: dict[str, Convergence] = {}
        for j, model in enumerate(track(data.models, "models")):
            present = np.isfinite(data.scores[:, j, 1])
            scores = data.scores[present, j, 1]
            theta, fits[model] = self._fit_mixture(scores, data.labels[present])
            posteriors[j, present] = softmax(compute_log_joint(scores, theta), axis=1)
            posteriors[j] = clamp(posteriors[j], data.labels)
            values[model] = {
                "means": theta[[0, 2]].tolist(),
                "deviations": np.exp(theta[[1, 3]]).tolist(),
                "prior": float(expit(theta[4])),
                "converged": fits[model].converged,
            }
        facts = Facts(values=values, fits=fits)
        return PerModelPosterior(data, posteriors, *self.set_draws(rng), facts)

    def _fit_mixture(self, scores: FloatArray, labels: IntArray) -> tuple[FloatArray, Convergence]:
        """(mu_0, log sigma_0, mu_1, log sigma_1, logit p_1), and how the search ended."""
        from scipy.optimize import minimize

        low, high = np.log(self.deviation_bounds)
        result = minimize(
            _compute_loss,
            _start(scores, labels),
            args=(scores, labels),
            jac=True,
            method="L-BFGS-B",
            bounds=[self.mean_bounds, (low, high), self.mean_bounds, (low, high), (-10.0, 10.0)],
            options={"maxiter": self.max_iter},
        )
        return result.x, Convergence(bool(result.success), int(result.nit))


def compute_log_joint(scores: FloatArray, theta: FloatArray) -> FloatArray:
    """log P(y, s) (n, 2) under the mixture ``theta``."""
    log_prior = -np.logaddexp(0.0, [theta[4], -theta[4]])
    columns = [
        log_prior[y] + log_truncated_normal(scores, theta[2 * y], np.exp(theta[2 * y + 1]))
        for y in (0, 1)
    ]
    return np.stack(columns, axis=1)


def _compute_loss(
    theta: FloatArray, scores: FloatArray, labels: IntArray
) -> tuple[float, FloatArray]:
    """Minus the mean log likelihood and its gradient."""
    joint = compute_log_joint(scores, theta)
    marginal = np.logaddexp(joint[:, 0], joint[:, 1])
    share = clamp(np.exp(joint - marginal[:, None]), labels)
    labeled = labels >= 0
    total = joint[labeled, labels[labeled]].sum() + marginal[~labeled].sum()
    gradient = np.empty(5)
    for y in (0, 1):
        by_mu, by_log_sigma = differentiate_truncated_normal(
            scores, theta[2 * y], np.exp(theta[2 * y + 1])
        )
        gradient[2 * y : 2 * y + 2] = share[:, y] @ by_mu, share[:, y] @ by_log_sigma
    gradient[4] = (share[:, 1] - expit(theta[4])).sum()
    return -total / scores.size, -gradient / scores.size


def _start(scores: FloatArray, labels: IntArray) -> FloatArray:
    """Moments of each class's labeled rows; a class without labels starts in its own half."""
    theta = np.empty(5)
    for y in (0, 1):
        own = scores[labels == y]
        mu, sigma = (own.mean(), max(own.std(), 0.1)) if own.size else (0.25 + 0.5 * y, 0.25)
        theta[2 * y : 2 * y + 2] = mu, np.log(sigma)
    theta[4] = np.log(((labels == 1).sum() + 1.0) / ((labels == 0).sum() + 1.0))
    return theta
