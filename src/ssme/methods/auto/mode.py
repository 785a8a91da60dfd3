"""The best coefficients of the model given the labels, and how well they fit.

    mode       = argmax_theta  log L(theta) + log prior(theta)            `find_mode`
    H          = J^T (diag W - W W^T) J + prior precision                 `compute_curvature`
    log Z      = log L(mode) + log prior(mode) + (P/2) log 2 pi - 1/2 log det H     `log_evidence`

L is the likelihood of the labels under the model of `model`, and the prior of every family is a
multivariate Student t. The mode is found by Newton steps, each cut in half until the posterior
grows; the expected curvature H (Fisher information) stands for the Hessian, and a Student t for the
normal distribution that has the same slope at this point. Z, the marginal likelihood of the labels
by Laplace's approximation, is what weighs regimes against each other (`mixture`), and H is the
precision of the draws from which the chains start (`sampler`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ssme.methods.auto.model import Family, LabelEvidence
from ssme.methods.auto.pool import log_softmax
from ssme.metrics.base import FloatArray

__all__ = ["compute_curvature", "find_mode", "log_evidence"]


def find_mode(evidence: LabelEvidence) -> FloatArray:
    """The mode (1 + P,) of the coefficients; coefficients that the mode does not fit are zero.

    Each Newton step is halved until the posterior grows. Without labels the mode is the prior's
    center.
    """
    kept = np.flatnonzero(evidence.in_mode)
    fitted = tuple(family for family in evidence.families if family.in_mode)
    theta = evidence.mean
    if len(evidence.labels) == 0:
        return theta
    value = _log_posterior(evidence, theta)
    tolerance = evidence.constants.newton_tolerance
    for _ in range(evidence.constants.newton_steps):
        slope, bend = _compute_information(evidence, theta, fitted)
        precision = evidence.evaluate_student_prior(theta)[1][kept]
        slope -= precision * (theta - evidence.mean)[kept]
        step = np.zeros_like(theta)
        step[kept] = np.linalg.solve(bend + np.diag(precision), slope)
        reached = _log_posterior(evidence, theta + step)
        while reached < value and np.abs(step).max() > tolerance:
            step /= 2.0
            reached = _log_posterior(evidence, theta + step)
        if reached <= value + tolerance:
            break
        theta, value = theta + step, reached
    return theta


def compute_curvature(evidence: LabelEvidence, theta: FloatArray, power: float = 1.0) -> FloatArray:
    """H (1 + P, 1 + P) at ``theta``, with all coefficients and the likelihood to a ``power``.

    The prior is the normal one that the Student t is for rho = 1.
    """
    bend = _compute_information(evidence, theta, evidence.families)[1]
    return power * bend + np.diag(1.0 / evidence.sd**2)


def log_evidence(evidence: LabelEvidence, mode: FloatArray) -> float:
    """log Z, the log marginal likelihood of the labels; zero without labels.

    P and H are of the coefficients that the mode fits, and the prior of every family has its
    normalizing constant.
    """
    if len(evidence.labels) == 0:
        return 0.0
    kept = np.flatnonzero(evidence.in_mode)
    nu, value = evidence.constants.nu, _log_posterior(evidence, mode)
    for block in evidence.blocks:
        if evidence.in_mode[block.start]:
            size, sd = block.stop - block.start, float(evidence.sd[block.start])
            value += float(gammaln((nu + size) / 2.0) - gammaln(nu / 2.0))
            value -= size * (0.5 * float(np.log(nu * np.pi)) + float(np.log(sd)))
    fitted = tuple(family for family in evidence.families if family.in_mode)
    bend = _compute_information(evidence, mode, fitted)[1]
    bend = bend + np.diag(evidence.evaluate_student_prior(mode)[1][kept])
    log_det = float(np.linalg.slogdet(bend)[1])
    return value + 0.5 * kept.size * float(np.log(2.0 * np.pi)) - 0.5 * log_det


def _log_posterior(evidence: LabelEvidence, theta: FloatArray) -> float:
    """Log-likelihood plus log prior of ``theta`` (1 + P,), up to a constant."""
    likelihood = evidence.log_likelihood(theta[:1], evidence.compute_linear_part(theta[None]))
    return float(likelihood[0]) + evidence.evaluate_student_prior(theta)[0]


def _compute_information(
    evidence: LabelEvidence, theta: FloatArray, families: tuple[Family, ...]
) -> tuple[FloatArray, FloatArray]:
    """Slope and expected curvature of the log-likelihood over log b and ``families``, in order.

    With J the derivatives of z and J' those minus their mean under W, the slope is the sum of J'
    at the labels and the curvature sum_ik W_ik J'_ik J'_ik^T. A family f with one coefficient per
    class, whose derivative is m_ik for its own class and zero for others, has

        slope_k = sum_i m_ik ([y_i = k] - W_ik),
        curvature with g = diag( sum_i W m_f m_g ) - (W m_f)^T (W m_g),

    and with a dense column sum_i W_ik m_ik J'_ik.
    """
    features, labels, n_classes = evidence.features, evidence.labels, evidence.spread.size
    b, rows = np.exp(theta[0]), np.arange(len(labels))
    z = evidence.compute_linear_part(theta[None]).reshape(features.ratio.shape) + evidence.log_share
    w = np.exp(log_softmax(z + b * features.ratio))
    by_class = {
        "a": np.ones_like(w),
        "s": features.ratio,
        "d": np.broadcast_to(evidence.spread, w.shape),
    }
    places, size = _find_places(families)
    dense_families = [family for family in families if family.name not in by_class]
    inside = np.concatenate([[0], *(places[family.name] for family in dense_families)])
    columns = [c for f in dense_families for c in range(f.columns.start, f.columns.stop)]
    dense = features.dense[:, :, np.array(columns, dtype=np.int64) - n_classes]
    jacobian = np.concatenate([(b * features.ratio)[:, :, None], dense], axis=2)
    jacobian -= np.einsum("nk,nkp->np", w, jacobian)[:, None, :]
    count = np.ones(len(labels)) if evidence.weights is None else evidence.weights
    slope, bend = np.empty(size), np.empty((size, size))
    slope[inside] = count @ jacobian[rows, labels]
    weighted = (jacobian * np.sqrt(w * count[:, None])[:, :, None]).reshape(-1, inside.size)
    bend[np.ix_(inside, inside)] = weighted.T @ weighted
    own = [family.name for family in families if family.name in by_class]
    for i, f in enumerate(own):
        at, expected = places[f], w * by_class[f] * count[:, None]
        observed = np.bincount(labels, count * by_class[f][rows, labels], n_classes)
        slope[at] = observed - expected.sum(axis=0)
        cross = np.einsum("nk,nkp->pk", expected, jacobian)
        bend[np.ix_(inside, at)], bend[np.ix_(at, inside)] = cross, cross.T
        for g in own[i:]:
            block = np.diag((expected * by_class[g]).sum(axis=0)) - expected.T @ (w * by_class[g])
            bend[np.ix_(at, places[g])], bend[np.ix_(places[g], at)] = block, block.T
    return slope, bend


def _find_places(families: tuple[Family, ...]) -> tuple[dict[str, NDArray[np.int64]], int]:
    """Places of each family's coefficients where log b is first and only they follow; the size."""
    places, start = {}, 1
    for family in families:
        stop = start + family.columns.stop - family.columns.start
        places[family.name], start = np.arange(start, stop), stop
    return places, start
