"""Bayesian calibration: beta calibration of each classifier, its parameters sampled.

    logit P(y = 1 | s) = c + a log s - b log(1 - s),   log a, log b ~ N(0, 0.43^2), c ~ N(0, 2.14^2)

for the score s of the second class, given the labeled rows. Every draw takes its own (a, b, c), so
the interval carries both the unknown labels and the unknown calibration.

The posterior of the three parameters is sampled by importance resampling: a Student-t around the
mode, with the curvature there, proposes; weights correct. The source's prior is hierarchical over
groups (means N(0, 0.4), N(0, 0.4), N(0, 2); half-normal spreads 0.15, 0.15, 0.75); with all rows as
one group it has the standard deviations above.

Source: Ji, Smyth and Steyvers, "Can I trust my fairness metric? Assessing fairness with unlabeled
data and Bayesian inference", NeurIPS 2020; Kull et al., "Beta calibration", AISTATS 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import expit, logsumexp

from ssme.arrays import FloatArray
from ssme.data.scoreset import ScoreSet
from ssme.methods.base import Facts, MethodSpec
from ssme.methods.beliefs import BATCH_CELLS, PerModelPosterior, clamp
from ssme.methods.draws import LabelDraws, spawn_seed
from ssme.options import Number, Whole, option
from ssme.progress import track


@dataclass(frozen=True)
class BayesianCalibration(LabelDraws, example="slope_sd=0.2"):
    """Labels drawn, for each classifier, from its Bayesian beta calibration."""

    slope_sd: float = option(
        float(np.hypot(0.4, 0.15)),
        "Prior standard deviation of log a and log b; a smaller value trusts the scores more.",
        Number(least=1e-6, most=10.0),
    )
    shift_sd: float = option(
        float(np.hypot(2.0, 0.75)),
        "Prior standard deviation of the shift c.",
        Number(least=1e-6, most=100.0),
    )
    clip: float = option(
        1e-6,
        "Distance that scores keep from 0 and 1, where their logarithms end.",
        Number(least=1e-15, most=0.1),
    )
    degrees_of_freedom: int = option(
        5, "Degrees of freedom of the Student t that proposes parameters.", Whole(1, 100)
    )
    proposals_per_draw: int = option(
        8, "Number of proposed parameters for each one that is kept.", Whole(1, 100)
    )
    tol: float = option(1e-6, "Step below which the mode is found.", Number(least=0.0, most=1.0))
    max_iter: int = option(200, "Most steps to the mode.", Whole(1, 10_000))

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="bayesian_calibration",
        title="Bayesian beta calibration per classifier",
        source="Ji et al. 2020",
        does="It recalibrates the scores of each classifier by a Bayesian regression on the "
        "labeled rows.",
        assumes="It assumes that a beta calibration curve fits each classifier.",
        fails="It looks at one classifier at a time and learns nothing from the others.",
        multiclass=False,
        designs=("random", "by_score", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> CalibratedPosterior:
        clipped = np.clip(data.scores[:, :, 1], self.clip, 1.0 - self.clip)
        logs = np.stack([np.log(clipped), np.log1p(-clipped)], axis=-1)
        prior_sd = np.array([self.slope_sd, self.slope_sd, self.shift_sd])
        seed = spawn_seed(rng)
        parameters, posteriors = [], []
        for j in track(range(data.n_models), "models"):
            known = data.labeled & np.isfinite(logs[:, j, 0])
            labels = data.labels[known].astype(np.float64)
            fit = CalibrationFit(logs[known, j], labels, prior_sd, self)
            draws = fit.sample(self.n_draws, np.random.default_rng(seed))
            positive = _average_probability(logs[:, j], draws)
            parameters.append(draws)
            posteriors.append(clamp(np.stack([1.0 - positive, positive], axis=1), data.labels))
        means = {
            model: dict(zip(("log_a", "log_b", "c"), draws.mean(axis=0).tolist(), strict=True))
            for model, draws in zip(data.models, parameters, strict=True)
        }
        return CalibratedPosterior(
            data,
            np.stack(posteriors),
            *self.set_draws(rng),
            Facts(values=means),
            logs=logs,
            parameters=np.stack(parameters),
        )


@dataclass(frozen=True, eq=False)
class CalibratedPosterior(PerModelPosterior):
    """Label draws that each use their own calibration parameters, ``parameters`` (M, D, 3)."""

    logs: FloatArray = field(kw_only=True)
    parameters: FloatArray = field(kw_only=True)

    def draw_posterior(self, model: int, start: int, stop: int) -> FloatArray:
        positive = expit(_logit(self.logs[:, model], self.parameters[model, start:stop]))
        labels = self.data.labels
        positive = np.where(labels >= 0, labels, positive)
        return np.stack([1.0 - positive, positive], axis=-1)


@dataclass(frozen=True, eq=False)
class CalibrationFit:
    """Posterior of theta = (log a, log b, c) given labeled rows.

    ``logs`` (n, 2) are (log s, log(1 - s)), ``labels`` (n,) are 0 or 1, ``prior_sd`` (3,);
    ``method`` has the options of the search and of the proposals.
    """

    logs: FloatArray
    labels: FloatArray
    prior_sd: FloatArray
    method: BayesianCalibration = field(default_factory=BayesianCalibration)

    def sample(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Draws (D, 3) by importance resampling of Student-t proposals around the mode."""
        mode, precision = self.find_mode()
        root = np.linalg.cholesky(np.linalg.inv(precision))
        n_proposals, nu = self.method.proposals_per_draw * n_draws, self.method.degrees_of_freedom
        normal = rng.standard_normal((n_proposals, 3))
        chi2 = rng.chisquare(nu, n_proposals)
        standard = normal * np.sqrt(nu / chi2)[:, None]
        proposals = mode + standard @ root.T
        distance = (standard**2).sum(axis=1) / nu
        log_proposal = -0.5 * (nu + 3) * np.log1p(distance)
        log_weight = self.log_density(proposals) - log_proposal
        weight = np.exp(log_weight - logsumexp(log_weight))
        chosen = rng.choice(n_proposals, size=n_draws, p=weight / weight.sum())
        return proposals[chosen]

    def find_mode(self) -> tuple[FloatArray, FloatArray]:
        """Posterior mode (3,) by damped Fisher scoring, and the precision (3, 3) there."""
        theta, damping = np.zeros(3), 1.0
        best = self.log_density(theta[None])[0]
        for _ in range(self.method.max_iter):
            gradient, precision = self.compute_slope(theta)
            step = np.linalg.solve(precision + damping * np.eye(3), gradient)
            value = self.log_density((theta + step)[None])[0]
            if value < best:
                damping *= 4.0
                continue
            theta, best, damping = theta + step, value, damping / 4.0
            if np.abs(step).max() < self.method.tol:
                break
        return theta, self.compute_slope(theta)[1]

    def log_density(self, theta: FloatArray) -> FloatArray:
        """Log posterior (D,) of ``theta`` (D, 3) up to a constant."""
        sign = 1.0 - 2.0 * self.labels
        batch = max(1, BATCH_CELLS // max(1, len(self.logs)))
        log_likelihood = [
            -np.logaddexp(0.0, sign * _logit(self.logs, theta[start : start + batch])).sum(axis=1)
            for start in range(0, len(theta), batch)
        ]
        log_prior = -0.5 * ((theta / self.prior_sd) ** 2).sum(axis=1)
        return np.concatenate(log_likelihood) + log_prior

    def compute_slope(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient of the log posterior, and its Fisher information plus prior precision."""
        p = expit(_logit(self.logs, theta[None])[0])
        a, b = np.exp(theta[:2])
        columns = [a * self.logs[:, 0], -b * self.logs[:, 1], np.ones(len(p))]
        jacobian = np.stack(columns, axis=1)
        gradient = jacobian.T @ (self.labels - p) - theta / self.prior_sd**2
        information = jacobian.T @ (jacobian * (p * (1.0 - p))[:, None])
        return gradient, information + np.diag(self.prior_sd**-2)


def _logit(logs: FloatArray, theta: FloatArray) -> FloatArray:
    """Calibrated logits (D, n) of ``logs`` (n, 2) under ``theta`` (D, 3)."""
    a, b = np.exp(theta[:, 0]), np.exp(theta[:, 1])
    return theta[:, 2, None] + a[:, None] * logs[:, 0] - b[:, None] * logs[:, 1]


def _average_probability(logs: FloatArray, theta: FloatArray) -> FloatArray:
    """P(y = 1 | s) (n,) averaged over the parameter draws, in batches of bounded memory."""
    batch = max(1, BATCH_CELLS // max(1, len(theta)))
    means = [
        expit(_logit(logs[start : start + batch], theta)).mean(axis=0)
        for start in range(0, len(logs), batch)
    ]
    return np.concatenate(means)
